//go:build unix

package query_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kith/query"
)

// soon returns a context that ends while the test waits for a pipe.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

func newPipe(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Opening a named pipe without a process at its other end stops with the context, and a file that
// is opened later is closed.
func TestOpenEnds(t *testing.T) {
	t.Parallel()
	for flag, other := range map[int]int{os.O_RDONLY: os.O_WRONLY, os.O_WRONLY: os.O_RDONLY} {
		name := newPipe(t)
		if f, err := query.OpenFile(soon(t), name, flag, 0); !errors.Is(err, context.DeadlineExceeded) || f != nil {
			t.Fatalf("flag %d: %v, %v", flag, f, err)
		}
		late, err := os.OpenFile(name, other, 0) // the waiting end is opened, and closed
		if err != nil {
			t.Fatal(err)
		}
		defer late.Close()
		if other == os.O_RDONLY {
			if n, err := late.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("the writer is not closed: %d, %v", n, err)
			}
			continue
		}
		_, err = late.Write([]byte("x"))
		for range 1000 { // until the reader is closed
			if errors.Is(err, unix.EPIPE) {
				break
			}
			time.Sleep(time.Millisecond)
			_, err = late.Write([]byte("x"))
		}
		if !errors.Is(err, unix.EPIPE) {
			t.Errorf("the reader is not closed: %v", err)
		}
	}
}

// Reads and writes of an opened pipe stop with the context too.
func TestReadEnds(t *testing.T) {
	t.Parallel()
	name := newPipe(t)
	other, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	f, err := query.OpenFile(soon(t), name, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(f); string(b) != "abc" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("read %q, %v", b, err)
	}
	w, err := query.OpenFile(soon(t), name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write(make([]byte, 1<<24)); n == 1<<24 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wrote %d bytes, %v", n, err)
	}
	if err := errors.Join(f.Close(), w.Close()); err != nil {
		t.Error(err)
	}
}

// A regular file is read in place, to its end, and an open file does not notice that its context
// has ended.
func TestOpenRegular(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f, err := query.OpenFile(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	b := make([]byte, 2)
	if n, err := f.ReadAt(b, 1); n != 2 || err != nil || string(b) != "bc" {
		t.Errorf("in place: %q, %v", b[:n], err)
	}
	if b, err := io.ReadAll(f); string(b) != "abc" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != 3 || f.Name() != name {
		t.Errorf("%v, %v, %s", info, err, f.Name())
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := query.OpenFile(ctx, name, os.O_RDONLY, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("opened after the end: %v", err)
	}
}

// silent is a reader that never returns until it is released.
type silent chan bool

func (s silent) Read([]byte) (int, error) {
	<-s
	return 0, io.EOF
}

func TestPipe(t *testing.T) {
	t.Parallel()
	s := make(silent)
	defer close(s)
	if _, err := io.ReadAll(query.Pipe(soon(t), s)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
