// Package outfile writes files that appear when they are complete.
package outfile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Write replaces a file by what write writes. After a failure, even of the machine, the file is either complete or as it
// was before. A file that is not regular, such as a pipe, is written directly.
func Write(name string, mode os.FileMode, write func(io.Writer) error) error {
	f, err := Create(name, mode)
	if err != nil {
		return err
	}
	return f.Finish(write)
}

// File is a file being written. Until it is finished, a temporary file in the same directory has its contents.
type File struct {
	f    *os.File
	name string      // final name
	mode os.FileMode // 0 means that the file is not regular and is written directly
}

// Create creates a file, to be written by Finish or abandoned by Drop.
func Create(name string, mode os.FileMode) (*File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		return &File{f: f, name: name}, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.partial")
	if err != nil {
		return nil, &os.PathError{Op: "create", Path: name, Err: errors.Unwrap(err)}
	}
	return &File{f, name, mode}, nil
}

// Finish writes the file, syncs it and moves it to its final name.
func (f *File) Finish(write func(io.Writer) error) error {
	w := bufio.NewWriter(f.f)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if f.mode == 0 {
		return errors.Join(err, f.f.Close())
	}
	if err == nil {
		err = errors.Join(f.f.Chmod(f.mode), f.f.Sync())
	}
	if err = errors.Join(err, f.f.Close()); err == nil {
		err = os.Rename(f.f.Name(), f.name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.f.Name()))
	}
	return syncDir(filepath.Dir(f.name))
}

// Drop abandons the file. It does nothing after Finish.
func (f *File) Drop() {
	if f.f.Close() == nil && f.mode != 0 {
		_ = os.Remove(f.f.Name()) // a temporary file that stays is harmless
	}
}

// syncDir makes the names in a directory durable, on systems that support it.
func syncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
