package bench

import (
	"context"
	"errors"
	"fmt"
	"os"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/db/edgelist/parquet"
)

// limited returns options with a memory limit in bytes, and limits the process to it.
func limited(memory int64) *db.Options { return &db.Options{Memory: cli.LimitMemory(memory)} }

// with opens a database, calls f and closes the database.
func with(path string, o *db.Options, f func(*db.DB) error) error {
	g, err := db.Open(path, o)
	if err != nil {
		return err
	}
	return errors.Join(f(g), g.Close())
}

// withReadOnly is with for a database that exists and is only read.
func withReadOnly(path string, o *db.Options, f func(*db.DB) error) error {
	if cli.MissingOrEmpty(path) {
		return fmt.Errorf("%s: there is no database", path)
	}
	reads := *o
	reads.ReadOnly = true
	return with(path, &reads, f)
}

// withLoaded makes a database from a list, calls f with its path and deletes it.
func withLoaded(ctx context.Context, file string, f func(path string) error) error {
	return cli.InTemporary("", func(dir string) error {
		if _, err := load(ctx, dir, file, nil); err != nil {
			return err
		}
		return f(dir)
	})
}

// load adds an edge list to a database, and returns the number of its lines.
func load(ctx context.Context, path, file string, o *db.Options) (lines int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close() // read only
	err = with(path, o, func(g *db.DB) error {
		report, err := g.Load(ctx, f, db.LoadOptions{Name: file, Tables: parquet.Format{}})
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		lines = report.Lines
		return nil
	})
	return lines, err
}

// restore makes a database from a backup.
func restore(ctx context.Context, file, path string, o *db.Options) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close() // read only
	return db.Restore(ctx, path, o, f)
}
