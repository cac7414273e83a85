package db

import (
	"context"
	"io"
	"iter"

	"kith/index"
)

// untilClosed returns a context that ends with ctx or when the database starts to close. In the latter case its cause
// is ErrClosed. The caller must call stop.
func (db *DB) untilClosed(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	unregister := context.AfterFunc(db.running, func() { cancel(ErrClosed) })
	return ctx, func() { unregister(); cancel(nil) }
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
