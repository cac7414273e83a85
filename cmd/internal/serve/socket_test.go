package serve

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query/web"
)

// short returns a new directory whose path leaves room for a socket.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "k")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // nothing depends on it
	return dir
}

// A socket is for its user only, it takes the place of one that a killed server has left, but not
// of one at which a server answers, and it goes with its listener.
func TestSocket(t *testing.T) {
	t.Parallel()
	dir := short(t)
	left, err := net.Listen("unix", Socket(dir))
	if err != nil {
		t.Skip(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(Socket(dir)+"-DRAFT", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Attach(dir); err == nil {
		t.Error("a server answers at the socket that is left over")
	}
	l, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(Socket(dir))
	if err != nil || runtime.GOOS != "windows" && info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("%v, error %v", info, err)
	}
	if _, err := Attach(dir); err != nil {
		t.Error(err)
	}
	if _, err := Listen(dir); err == nil || !strings.Contains(err.Error(), "another server answers") {
		t.Errorf("a second socket: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("%v are left, error %v", names, err)
	}
}

// A socket does not remove the file of the socket that has replaced it.
func TestSocketReplaced(t *testing.T) {
	t.Parallel()
	dir := short(t)
	first, err := Listen(dir)
	if err != nil {
		t.Skip(err)
	}
	if err := os.Remove(Socket(dir)); err != nil {
		t.Fatal(err)
	}
	second, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Attach(dir); err != nil {
		t.Error(err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}

// A path that is too long for a socket is refused by its length.
func TestSocketPath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", maxSocket))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(dir); err == nil || !strings.Contains(err.Error(), "too long for a socket") {
		t.Error(err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("%v are left, error %v", names, err)
	}
}

// Requests at a socket need no token, requests at an address do.
func TestSocketToken(t *testing.T) {
	t.Parallel()
	dir := short(t)
	l, err := Listen(dir)
	if err != nil {
		t.Skip(err)
	}
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	ctx, end := context.WithCancel(t.Context())
	token := strings.Repeat("x", MinToken)
	ready, ended := make(chan string, 1), make(chan error, 1)
	h := web.Options{Token: token, TokenForReads: true}.Handler(g)
	go func() {
		ended <- Serve(ctx, Trusting(h, token), "127.0.0.1:0", func(url string) error { ready <- url; return nil }, l)
	}()
	far, err := web.Dial(<-ready)
	if err != nil {
		t.Fatal(err)
	}
	near, err := Attach(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := near.Run(ctx, "INSERT EDGES 1 -> 2"); err != nil {
		t.Error(err)
	}
	if _, err := far.Run(ctx, "SHOW STATS"); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("without a token: %v", err)
	}
	near.Close()
	far.Close()
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(Socket(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

// A server that cannot listen closes its socket, and a handler without a token is not changed.
func TestSocketWithoutAddress(t *testing.T) {
	t.Parallel()
	dir := short(t)
	l, err := Listen(dir)
	if err != nil {
		t.Skip(err)
	}
	h := Trusting(http.NotFoundHandler(), "")
	if err := Serve(t.Context(), h, "127.0.0.1:no", func(string) error { return nil }, l); err == nil {
		t.Error("the server listens at no port")
	}
	if _, err := Attach(dir); err == nil {
		t.Error("the socket is open")
	}
}
