// Package ctxio makes readers and writers that fail with the error of a context
// once it is done.
package ctxio

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"

	"kith/index"
)

// Reader returns a reader of r. If r can read in place, so can it.
func Reader(ctx context.Context, r io.Reader) io.Reader { return reader{ctx, r} }

type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// ReadAt implements [io.ReaderAt].
func (r reader) ReadAt(p []byte, at int64) (int, error) {
	f, ok := r.Reader.(io.ReaderAt)
	if err := r.ctx.Err(); err != nil || !ok {
		return 0, cmp.Or(err, errors.ErrUnsupported)
	}
	return f.ReadAt(p, at)
}

// Seek implements [io.Seeker] for a file that can be read in place.
func (r reader) Seek(offset int64, whence int) (int64, error) {
	f, ok := r.Reader.(io.Seeker)
	if _, file := r.Reader.(io.ReaderAt); !ok || !file {
		return 0, errors.ErrUnsupported
	}
	return f.Seek(offset, whence)
}

// Writer returns a writer to w. Only its method Set fails.
func Writer(ctx context.Context, w index.Writer) index.Writer { return writer{ctx, w} }

type writer struct {
	ctx context.Context
	index.Writer
}

func (w writer) Set(key, value []byte) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	return w.Writer.Set(key, value)
}

// Scans returns a reader of r. Only its method Scan fails.
func Scans(ctx context.Context, r index.Reader) index.Reader { return scans{ctx, r} }

type scans struct {
	ctx context.Context
	index.Reader
}

func (r scans) Scan(prefix, from []byte) iter.Seq2[index.Entry, error] {
	return func(yield func(index.Entry, error) bool) {
		for e, err := range r.Reader.Scan(prefix, from) {
			err = cmp.Or(err, r.ctx.Err())
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
