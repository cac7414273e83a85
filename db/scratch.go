package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"kith/index"
)

// scratch is a temporary file beside the database, or where the system keeps such files for one in
// memory. Where the system can, it has no name from the start, so that nothing is left of it
// whatever becomes of the process.
type scratch struct {
	dir  string
	file *os.File // nil: never made
}

func (s *scratch) make() (index.Scratch, error) {
	f, err := os.CreateTemp(s.dir, "load-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("db: scratch file: %w", err)
	}
	s.file = f
	_ = os.Remove(f.Name()) // or else remove does
	return f, nil
}

// remove gives the space back.
func (s *scratch) remove() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if gone := os.Remove(s.file.Name()); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
