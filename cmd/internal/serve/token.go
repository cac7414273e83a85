package serve

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

const (
	MinToken = 32      // characters of a token
	maxToken = 4 << 10 // bytes of its file
)

// MakeToken is a command that makes the file of a token.
const MakeToken = "(umask 077; openssl rand -hex 32 >token)"

// ReadToken reads a token from a file, which only its owner may read. Windows has no such mode:
// there the rights of the file are not checked.
func ReadToken(name string) (string, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() { // to open a pipe would wait for its writer
		return "", fmt.Errorf("%s: the token must be in a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("%w; %s makes one", err, MakeToken)
	}
	defer f.Close() // only read
	info, err = f.Stat()
	if err != nil {
		return "", err
	}
	mode := info.Mode()
	if !mode.IsRegular() {
		return "", fmt.Errorf("%s: the token must be in a regular file", name)
	}
	if mode.Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return "", fmt.Errorf("%s: other users may access the token: its mode is %04o and must be 0600; chmod 600 %[1]s", name, mode.Perm())
	}
	b, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	foreign := func(c rune) bool { return c <= ' ' || c > '~' }
	if len(b) > maxToken || len(token) < MinToken || strings.ContainsFunc(token, foreign) {
		return "", fmt.Errorf("%s: a token is a line of %d or more letters, digits and signs; %s makes one", name, MinToken, MakeToken)
	}
	return token, nil
}
