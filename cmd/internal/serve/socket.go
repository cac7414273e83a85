package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"kith/query/web"
)

// Socket returns the name of the socket of a server, in the directory of its database.
func Socket(dir string) string { return filepath.Join(dir, "SOCKET") }

// maxSocket is the longest name of a socket that every system accepts, in bytes.
const maxSocket = 103

// Attach returns a client of the server that answers at the socket in the directory of a database.
// It returns an error if there is none, also if a server that was killed has left its socket.
func Attach(dir string) (*web.Client, error) {
	c, err := net.Dial("unix", Socket(dir))
	if err != nil {
		return nil, err
	}
	if err := c.Close(); err != nil {
		return nil, err
	}
	return web.Dial("unix:" + Socket(dir))
}

// Listen makes the socket of a server in the directory of a database, which must be open. It
// replaces a socket that a server has left there, and fails if another server answers at it. Only
// the user of this process can connect: Unix checks the mode of the socket, Windows the rights of
// the directory. Close removes the socket.
func Listen(dir string) (net.Listener, error) {
	name := Socket(dir)
	draft := name + "-DRAFT"
	inside := filepath.Join(draft, "S")
	if len(inside) > maxSocket {
		return nil, fmt.Errorf("the path %s is too long for a socket, by %d bytes", dir, len(inside)-maxSocket)
	}
	if _, err := Attach(dir); err == nil {
		return nil, fmt.Errorf("another server answers at %s", name)
	}
	// The socket is made in a directory that nobody else can enter, so that nobody else can connect
	// before its mode is set. A killed server may have left that directory.
	if err := os.RemoveAll(draft); err != nil {
		return nil, err
	}
	if err := os.Mkdir(draft, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(draft) // if it stays, the next Listen removes it
	l, err := net.Listen("unix", inside)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // it would remove the first name
	err = os.Chmod(inside, 0o600)
	if err == nil {
		err = os.Rename(inside, name)
	}
	s := &socket{Listener: l, name: name}
	if err == nil {
		s.file, err = os.Lstat(name)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return s, nil
}

// socket is a listener with a file.
type socket struct {
	net.Listener
	name string
	file fs.FileInfo
}

// Close removes the file, unless it is by now the file of another socket, and ends the listener.
func (s *socket) Close() error {
	if now, err := os.Lstat(s.name); err == nil && os.SameFile(now, s.file) {
		return errors.Join(os.Remove(s.name), s.Listener.Close())
	}
	return s.Listener.Close()
}

// Trusting returns a handler that adds a token, unless it is "", to requests that come through a
// socket.
func Trusting(h http.Handler, token string) http.Handler {
	if token == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr); ok && at != nil {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		h.ServeHTTP(w, r)
	})
}
