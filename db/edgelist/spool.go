package edgelist

import (
	"bytes"
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
