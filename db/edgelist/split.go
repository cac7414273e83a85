package edgelist

import (
	archive "archive/zip"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
)

// maxSplit is the maximal size of a split file in bytes.
const maxSplit = 1 << 30

// splitEdges reads the links of a split, or its pairs without a link, as edges.
type splitEdges struct {
	Detected
	pairs [][2]uint32
	read  int64
}

// newSplit reads one part of a link prediction benchmark, which PyTorch saved as a dictionary with the keys edge and
// edge_neg. It accepts the zip archives of version 1.6 and later and the older sequence of pickles. The values are NumPy
// arrays or tensors of 64-bit or 32-bit integers and shape (n, 2). Other keys are ignored, whatever arrays they hold.
// Memory is a small multiple of the size.
func newSplit(at io.ReaderAt, size int64, o Options) (s *splitEdges, err error) {
	if o.Columns > SrcDst {
		return nil, fmt.Errorf("edgelist: a split has two columns, expected %v", o.Columns)
	}
	if most := min(cmp.Or(o.MaxSplit, maxSplit), maxSplit); size > most {
		return nil, fmt.Errorf("edgelist: a split of %d bytes (accepted: up to %d)", size, most)
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case splitError:
			err = e.error
		default:
			panic(e)
		}
	}()
	key := "edge"
	if o.Negative {
		key = "edge_neg"
	}
	z, err := archive.NewReader(at, size)
	if errors.Is(err, archive.ErrFormat) { // not an archive
		return splitOf(oldPairs(contentOf(io.NewSectionReader(at, 0, size)), key)), nil
	}
	check(err)
	return splitOf(zippedPairs(z, key)), nil
}

func splitOf(pairs [][2]uint32) *splitEdges {
	return &splitEdges{Detected: Detected{Format: Torch, Columns: SrcDst}, pairs: pairs}
}

// contentOf reads a whole file.
func contentOf(r io.Reader) []byte {
	b, err := io.ReadAll(r)
	check(err)
	return b
}

// zippedPairs reads an archive of data.pkl and a file for each storage.
func zippedPairs(z *archive.Reader, key string) [][2]uint32 {
	record := func(name string) []byte {
		for _, f := range z.File {
			dir, base := path.Split(f.Name)
			if path.Join(path.Base(dir), base) == name || base == name {
				return stored(f)
			}
		}
		fail("the archive lacks %s", name)
		return nil
	}
	u := unpickler{in: record("data.pkl"), widths: make(map[string]int)}
	return tensorOf(u.load(), key).pairs(func(storage string) []byte { return record("data/" + storage) })
}

// stored reads a file of an archive. It rejects compressed files, because PyTorch writes none and they can be bombs.
func stored(f *archive.File) []byte {
	if f.Method != archive.Store {
		fail("%s is compressed", f.Name)
	}
	in, err := f.Open()
	check(err)
	defer in.Close()
	return contentOf(in)
}

// oldPairs reads five consecutive pickles (magic number, protocol, machine, the value, the keys of the storages) and then
// the storages, each as the number of its elements in 8 bytes and the elements.
func oldPairs(file []byte, key string) [][2]uint32 {
	u := unpickler{in: file, widths: make(map[string]int)}
	var values [5]any
	for i := range values {
		values[i] = u.load()
	}
	if b, _ := values[0].([]byte); string(b) != "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19" {
		fail("not PyTorch's magic number")
	}
	return tensorOf(values[3], key).pairs(func(storage string) []byte { return u.find(values[4], storage) })
}

// find returns a storage from the bytes after the pickles. keys are the storages in the order of the file. The elements of
// the storages before it may have any size.
func (u *unpickler) find(keys any, key string) []byte {
	list, ok := keys.(*pickleList)
	if !ok {
		fail("no list of storages")
	}
	rest := u.in
	for _, k := range list.items {
		name, _ := k.(string)
		size := uint64(u.widths[name])
		if size == 0 || len(rest) < 8 {
			break
		}
		n := binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
		if n > uint64(len(rest))/size {
			break
		}
		if name == key {
			return rest[:size*n]
		}
		rest = rest[size*n:]
	}
	fail("storage %q is missing", key)
	return nil
}

// tensorOf returns an array of the dictionary.
func tensorOf(top any, key string) *tensor {
	d, ok := top.(map[string]any)
	if !ok {
		fail("the file holds no dictionary")
	}
	value, ok := d[key]
	if !ok {
		fail("it has no array called %s", key)
	}
	a, ok := value.(*tensor)
	if !ok {
		fail("%s is no array", key)
	}
	return a
}

func (s *splitEdges) next(e *Edge) error {
	if s.read == int64(len(s.pairs)) {
		return io.EOF
	}
	pair := s.pairs[s.read]
	s.read++
	e.Line = s.read
	e.Src, e.Dst = Token{Int: int64(pair[0]), IsInt: true}, Token{Int: int64(pair[1]), IsInt: true}
	return nil
}
