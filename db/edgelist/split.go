package edgelist

import (
	archive "archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path"
)

// Split is one part of a link prediction benchmark: links, and pairs without a link. Either may be missing.
type Split struct {
	Edge     [][2]uint32
	Negative [][2]uint32
}

// maxSplit is the maximal size of a split file in bytes.
const maxSplit = 1 << 30

// ReadSplit reads a split that PyTorch saved as a dictionary with the keys edge and edge_neg. It accepts the zip
// archives of version 1.6 and later and the older sequence of pickles. The values are NumPy arrays or tensors of 64-bit
// or 32-bit integers and shape (n, 2). Other keys are ignored, whatever arrays they hold.
//
// The interpreter of the pickles supports only values, arrays and tensors. Memory is a small multiple of the size.
func ReadSplit(r io.ReaderAt, size int64) (Split, error) {
	if size > maxSplit {
		return Split{}, fmt.Errorf("edgelist: a split of %d bytes (accepted: up to %d)", size, maxSplit)
	}
	var magic [4]byte
	if _, err := r.ReadAt(magic[:], 0); err != nil && err != io.EOF {
		return Split{}, fmt.Errorf("edgelist: split: %w", err)
	}
	if string(magic[:]) == "PK\x03\x04" {
		return readZipped(r, size)
	}
	return readOldSplit(io.NewSectionReader(r, 0, size))
}

// readZipped reads an archive of data.pkl and a file for each storage.
func readZipped(r io.ReaderAt, size int64) (Split, error) {
	z, err := archive.NewReader(r, size)
	if err != nil {
		return Split{}, fmt.Errorf("edgelist: split: %w", err)
	}
	record := func(name string) ([]byte, error) {
		for _, f := range z.File {
			dir, base := path.Split(f.Name)
			if path.Join(path.Base(dir), base) == name || base == name {
				return stored(f)
			}
		}
		return nil, fmt.Errorf("%w: the archive lacks %s", errPickle, name)
	}
	text, err := record("data.pkl")
	if err != nil {
		return Split{}, err
	}
	top, _, err := arrays(storages{}).load(text)
	if err != nil {
		return Split{}, err
	}
	return splitOf(top, func(key string) ([]byte, error) { return record("data/" + key) })
}

// stored reads a file of an archive. It rejects compressed files, because PyTorch writes none and they can be bombs.
func stored(f *archive.File) ([]byte, error) {
	if f.Method != archive.Store {
		return nil, fmt.Errorf("%w: %s is compressed", errPickle, f.Name)
	}
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("edgelist: split: %w", err)
	}
	defer in.Close()
	b, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("edgelist: split: %w", err)
	}
	return b, nil
}

// readOldSplit reads five consecutive pickles (magic number, protocol, machine, the value, the keys of the storages)
// and then the storages, each as the number of its elements in 8 bytes and the elements.
func readOldSplit(r io.Reader) (Split, error) {
	rest, err := io.ReadAll(r)
	if err != nil {
		return Split{}, fmt.Errorf("edgelist: split: %w", err)
	}
	var values [5]any
	sizes := storages{}
	for i := range values {
		if values[i], rest, err = arrays(sizes).load(rest); err != nil {
			return Split{}, err
		}
	}
	if b, _ := values[0].([]byte); string(b) != "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19" {
		return Split{}, fmt.Errorf("%w: not PyTorch's magic number", errPickle)
	}
	keys, _ := values[4].(*pickleList)
	return splitOf(values[3], func(key string) ([]byte, error) { return sizes.find(keys, rest, key) })
}

// find returns a storage from the bytes after the pickles. The elements of the storages before it may have any size.
func (sizes storages) find(keys *pickleList, rest []byte, key string) ([]byte, error) {
	if keys == nil {
		return nil, fmt.Errorf("%w: no list of storages", errPickle)
	}
	for _, k := range keys.items {
		name, _ := k.(string)
		size := uint64(sizes[name])
		if size == 0 || len(rest) < 8 {
			break
		}
		n := binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
		if n > uint64(len(rest))/size {
			break
		}
		if name == key {
			return rest[:size*n], nil
		}
		rest = rest[size*n:]
	}
	return nil, fmt.Errorf("%w: storage %q is missing", errPickle, key)
}

