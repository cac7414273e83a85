package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
)

// with opens a database, hands it to f and closes it.
func with(path string, o *db.Options, f func(*db.DB) error) error {
	g, err := db.Open(path, o)
	if err != nil {
		return err
	}
	return use(g, f)
}

// toRead is with for a database that is only read: beside others that read it or, where it was not
// closed, as everything else does.
func toRead(path string, o *db.Options, f func(*db.DB) error) error {
	reads := *o
	reads.ReadOnly = true
	g, err := db.Open(path, &reads)
	if errors.Is(err, db.ErrReadOnly) && db.Writable(path) == nil {
		g, err = db.Open(path, o)
	}
	if err != nil {
		return err
	}
	return use(g, f)
}

// readOnly reports whether a database can only be read, and tells why.
func readOnly(path string, stderr io.Writer) bool {
	err := db.Writable(path)
	if err != nil {
		cli.Complain(stderr, "note", err)
	}
	return err != nil
}

// use hands a database to f and closes it.
func use(g *db.DB, f func(*db.DB) error) (err error) {
	defer func() {
		if closed := g.Close(); err == nil {
			err = closed
		}
	}()
	return f(g)
}

// withLoaded makes a database of a list, hands its path to f and deletes it.
func withLoaded(ctx context.Context, file string, f func(path string) error) (err error) {
	dir, err := os.MkdirTemp("", "kith-bench-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "g")
	l := load{stdout: io.Discard, stderr: io.Discard}
	if err := l.run(ctx, path, []string{file}); err != nil {
		return err
	}
	return f(path)
}

// vacant reports whether there is nothing at path: opening it would make a database.
func vacant(path string) bool {
	entries, err := os.ReadDir(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0
}

// mustExist returns an error where opening path would make a database.
func mustExist(path string) error {
	if vacant(path) {
		return fmt.Errorf("%s: there is no database; 'kith load' and 'kith shell --create' make one", path)
	}
	return nil
}

// filesFrom refuses a command line in which a database stands where a file belongs, as it does in the wrong order:
// the files begin at argument first, and the last of them is followed by so many arguments. It is a
// cobra.PositionalArgs.
func filesFrom(first, following int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for _, f := range args[first : len(args)-following] {
			if !isDatabase(f) {
				continue
			}
			if len(args) == 2 && !(isDatabase(args[0]) && isDatabase(args[1])) {
				return fmt.Errorf("%s is a database where a FILE belongs; did you mean %s %s %s?", f, cmd.CommandPath(), args[1], args[0])
			}
			return fmt.Errorf("%s is a database where a FILE belongs", f)
		}
		return nil
	}
}

// isDatabase reports whether a path looks like that of a database.
func isDatabase(path string) bool {
	_, err := os.Stat(filepath.Join(path, "MANIFEST"))
	return err == nil
}
