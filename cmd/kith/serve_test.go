package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kith/cmd/internal/serve"
)

// TestServe checks that a shell can attach to kith serve and, with a token, write, that a page of
// an allowed origin may ask, and that SIGTERM ends kith serve without an error.
func TestServe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.kith")
	if out, err := exec.Command("kith", "shell", "--create", path, "-c", "INSERT EDGES 1 -> 2;").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(strings.Repeat("x", serve.MinToken)), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command("kith", "serve", path, "--listen", "127.0.0.1:0", "--write", "--token-file", token, "--allow-origin", "https://app.example")
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill() }) // the process may have ended
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	args := append(strings.Fields(line), "--token-file", token, "-c", "INSERT EDGES 2 -> 3; SHOW STATS;")
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `{"name":"edges","value":2}`) {
		t.Errorf("%q: %s, error %v", args, out, err)
	}
	preflight, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, args[3]+"/choose", nil)
	if err != nil {
		t.Fatal(err)
	}
	preflight.Header.Set("Origin", "https://app.example")
	preflight.Header.Set("Access-Control-Request-Method", http.MethodPost)
	answer, err := http.DefaultClient.Do(preflight)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		t.Errorf("a preflight request: %s", answer.Status)
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}
