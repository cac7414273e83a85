package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"kith/index"
)

// untilClosed calls f, a training, with a context that also ends when the database starts to close.
func (db *DB) untilClosed(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(db.running, func() { cancel(ErrClosed) })()
	err := f(ctx)
	if err != nil && context.Cause(ctx) == ErrClosed {
		return fmt.Errorf("%w, which ended the training", ErrClosed)
	}
	return err
}

// cancellableReader is a Reader that fails with the error of ctx once it is done.
type cancellableReader struct {
	ctx context.Context
	io.Reader
}

func (r cancellableReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// ReadAt reads out of order, for what edgelist reads in place.
func (r cancellableReader) ReadAt(p []byte, at int64) (int, error) {
	f, ok := r.Reader.(io.ReaderAt)
	if err := r.ctx.Err(); err != nil || !ok {
		return 0, cmp.Or(err, errors.ErrUnsupported)
	}
	return f.ReadAt(p, at)
}

// Seek moves in a file that can be read in place.
func (r cancellableReader) Seek(offset int64, whence int) (int64, error) {
	f, ok := r.Reader.(io.Seeker)
	if _, file := r.Reader.(io.ReaderAt); !ok || !file {
		return 0, errors.ErrUnsupported
	}
	return f.Seek(offset, whence)
}

// cancellableWriter is an index.Writer that fails with the error of ctx once it is done.
type cancellableWriter struct {
	ctx context.Context
	index.Writer
}

func (w cancellableWriter) Set(key, value []byte) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	return w.Writer.Set(key, value)
}

// boundedWriter is an index.Writer to the memory. It returns ErrTooLarge for more bytes than are left.
type boundedWriter struct {
	index.Writer
	left int64
}

func (w *boundedWriter) Set(key, value []byte) error {
	if w.left -= int64(len(key) + len(value)); w.left < 0 {
		return fmt.Errorf("%w: the graph, for a database in memory", ErrTooLarge)
	}
	return w.Writer.Set(key, value)
}

// cancellableScan is an index.Reader whose scans fail with the error of ctx once it is done.
type cancellableScan struct {
	ctx context.Context
	index.Reader
}

func (r cancellableScan) Scan(prefix, from []byte) iter.Seq2[index.Entry, error] {
	return func(yield func(index.Entry, error) bool) {
		for e, err := range r.Reader.Scan(prefix, from) {
			if err == nil {
				err = r.ctx.Err()
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// scratch makes temporary files in the directory of the database or, for a database that is in memory or read-only, in
// the system's directory for temporary files. If the system allows it, their names are removed at once, so nothing is
// left of them when the process dies.
type scratch struct {
	db    *DB
	files []scratchFile
}

// scratchFile is a temporary file. A write returns ErrFull while the disk still has the space that the store needs for
// its own maintenance.
type scratchFile struct {
	*os.File
	db *DB
}

func (f scratchFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.db.store.Room(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, at)
}

func (s *scratch) make() (scratchFile, error) {
	dir := ""
	if !s.db.opts.ReadOnly {
		dir = s.db.store.Dir()
	}
	f, err := os.CreateTemp(dir, "load-*.tmp")
	if err != nil {
		return scratchFile{}, fmt.Errorf("db: scratch file: %w", err)
	}
	s.files = append(s.files, scratchFile{f, s.db})
	_ = os.Remove(f.Name()) // if this fails, remove deletes the file
	return s.files[len(s.files)-1], nil
}

// remove closes and deletes the files.
func (s *scratch) remove() {
	for _, f := range s.files {
		err := f.Close()
		if left := os.Remove(f.Name()); !errors.Is(left, fs.ErrNotExist) {
			err = errors.Join(err, left)
		}
		if err != nil {
			s.db.opts.Logger.Error("removing a scratch file", "err", err)
		}
	}
}
