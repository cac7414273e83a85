package query

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// writeFile replaces a file by what write writes. After a failure, even of the machine, the file is either complete or
// as it was before. A file that is not regular, such as a pipe, is written directly.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := createFile(name)
	if err != nil {
		return err
	}
	return f.finish(write)
}

// file is a file being written.
type file struct {
	*os.File
	name   string // final name
	beside bool   // whether a temporary file in the same directory is written; false for a file that is not regular
}

// createFile creates a file, to be written by finish or abandoned by drop.
func createFile(name string) (*file, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &file{File: f, name: name}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, &os.PathError{Op: "create", Path: name, Err: errors.Unwrap(err)}
	}
	return &file{f, name, true}, nil
}

// finish writes the file and moves it to its final name.
func (f *file) finish(write func(io.Writer) error) error {
	w := bufio.NewWriter(f)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if !f.beside {
		return errors.Join(err, f.Close())
	}
	if err == nil {
		err = errors.Join(f.Chmod(0o644), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), f.name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// drop abandons the file. It does nothing after finish.
func (f *file) drop() {
	if f.Close() == nil && f.beside {
		_ = os.Remove(f.Name()) // a temporary file that stays is harmless
	}
}
