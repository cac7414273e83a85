package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
)

// file is a file to read.
type file struct {
	URI   string
	Bytes int64
}

// fileSystem calls f with the file system of a URI.
func fileSystem(ctx context.Context, uri string, f func(filesystem.Interface) error) error {
	s, err := filesystem.New(ctx, uri)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// named adds a URI to an error that does not name it.
func named(uri string, err error) error {
	if err != nil && !strings.Contains(err.Error(), uri) {
		return fmt.Errorf("%s: %w", uri, err)
	}
	return err
}

// find returns the file at a URI.
func find(ctx context.Context, uri string) (f file, err error) {
	err = fileSystem(ctx, uri, func(s filesystem.Interface) error {
		f = file{URI: uri}
		f.Bytes, err = s.Size(ctx, uri)
		return named(uri, err)
	})
	return f, err
}

// open opens a file for reading.
func open(ctx context.Context, uri string) (io.ReadCloser, error) {
	s, err := filesystem.New(ctx, uri)
	if err != nil {
		return nil, err
	}
	r, err := s.OpenRead(ctx, uri)
	if err != nil {
		return nil, errors.Join(named(uri, err), s.Close())
	}
	return &opened{r, s, uri}, nil
}

// opened is an open file that closes its file system too.
type opened struct {
	io.ReadCloser
	of  filesystem.Interface
	uri string
}

// Name returns the URI, by which db.Restore names a backup in its errors.
func (o *opened) Name() string { return o.uri }

// Close implements [io.Closer].
func (o *opened) Close() error { return errors.Join(o.ReadCloser.Close(), o.of.Close()) }

// list returns the files that match a pattern.
func list(ctx context.Context, pattern string) (found []string, err error) {
	err = fileSystem(ctx, pattern, func(s filesystem.Interface) error {
		found, err = s.List(ctx, pattern)
		return named(pattern, err)
	})
	return found, err
}

// write writes a file. If that fails, it leaves none.
func write(ctx context.Context, uri string, f func(io.Writer) error) error {
	return fileSystem(ctx, uri, func(s filesystem.Interface) error {
		within, cancel := context.WithCancel(ctx)
		defer cancel()
		w, err := s.OpenWrite(within, uri)
		if err != nil {
			return named(uri, err)
		}
		if err = f(w); err == nil {
			if err = named(uri, w.Close()); err == nil {
				return nil
			}
		} else {
			cancel()      // an object store does not keep a file that is closed after that
			_ = w.Close() // the first error counts
		}
		if r, ok := s.(filesystem.Remover); ok {
			_ = r.Remove(context.WithoutCancel(ctx), uri) // an object store has no such file
		}
		return err
	})
}

// move renames a file. It does nothing if only the file with the new name exists, which an earlier
// attempt has moved.
func move(ctx context.Context, from, to string) error {
	return fileSystem(ctx, to, func(s filesystem.Interface) error {
		if _, err := s.Size(ctx, from); err != nil {
			if _, exists := s.Size(ctx, to); exists == nil {
				return nil
			}
			return named(from, err)
		}
		return named(to, filesystem.Rename(ctx, s, from, to))
	})
}

// remove deletes a file.
func remove(ctx context.Context, uri string) error {
	return fileSystem(ctx, uri, func(s filesystem.Interface) error {
		r, ok := s.(filesystem.Remover)
		if !ok {
			return fmt.Errorf("%s: this file system cannot delete files", uri)
		}
		return named(uri, r.Remove(ctx, uri))
	})
}

// newID returns a part of a file name that no other call returns.
func newID() string { return strings.ToLower(rand.Text()[:12]) }
