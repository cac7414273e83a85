package edgelist

import (
	"errors"
	"io"
)

// Meter is a reader that reports how much is read through it. A file that a [Reader] reads in place
// is read in place through a Meter too.
type Meter struct {
	R    io.Reader
	Tell func(read int64, ended bool) // is called after each read with the number of bytes so far

	read int64
}

// Read implements [io.Reader].
func (m *Meter) Read(p []byte) (int, error) {
	n, err := m.R.Read(p)
	m.read += int64(n)
	m.Tell(m.read, err == io.EOF)
	return n, err
}

// ReadAt implements [io.ReaderAt].
func (m *Meter) ReadAt(p []byte, at int64) (int, error) {
	f, ok := m.R.(io.ReaderAt)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	n, err := f.ReadAt(p, at)
	m.read += int64(n)
	m.Tell(m.read, false)
	return n, err
}

// Seek implements [io.Seeker] for a file that can be read in place.
func (m *Meter) Seek(offset int64, whence int) (int64, error) {
	f, ok := m.R.(io.Seeker)
	if _, file := m.R.(io.ReaderAt); !ok || !file {
		return 0, errors.ErrUnsupported
	}
	return f.Seek(offset, whence)
}
