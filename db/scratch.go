package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// scratch makes temporary files in the directory of the database or, for a database that is in memory or read-only, in
// the system's directory for temporary files. If the system allows it, their names are removed at once, so nothing is
// left of them when the process dies.
type scratch struct {
	dir   string
	files []*os.File
}

func (db *DB) scratch() *scratch {
	if db.opts.ReadOnly {
		return &scratch{}
	}
	return &scratch{dir: db.store.Dir()}
}

func (db *DB) removeScratch(s *scratch) {
	if err := s.remove(); err != nil {
		db.opts.Logger.Error("removing a scratch file", "err", err)
	}
}

func (s *scratch) make() (*os.File, error) {
	f, err := os.CreateTemp(s.dir, "load-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("db: scratch file: %w", err)
	}
	s.files = append(s.files, f)
	_ = os.Remove(f.Name()) // if this fails, remove deletes the file
	return f, nil
}

// remove closes and deletes the files.
func (s *scratch) remove() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
		if err := os.Remove(f.Name()); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	s.files = nil
	return errors.Join(errs...)
}
