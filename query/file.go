package query

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"kith/db/edgelist"
	"kith/db/words"
	"kith/query/internal/parse"
)

// readFile opens the file that a statement names and calls read with it, unless there is an error.
// An error gets the position of the name.
func (r *run) readFile(file parse.Value, read func(io.Reader) error) {
	name := r.text(file)
	if r.err != nil {
		return
	}
	f, err := OpenFile(r.ctx, name, os.O_RDONLY, 0)
	if err != nil {
		r.fileError(file, err)
		return
	}
	defer f.Close()  // read only
	size := int64(0) // unknown
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	r.failIn(file, read(&edgelist.Meter{R: f, Tell: func(done int64, _ bool) { r.progress(Bytes, done, size) }}))
}

// writeFile writes the file that a statement names, unless there is an error. An error gets the
// position of the name.
func (r *run) writeFile(file parse.Value, write func(name string, w io.Writer) error) {
	if name := r.text(file); r.err == nil {
		r.fileError(file, WriteFile(r.ctx, name, fileMode, func(w io.Writer) error { return write(name, w) }))
	}
}

// fileMode is the mode of the files that statements write.
const fileMode = 0o644

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

// File is an opened file. The reads and writes of a file that may wait for ever, such as a named
// pipe, end with its context.
type File struct {
	f    *os.File
	from io.Reader // f, unless its reads cannot be ended
	ctx  context.Context
	stop func() bool // stops waiting for the end of ctx; nil for a regular file
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

// WriteFile replaces a file by what write writes. After a failure, even of the machine, the file is
// either complete or as it was before. A file that is not regular, such as a pipe, is written
// directly; ctx then ends waiting for its reader.
func WriteFile(ctx context.Context, name string, mode os.FileMode, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := OpenFile(ctx, name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(buffered(f, write), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.partial")
	if err != nil {
		return &os.PathError{Op: "create", Path: name, Err: errors.Unwrap(err)}
	}
	err = buffered(f, write)
	if err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(name))
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
