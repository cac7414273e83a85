package edgelist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Spool is temporary storage, such as a temporary file.
type Spool interface {
	io.ReaderAt
	io.WriterAt
}

// fill copies all of r to a place where it can be read out of order, and returns the place and the
// length.
func fill(spool func() (Spool, error), r io.Reader) (io.ReaderAt, int64, error) {
	if spool == nil {
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, 0, fmt.Errorf("edgelist: %w", err)
		}
		return bytes.NewReader(b), int64(len(b)), nil
	}
	place, err := spool()
	if err != nil {
		return nil, 0, err
	}
	n, err := io.Copy(io.NewOffsetWriter(place, 0), r)
	if err != nil {
		return nil, 0, fmt.Errorf("edgelist: %w", err)
	}
	return place, n, nil
}

// tee returns a reader of r that copies what is read to a spool, and a function that returns a
// reader of the copy once all of r has been read.
func tee(spool func() (Spool, error), r io.Reader) (in io.Reader, again func() io.Reader, err error) {
	if spool == nil {
		copied := new(bytes.Buffer)
		return io.TeeReader(r, copied), func() io.Reader { return copied }, nil
	}
	place, err := spool()
	if err != nil {
		return nil, nil, err
	}
	w := io.NewOffsetWriter(place, 0)
	return io.TeeReader(r, w), func() io.Reader {
		n, _ := w.Seek(0, io.SeekCurrent)
		return io.NewSectionReader(place, 0, n)
	}, nil
}

// inPlace returns the rest of r as a file that can be read out of order, or nil if r is a stream,
// such as a pipe.
func inPlace(r io.Reader) (*io.SectionReader, error) {
	f, ok := r.(interface {
		io.ReaderAt
		io.Seeker
	})
	if !ok {
		return nil, nil
	}
	from, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, nil
	}
	end, err := f.Seek(0, io.SeekEnd)
	if _, back := f.Seek(from, io.SeekStart); back != nil {
		return nil, fmt.Errorf("edgelist: %w", back)
	}
	if err != nil || end <= from {
		return nil, nil
	}
	return io.NewSectionReader(f, from, end-from), nil
}

// place returns the file where it can be read out of order, and its length. in is its content.
func (o *Options) place(in io.Reader) (io.ReaderAt, int64, error) {
	if o.file != nil {
		return o.file, o.file.Size(), nil
	}
	return fill(o.Spool, in)
}

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
