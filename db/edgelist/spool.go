package edgelist

import (
	archive "archive/zip"
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// Spool is temporary storage, such as a temporary file.
type Spool interface {
	io.ReaderAt
	io.WriterAt
}

// fill copies all of r to a place where it can be read out of order, and returns the place and the length.
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

// inPlace returns the rest of r as a file that can be read out of order, or nil if r is a stream, such as a pipe.
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

// newArchive reads a file that is not a single array: an archive of arrays, or a file of PyTorch, which is also an
// archive in later versions.
func newArchive(in io.Reader, o Options) (source, error) {
	at, size, err := o.place(in)
	if err != nil {
		return nil, err
	}
	z, err := archive.NewReader(at, size)
	if o.Format == Torch || err == nil && slices.ContainsFunc(z.File, isPickle) {
		return newSplit(at, size, o)
	}
	if err != nil {
		return nil, fmt.Errorf("edgelist: npz: %w", err)
	}
	r, err := member(z)
	if err != nil {
		return nil, err
	}
	return newArrayEdges(r, o)
}

func isPickle(f *archive.File) bool { return path.Base(f.Name) == "data.pkl" }

// member opens the array of edges of an archive: the one called edge_index, edges or edge, or the only one.
func member(z *archive.Reader) (io.Reader, error) {
	var names []string
	for _, f := range z.File {
		names = append(names, strings.TrimSuffix(f.Name, ".npy"))
	}
	i := 0
	if len(names) != 1 {
		i = slices.IndexFunc(names, func(n string) bool { return n == "edge_index" || n == "edges" || n == "edge" })
	}
	if i < 0 {
		return nil, fmt.Errorf("%w: the archive holds %q, expected edge_index, edges or edge, or a single array", errArray, names)
	}
	if z.File[i].Name == names[i] {
		return nil, fmt.Errorf("%w: the archive holds %q, which is no array; unpack it first", errArray, names[i])
	}
	f, err := z.File[i].Open()
	if err != nil {
		return nil, fmt.Errorf("edgelist: npz: %s: %w", z.File[i].Name, err)
	}
	return buffered(f), nil
}
