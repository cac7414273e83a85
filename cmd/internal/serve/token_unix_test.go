//go:build unix

package serve

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A named pipe is refused as the file of a token, without waiting for its writer.
func TestTokenPipe(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "token")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadToken(name); err == nil || !strings.Contains(err.Error(), "must be in a regular file") {
		t.Error(err)
	}
}
