package main

import (
	"os"
	"os/exec"
	"runtime"
)

// browse shows a page in the user's browser, if there is one. It does not wait for it.
func browse(url string) {
	opener := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		opener = []string{"open", url}
	case "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return // xdg-open would start a text browser in the terminal of the demo
		}
	}
	cmd := exec.Command(opener[0], opener[1:]...)
	if err := cmd.Start(); err == nil {
		go func() { _ = cmd.Wait() }() // the user has the URL if the opener fails
	}
}
