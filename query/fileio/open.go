// Package fileio opens and writes files for people who may interrupt: waits end with a context, and
// a file that is written appears when it is complete.
package fileio

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// File is an opened file. The reads and writes of a file that may wait for ever, such as a named
// pipe, end with its context.
type File struct {
	f    *os.File
	from io.Reader // f, unless its reads cannot be ended
	ctx  context.Context
	stop func() bool // stops waiting for the end of ctx; nil for a regular file
}

// Open opens a file for reading; see [OpenFile].
func Open(ctx context.Context, name string) (*File, error) {
	return OpenFile(ctx, name, os.O_RDONLY, 0)
}

// OpenFile is os.OpenFile. The system lets it wait until a named pipe is opened at its other end.
// If ctx ends earlier, OpenFile returns the error of ctx.
func OpenFile(ctx context.Context, name string, flag int, mode os.FileMode) (*File, error) {
	f, err := Await(ctx, func() (*os.File, error) { return os.OpenFile(name, flag, mode) })
	if err != nil {
		return nil, err
	}
	file := &File{f: f, from: f, ctx: ctx}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return file, nil
	}
	if f.SetDeadline(time.Time{}) != nil {
		file.from = Pipe(ctx, f)
	}
	file.stop = context.AfterFunc(ctx, func() {
		_ = f.SetDeadline(time.Unix(1, 0)) // an error means that reads end without it, or that the file is closed
	})
	return file, nil
}

// Await calls open and returns what it opens. If ctx ends earlier, Await returns the error of ctx,
// and closes what is opened later.
func Await[F io.Closer](ctx context.Context, open func() (F, error)) (f F, err error) {
	if err := ctx.Err(); err != nil {
		return f, err
	}
	type result struct {
		f   F
		err error
	}
	opened := make(chan result, 1)
	go func() {
		f, err := open()
		opened <- result{f, err}
	}()
	select {
	case r := <-opened:
		return r.f, r.err
	case <-ctx.Done():
		go func() {
			if r := <-opened; r.err == nil {
				_ = r.f.Close() // nothing was written
			}
		}()
		return f, ctx.Err()
	}
}

// Read implements [io.Reader].
func (f *File) Read(p []byte) (int, error) {
	n, err := f.from.Read(p)
	return n, f.ended(err)
}

// Write implements [io.Writer].
func (f *File) Write(p []byte) (int, error) {
	n, err := f.f.Write(p)
	return n, f.ended(err)
}

// ended returns the error of the context instead of the error of a deadline.
func (f *File) ended(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) && f.ctx.Err() != nil {
		return f.ctx.Err()
	}
	return err
}

// ReadAt implements [io.ReaderAt].
func (f *File) ReadAt(p []byte, at int64) (int, error) { return f.f.ReadAt(p, at) }

// Seek implements [io.Seeker].
func (f *File) Seek(offset int64, whence int) (int64, error) { return f.f.Seek(offset, whence) }

// Stat returns what the system knows about the file.
func (f *File) Stat() (fs.FileInfo, error) { return f.f.Stat() }

// Name returns the name that the file was opened by.
func (f *File) Name() string { return f.f.Name() }

// Close closes the file.
func (f *File) Close() error {
	if f.stop != nil {
		f.stop()
	}
	return f.f.Close()
}

// Pipe returns a reader of r that ends when ctx does, even while a read of r blocks. If it is
// closed during a read of r, that read continues and its data is lost.
func Pipe(ctx context.Context, r io.Reader) *io.PipeReader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	return out
}
