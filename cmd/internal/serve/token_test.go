package serve

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestReadToken(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("0123456789abcdef", 2)
	for _, c := range []struct {
		content string
		mode    os.FileMode
		want    string // "": the token; otherwise a part of the error
	}{
		{good, 0o600, ""},
		{good + "\n", 0o600, ""},
		{good + "\r\n", 0o400, ""},
		{good, 0o640, "chmod 600"},
		{good, 0o604, "its mode is 0604 and must be 0600"},
		{good, 0o610, "chmod 600"},
		{"", 0o600, "32 or more"},
		{good[:31] + "\n", 0o600, "32 or more"},
		{good + "\n" + good, 0o600, "32 or more"},
		{good + " x", 0o600, "32 or more"},
		{good + "é", 0o600, "32 or more"},
		{strings.Repeat(good, 200), 0o600, "32 or more"},
	} {
		name := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(name, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, c.mode); err != nil {
			t.Fatal(err)
		}
		if c.mode.Perm()&0o077 != 0 && runtime.GOOS == "windows" {
			continue
		}
		token, err := ReadToken(name)
		switch {
		case c.want == "" && (err != nil || token != good):
			t.Errorf("%q, mode %o: %q, %v", c.content, c.mode, token, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q, mode %o: error %v, want %q", c.content, c.mode, err, c.want)
		case err != nil && strings.Contains(err.Error(), good[:31]):
			t.Errorf("the error has the token: %v", err)
		}
	}
	for _, name := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := ReadToken(name); err == nil {
			t.Errorf("%s is a token", name)
		}
	}
}
