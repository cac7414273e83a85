package db_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// A database of which the directory or a file cannot be written to can only be opened with
// ReadOnly.
func TestWritable(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root may write to everything")
	}
	path := filepath.Join(t.TempDir(), "g")
	g, err := db.Open(path, dbtest.Small(nil))
	must(t, err, g.Close())
	for _, name := range []string{path, filepath.Join(path, "MANIFEST")} {
		info, err := os.Stat(name)
		must(t, err, os.Chmod(name, info.Mode()&^0o222))
		if _, err := db.Open(path, dbtest.Small(nil)); !errors.Is(err, db.ErrReadOnly) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s is not writable: %v", name, err)
		}
		g, err := db.Open(path, &db.Options{ReadOnly: true})
		must(t, err)
		must(t, g.Check(context.Background()), g.Close(), os.Chmod(name, info.Mode()))
	}
}
