package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// variables returns the variables that a transaction sees.
func variables(t testing.TB, tx *db.Tx) map[string]string {
	t.Helper()
	all, names := map[string]string{}, []string(nil)
	for v, err := range tx.Variables() {
		must(t, err)
		names = append(names, v.Name)
		all[v.Name] = string(v.Value)
		got, err := tx.Get(v.Name)
		if must(t, err); string(got) != all[v.Name] {
			t.Errorf("variable %q is %q, and listed as %q", v.Name, got, v.Value)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("names %q", names)
	}
	return all
}

// wantVariables fails t unless a database has the variables, also after a check.
func wantVariables(t testing.TB, what string, g *db.DB, want map[string]string) {
	t.Helper()
	must(t, g.Check(context.Background()))
	view(t, g, func(tx *db.Tx) error {
		if got := variables(t, tx); !maps.Equal(got, want) {
			t.Errorf("%s: variables %q, want %q", what, got, want)
		}
		return nil
	})
}

// A transaction sees what it has set, a view the version that it began with, and what fails is
// undone.
func TestVariables(t *testing.T) {
	t.Parallel()
	ctx, undone := context.Background(), errors.New("undone")
	g := dbtest.Open(t, inMemory)
	update(t, g, func(tx *db.Tx) error { return errors.Join(tx.Set("a", []byte("1")), tx.Set("b", []byte("2"))) })
	want := map[string]string{"a": "1", "b": "2"}
	err := g.Update(ctx, func(tx *db.Tx) error {
		value := []byte("3")
		must(t, tx.Set("a", value), tx.Set("b", nil), tx.Set("c", []byte{}))
		value[0] = 'x' // the caller may use it again
		if got := variables(t, tx); !maps.Equal(got, map[string]string{"a": "3"}) {
			t.Errorf("the update sees %q", got)
		}
		wantVariables(t, "beside the update", g, want)
		return undone
	})
	wantError(t, "an update that fails", err, undone)
	wantVariables(t, "after it", g, want)
	update(t, g, func(tx *db.Tx) error {
		wantError(t, "a savepoint", tx.Savepoint(func() error {
			return errors.Join(tx.Set("a", nil), tx.Set("d", []byte("4")), undone)
		}), undone)
		return tx.Savepoint(func() error { return tx.Set("c", []byte("5")) })
	})
	want["c"] = "5"
	wantVariables(t, "after savepoints", g, want)
	before, err := g.Stats()
	must(t, err)
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(tx.Set("a", []byte("9")), tx.Set("a", []byte("1")), tx.Set("none", nil))
	})
	if s, err := g.Stats(); err != nil || s.Version != before.Version {
		t.Errorf("setting the same values made version %d after %d, %v", s.Version, before.Version, err)
	}
	var ended *db.Tx
	view(t, g, func(tx *db.Tx) error {
		ended = tx
		wantError(t, "Set in a view", tx.Set("a", nil), db.ErrReadOnly)
		if got, err := tx.Get("none"); got != nil || err != nil {
			t.Errorf("a variable that is not set is %q, %v", got, err)
		}
		return nil
	})
	_, err = ended.Get("a")
	wantError(t, "Get after the end", err, db.ErrClosed)
	for _, err := range ended.Variables() {
		wantError(t, "Variables after the end", err, db.ErrClosed)
	}
}

// What does not fit is refused with an error that names the variable, and changes nothing.
func TestVariableLimits(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 1 << 30})
	refused := func(name string, value []byte, want error) {
		t.Helper()
		must(t, g.Update(context.Background(), func(tx *db.Tx) error {
			before := variables(t, tx)
			err := tx.Set(name, value)
			if of := (*db.Error)(nil); !errors.As(err, &of) || !errors.Is(err, want) || of.Kind != "variable" || of.Name != name {
				t.Errorf("variable %.20q of %d bytes: %v, want %v", name, len(value), err, want)
			}
			if !maps.Equal(variables(t, tx), before) {
				t.Errorf("variable %.20q was refused and changed the variables", name)
			}
			return nil
		}))
	}
	for _, name := range []string{"", "a\x00b", "\xff", strings.Repeat("a", 1025)} {
		refused(name, []byte("1"), db.ErrInput)
	}
	refused("large", make([]byte, db.MaxVariable+1), db.ErrTooLarge)
	full := bytes.Repeat([]byte("v"), db.MaxVariable)
	update(t, g, func(tx *db.Tx) error {
		var err error
		for i := range db.MaxVariableBytes/db.MaxVariable - 1 {
			err = errors.Join(err, tx.Set(fmt.Sprint("v", i), full))
		}
		return errors.Join(err, tx.Set(strings.Repeat("n", 1024), []byte("1")))
	})
	refused("one more", full, db.ErrTooLarge)
	update(t, g, func(tx *db.Tx) error {
		var err error
		for v := range tx.Variables() {
			err = errors.Join(err, tx.Set(v.Name, nil))
		}
		for i := range db.MaxVariables {
			err = errors.Join(err, tx.Set(fmt.Sprint(i), []byte("1")))
		}
		return err
	})
	refused("one more", []byte("1"), db.ErrTooLarge)
	must(t, g.Check(context.Background()))
}

// Variables survive a reopen, a compaction, a load and a repair, and are in full and incremental
// backups, in changes and in followers.
func TestVariablesAreKept(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	o := &db.Options{Memory: 64 << 20, ChangeBytes: 1 << 20}
	g := open(t, path, o)
	var full, incremental bytes.Buffer
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(tx.Set("kept", []byte("1")), tx.Set("changed", []byte("2")), tx.Set("removed", []byte("3")))
	})
	_, err := g.WriteTo(ctx, &full)
	must(t, err)
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(tx.Set("changed", []byte("4")), tx.Set("removed", nil), tx.Set("added", []byte("5")))
	})
	want := map[string]string{"kept": "1", "changed": "4", "added": "5"}
	_, err = g.WriteSince(ctx, &incremental, bytes.NewReader(full.Bytes()))
	must(t, err)
	restored := open(t, restoredFrom(t, full.Bytes(), incremental.Bytes()), o)
	wantVariables(t, "restored", restored, want)
	must(t, restored.Close())

	follower := open(t, restoredFrom(t, full.Bytes()), &db.Options{Memory: 64 << 20, Follower: true})
	made := changes(t, g, 1)
	must(t, follower.Apply(ctx, made...))
	wantVariables(t, "a follower", follower, want)
	must(t, follower.Close())
	if got := asJSON(t, made[0].Variables); got != `[{"variable":"added","value":"NQ=="},{"variable":"changed","value":"NA=="},{"variable":"removed"}]` {
		t.Errorf("the change has %s", got)
	}

	must(t, g.Compact(ctx))
	_, err = g.Load(ctx, strings.NewReader(wheel(20)), db.LoadOptions{})
	must(t, err)
	wantVariables(t, "loaded", g, want)
	must(t, g.Close())
	g = open(t, path, o)
	wantVariables(t, "reopened", g, want)
	must(t, g.Close())
}

// restoredFrom restores backups and returns the path of the database.
func restoredFrom(t *testing.T, backups ...[]byte) string {
	t.Helper()
	path := place(t)
	var files []io.Reader
	for _, b := range backups {
		files = append(files, bytes.NewReader(b))
	}
	must(t, db.Restore(context.Background(), path, &db.Options{Memory: 64 << 20}, files...))
	return path
}
