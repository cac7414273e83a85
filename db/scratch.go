package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// scratch makes temporary files beside the database, or where the system keeps such files for one
// that is in memory or only read. Where the system can, they have no names from the start, so that
// nothing is left of them whatever becomes of the process.
type scratch struct {
	dir   string
	files []*os.File
}

func (db *DB) scratch() *scratch {
	if db.opts.ReadOnly {
		return &scratch{}
	}
	return &scratch{dir: db.store.dir()}
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
	_ = os.Remove(f.Name()) // or else remove does
	return f, nil
}

// remove gives the space back.
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
