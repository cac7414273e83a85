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

// A database is writable unless its directory or one of its files is not.
func TestWritable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "g")
	must(t, db.Writable(path))
	g, err := db.Open(path, dbtest.Small(nil))
	must(t, err)
	must(t, db.Writable(path), g.Close(), db.Writable(path))
	if os.Getuid() == 0 {
		t.Skip("root may write to everything")
	}
	for _, name := range []string{path, filepath.Join(path, "MANIFEST")} {
		info, err := os.Stat(name)
		must(t, err, os.Chmod(name, info.Mode()&^0o222))
		if err := db.Writable(path); !errors.Is(err, db.ErrReadOnly) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s is not writable: %v", name, err)
		}
		_, err = db.Open(path, dbtest.Small(nil))
		wantError(t, "opening what is not writable", err, db.ErrReadOnly)
		g, err := db.Open(path, &db.Options{ReadOnly: true})
		must(t, err)
		must(t, g.Check(context.Background()), g.Close(), os.Chmod(name, info.Mode()))
	}
}
