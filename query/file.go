package query

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"kith/db/words"
	"kith/query/parse"
)

// readFile opens the file that a statement names and calls read with it, unless there is an error. An error gets the
// position of the name.
func (r *run) readFile(file parse.Value, read func(io.Reader) error) {
	name := r.text(file)
	if r.err != nil {
		return
	}
	f, err := os.Open(name)
	if err != nil {
		r.fileError(file, err)
		return
	}
	defer f.Close() // read only
	in := io.Reader(f)
	if r.session.Progress != nil {
		w := &watched{Reader: f, run: r}
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			w.total = info.Size()
		}
		in = w
	}
	r.failIn(file, read(in))
}

// writeFile writes the file that a statement names, unless there is an error. An error gets the position of the name.
func (r *run) writeFile(file parse.Value, write func(name string, w io.Writer) error) {
	if name := r.text(file); r.err == nil {
		r.fileError(file, writeFile(name, func(w io.Writer) error { return write(name, w) }))
	}
}

// failIn is failAt for an error in the contents of a file.
func (r *run) failIn(file parse.Value, err error) {
	if err != nil {
		r.failAt(file, fmt.Errorf("%s: %w", r.value(file), err))
	}
}

// fileError is failAt for an error of a file system. An error of the context gets no position.
func (r *run) fileError(file place, err error) {
	if err != nil && r.ctx.Err() == nil {
		err = &Error{Pos: file.Position(), Msg: words.Plain(err), Err: err}
	}
	r.fail(err)
}

// watched is a file that reports the progress of reading it.
type watched struct {
	io.Reader
	run         *run
	done, total int64 // bytes; total is 0 if it is unknown
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.done += int64(n)
	w.run.progress(Bytes, w.done, w.total)
	return n, err
}

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
