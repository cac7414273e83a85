package fileio

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Write replaces a file by what write writes. After a failure, even of the machine, the file is
// either complete or as it was before. A file that is not regular, such as a pipe, is written
// directly; ctx then ends waiting for its reader.
func Write(ctx context.Context, name string, mode os.FileMode, write func(io.Writer) error) error {
	f, err := Create(ctx, name, mode)
	if err != nil {
		return err
	}
	return f.Finish(write)
}

// Output is a file being written. Until it is finished, a temporary file in the same directory has
// its contents.
type Output struct {
	f    *os.File // the temporary file; nil if the file is not regular
	pipe *File    // the file that is not regular and is written directly
	name string   // final name
	mode os.FileMode
}

// Create creates a file, to be written by Finish or abandoned by Drop.
func Create(ctx context.Context, name string, mode os.FileMode) (*Output, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := OpenFile(ctx, name, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &Output{pipe: f, name: name}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.partial")
	if err != nil {
		return nil, &os.PathError{Op: "create", Path: name, Err: errors.Unwrap(err)}
	}
	return &Output{f: f, name: name, mode: mode}, nil
}

// Finish writes the file, syncs it and moves it to its final name.
func (f *Output) Finish(write func(io.Writer) error) error {
	if f.pipe != nil {
		return errors.Join(buffered(f.pipe, write), f.pipe.Close())
	}
	err := buffered(f.f, write)
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

// buffered calls write with a buffer before f.
func buffered(f io.Writer, write func(io.Writer) error) error {
	w := bufio.NewWriter(f)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
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
