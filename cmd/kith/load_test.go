package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// interrupter is an input during which Ctrl-C is pressed when it has no more data.
type interrupter struct {
	press func()
	ended chan struct{}
}

func (r *interrupter) Read([]byte) (int, error) {
	r.press()
	<-r.ended
	return 0, errors.New("nobody reads any more")
}

// TestLoadIsInterrupted checks that a load ends with its context, even while it waits for input,
// and leaves nothing behind.
func TestLoadIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in := &interrupter{press: cancel, ended: make(chan struct{})}
	defer close(in.ended)
	var out, errs bytes.Buffer
	l := load{stdin: in, stdout: &out, stderr: &errs}
	path := filepath.Join(t.TempDir(), "g.kith")
	if err := l.run(ctx, path, []string{"-"}); !errors.Is(err, context.Canceled) {
		t.Errorf("the load ended with %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a database was left behind: %v", err)
	}
	if out.Len()+errs.Len() > 0 {
		t.Errorf("it said %q and %q", out.String(), errs.String())
	}
}
