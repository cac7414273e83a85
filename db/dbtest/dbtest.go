// Package dbtest opens databases for tests.
package dbtest

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"kith/db"
)

// Open opens a new database in a temporary directory or, with o.InMemory, in memory. When the test
// ends, the database is checked and closed.
func Open(t testing.TB, o *db.Options) *db.DB {
	t.Helper()
	path := ""
	if o == nil || !o.InMemory {
		path = filepath.Join(t.TempDir(), "test.kith")
	}
	return Reopen(t, path, o)
}

// Reopen opens the database at path with [Small] options. When the test ends, the database is
// checked and closed.
func Reopen(t testing.TB, path string, o *db.Options) *db.DB {
	t.Helper()
	g, err := db.Open(path, Small(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { finish(t, g) })
	return g
}

// Small returns a copy of o with a Memory of 64 MB if it is 0, because a store of small parts opens
// faster.
func Small(o *db.Options) *db.Options {
	var small db.Options
	if o != nil {
		small = *o
	}
	small.Memory = cmp.Or(small.Memory, 64<<20)
	return &small
}

func finish(t testing.TB, g *db.DB) {
	if err := g.Check(context.Background()); err != nil && !errors.Is(err, db.ErrClosed) {
		t.Errorf("check: %v", err)
	}
	if err := g.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
