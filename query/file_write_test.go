package query_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"kith/query"
)

// A file is unchanged until the new one is complete, and no other file is left behind.
func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	broken := errors.New("broken")
	write := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, failed := io.WriteString(w, text)
			return errors.Join(failed, err)
		}
	}
	for _, c := range []struct {
		text string
		err  error
		want string
	}{{"one", nil, "one"}, {"another", broken, "one"}, {"two", nil, "two"}} {
		if err := query.WriteFile(context.Background(), name, 0o600, write(c.text, c.err)); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.text, err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", c.text, got, err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v", c.text, info, err)
		}
		if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
			t.Errorf("%s: %v, %v", c.text, all, err)
		}
	}
	if err := query.WriteFile(context.Background(), os.DevNull, 0o600, write("gone", nil)); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("the null device is a file now: %v", err)
	}
	var at *os.PathError
	if err := query.WriteFile(context.Background(), filepath.Join(dir, "no", "a"), 0o600, write("", nil)); !errors.As(err, &at) || at.Path != filepath.Join(dir, "no", "a") {
		t.Error(err)
	}
}
