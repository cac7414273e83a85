package query

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// writeFile writes a file that is there whole or as it was before, on the disk, whatever goes wrong
// meanwhile. What is no regular file, like a pipe, is written to as it is.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := createFile(name)
	if err != nil {
		return err
	}
	return f.finish(write)
}

// file is a file in the making.
type file struct {
	*os.File
	name   string // that it is to have
	beside bool   // it is written beside its place; otherwise it is no regular file, and written as it is
}

// createFile begins a file, to be written by finish or abandoned by drop.
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

// finish has the file written, and puts it in its place.
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

// drop abandons the file. After finish it does nothing.
func (f *file) drop() {
	if f.Close() == nil && f.beside {
		_ = os.Remove(f.Name()) // nobody knows of it
	}
}
