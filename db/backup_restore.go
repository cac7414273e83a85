package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"kith/db/archive"
	"kith/db/store"
	"kith/index"
)

// Restore makes a database in the directory path, which must be empty or not exist, from a full backup and any
// incremental backups that follow it, oldest first. It opens the database once with the given options, to verify that
// everything is consistent. The database is made in path.partial, and moved to path when it is complete and durable.
// Whatever fails, and whenever the process dies, there is a complete database at path or none.
//
// It returns ErrExists if path is not empty, ErrInput for a path that ends in a dot, ErrMismatch for a file that is not
// a backup, has a different version, or does not follow the previous one, and ErrCorrupt for one that was altered or
// truncated.
func Restore(ctx context.Context, path string, o *Options, backups ...io.Reader) error {
	opts, err := o.resolve(path)
	if err != nil {
		return err
	}
	if opts.ReadOnly || len(backups) == 0 {
		return inputf("Restore needs a backup and a writable database")
	}
	backups = slices.Clone(backups)
	for i, r := range backups {
		backups[i] = cancellableReader{ctx, r}
	}
	chain, err := archive.OpenChain(backups)
	if err != nil {
		return err
	}
	if err := mustBeVacant(path); err != nil {
		return err
	}
	partial := filepath.Clean(path) + ".partial"
	if err := store.Remove(partial); err != nil {
		return err
	}
	err = restore(ctx, partial, opts, chain)
	if err == nil {
		err = store.Move(partial, path)
	}
	switch {
	case err == nil, errors.Is(err, ErrLocked), errors.Is(err, syscall.EROFS): // the partial directory, if there is one, belongs to another process
		return err
	}
	return errors.Join(err, os.RemoveAll(partial))
}

// restore makes a database from a chain of backups and opens it. The opened version must be that of the last backup.
func restore(ctx context.Context, path string, o Options, chain archive.Chain) error {
	unsynced := o.forStore(nil)
	unsynced.NoSync = true // nothing refers to it before all of it is synced
	st, err := store.Open(path, unsynced)
	if err != nil {
		return err
	}
	seq := chain.Seq()
	err = st.Batch(seq, func(w index.Writer) error {
		for e, err := range chain.All() {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = w.Set(e.Key, e.Value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, st.Close()); err != nil {
		return err
	}
	g, err := open(ctx, path, o)
	if err != nil {
		return err
	}
	if ts := g.now.Load().ts; ts != seq {
		err = fmt.Errorf("%w: the backup is of version %d, its records are of version %d", ErrCorrupt, seq, ts)
	}
	return errors.Join(err, g.Close())
}

// mustBeVacant returns ErrExists unless path is an empty directory or does not exist, and ErrInput for a path without a
// base name, which a rename could not replace.
func mustBeVacant(path string) error {
	if base := filepath.Base(path); base == "." || base == ".." || base == string(filepath.Separator) {
		return inputf("%s: name the directory itself, because Restore replaces it", path)
	}
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("db: %w", err)
	case err != nil:
		return fmt.Errorf("%w: %s: %w", ErrExists, path, err)
	case len(entries) > 0:
		return fmt.Errorf("%w: %s holds %s: a backup is restored to an empty directory or a new one", ErrExists, path, entries[0].Name())
	}
	return nil
}