// splitOf extracts the pairs from the dictionary.
func splitOf(top any, storage func(key string) ([]byte, error)) (s Split, err error) {
	d, ok := top.(map[string]any)
	if !ok {
		return s, fmt.Errorf("%w: the file holds no dictionary", errPickle)
	}
	for key, into := range map[string]*[][2]uint32{"edge": &s.Edge, "edge_neg": &s.Negative} {
		value, ok := d[key]
		if !ok {
			continue
		}
		a, ok := value.(*tensor)
		if !ok {
			return s, fmt.Errorf("%w: %s is no array", errPickle, key)
		}
		if *into, err = a.pairs(storage); err != nil {
			return s, fmt.Errorf("%s: %w", key, err)
		}
	}
	return s, nil
}

// splitEdges reads the links of a split, or its pairs without a link, as edges.
type splitEdges struct {
	edges [][2]uint32
	read  int64
}

func newSplit(at io.ReaderAt, size int64, o Options) (*splitEdges, error) {
	if o.Columns > SrcDst {
		return nil, fmt.Errorf("edgelist: a split has two columns, expected %v", o.Columns)
	}
	if o.MaxSplit > 0 && size > o.MaxSplit {
		return nil, fmt.Errorf("edgelist: a split of %d bytes (accepted: up to %d)", size, o.MaxSplit)
	}
	s, err := ReadSplit(at, size)
	if err != nil {
		return nil, err
	}
	pairs, name := s.Edge, "edge"
	if o.Negative {
		pairs, name = s.Negative, "edge_neg"
	}
	if pairs == nil {
		return nil, fmt.Errorf("%w: it has no array called %s", errPickle, name)
	}
	return &splitEdges{edges: pairs}, nil
}

func (s *splitEdges) next(e *Edge) error {
	if s.read == int64(len(s.edges)) {
		return io.EOF
	}
	pair := s.edges[s.read]
	s.read++
	e.Line = s.read
	e.Src, e.Dst = Token{Int: int64(pair[0]), IsInt: true}, Token{Int: int64(pair[1]), IsInt: true}
	return nil
}

// tensor is a two-dimensional array of integers: a NumPy array with its data, or a tensor with the key of its storage.
// A width of 0 means any other array.
type tensor struct {
	rows, cols   int64
	step, stride int64 // number of elements from one row to the next, and from one column to the next
	offset       int64
	width        int // bytes of an element
	data         []byte
	key          string
}

// pairs returns the rows as pairs.
func (a *tensor) pairs(storage func(string) ([]byte, error)) ([][2]uint32, error) {
	if a.width == 0 {
		return nil, fmt.Errorf("%w: not a matrix of integers of 32 or 64 bits", errPickle)
	}
	data := a.data
	if data == nil {
		var err error
		if data, err = storage(a.key); err != nil {
			return nil, err
		}
	}
	n := int64(len(data) / a.width)
	if a.cols != 2 || a.rows != 0 && !a.within(n) {
		return nil, fmt.Errorf("%w: %d x %d elements of an array of %d", errPickle, a.rows, a.cols, n)
	}
	pairs := make([][2]uint32, a.rows)
	for i := range pairs {
		for j := range 2 {
			v := a.at(data, a.offset+int64(i)*a.step+int64(j)*a.stride)
			if v < 0 || v > math.MaxUint32 {
				return nil, fmt.Errorf("%w: row %d holds node %d", errPickle, i, v)
			}
			pairs[i][j] = uint32(v)
		}
	}
	return pairs, nil
}

// within reports whether all rows are inside an array of n elements, and have no more elements than the array.
func (a *tensor) within(n int64) bool {
	for _, v := range []int64{a.rows, a.step, a.stride, a.offset} {
		if v < 0 || v > n {
			return false
		}
	}
	return a.rows <= n/2 && a.offset+(a.rows-1)*a.step+a.stride < n
}

func (a *tensor) at(data []byte, i int64) int64 {
	if a.width == 4 {
		return int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return int64(binary.LittleEndian.Uint64(data[8*i:]))
}
