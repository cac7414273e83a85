package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/internal/serve"
	"kith/db"
	"kith/query/web"
)

// with opens a database, calls f and closes the database.
func with(path string, o *db.Options, f func(*db.DB) error) error {
	g, err := db.Open(path, o)
	if err != nil {
		return err
	}
	return errors.Join(f(g), g.Close())
}

// withReadOnly is like with for a database that exists and is only read. Other processes may read
// it at the same time. A database that was not closed is opened for writing.
func withReadOnly(path string, o *db.Options, f func(*db.DB) error) error {
	if err := mustExist(path); err != nil {
		return err
	}
	reads := *o
	reads.ReadOnly = true
	g, err := db.Open(path, &reads)
	if errors.Is(err, db.ErrReadOnly) { // it was not closed
		if writes, failed := db.Open(path, o); !errors.Is(failed, db.ErrReadOnly) {
			g, err = writes, failed
		}
	}
	if err != nil {
		return err
	}
	return errors.Join(f(g), g.Close())
}

// withExisting is with for a database that exists if write is set, and withReadOnly if it is not.
func withExisting(path string, o *db.Options, write bool, f func(*db.DB) error) error {
	if !write {
		return withReadOnly(path, o, f)
	}
	if err := mustExist(path); err != nil {
		return err
	}
	return with(path, o, f)
}

// readOnlyIfMust calls open with the options. If that fails because the database can only be read,
// readOnlyIfMust prints why, sets o.ReadOnly and calls open again.
func readOnlyIfMust(o *db.Options, stderr io.Writer, open func(*db.Options) error) error {
	err := open(o)
	if o.ReadOnly || !errors.Is(err, db.ErrReadOnly) {
		return err
	}
	cli.PrintError(stderr, "note", err)
	o.ReadOnly = true
	return open(o)
}

// mustExist returns an error if opening path would make a database.
func mustExist(path string) error {
	if cli.MissingOrEmpty(path) {
		return fmt.Errorf("%s: there is no database; 'kith load' and 'kith shell --create' make one", path)
	}
	return nil
}

// filesFrom returns an error for a command line with a database in place of a file, which happens
// when the arguments are in the wrong order. The files begin at index first, and the last file is
// followed by following arguments. It is a cobra.PositionalArgs.
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

// isDatabase reports whether path looks like a database.
func isDatabase(path string) bool {
	_, err := os.Stat(filepath.Join(path, "MANIFEST"))
	return err == nil
}

// dial returns a client with the token of a file, or without one if the file is "".
func dial(url, tokenFile string) (*web.Client, error) {
	client, err := web.Dial(url)
	if err == nil && tokenFile != "" {
		client.Token, err = serve.ReadToken(tokenFile)
	}
	return client, err
}
