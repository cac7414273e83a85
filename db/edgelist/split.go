package edgelist

import (
	archive "archive/zip"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// maxSplit is the maximal size of a split file in bytes.
const maxSplit = 1 << 30

// splitEdges reads the links of a split, or its pairs without a link, as edges.
type splitEdges struct {
	Detected
	// ends holds vectors of sources and targets, or a vector of sources and a matrix with several
	// targets of each.
	ends      [2]*tensor
	values    [roleCount]*tensor // values of the edges; nil means none
	relations nameSet
	signed    bool         // weights may be negative
	labels    []*[2]string // of the ends of each row, if nodes are numbered within their labels
	read      int64
}

// newSplit reads a part of a link prediction benchmark, which PyTorch saved as a dictionary of
// arrays. It accepts the zip archives of version 1.6 and later and the older sequence of pickles.
// Arrays are NumPy arrays or tensors. A note names the arrays that are not read. Memory is a small
// multiple of the size.
func newSplit(at io.ReaderAt, size int64, o Options) (s *splitEdges, err error) {
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
	z, err := archive.NewReader(at, size)
	if errors.Is(err, archive.ErrFormat) { // not an archive
		value, storage := oldValue(contentOf(io.NewSectionReader(at, 0, size)))
		return splitOf(value, storage, o), nil
	}
	check(err)
	value, storage := zippedValue(z)
	return splitOf(value, storage, o), nil
}

// splitArrays are the names of the arrays of ends.
type splitArrays struct{ source, target string } // target is "" if source has both ends

// linkArrays returns the names of the arrays of links, or of pairs without a link, in OGB's splits
// and in PyTorch Geometric.
func linkArrays(negative bool) []splitArrays {
	if negative {
		return []splitArrays{{"edge_neg", ""}, {"source_node", "target_node_neg"}, {"head", "tail_neg"}, {"head_neg", "tail"}, {"neg_edge_label_index", ""}, {"neg_edge_index", ""}}
	}
	return []splitArrays{{"edge", ""}, {"source_node", "target_node"}, {"head", "tail"}, {"edge_index", ""}, {"pos_edge_label_index", ""}}
}

// splitOf returns the edges of a value: a dictionary of arrays, or an array of edges.
func splitOf(value any, storage func(string) []byte, o Options) *splitEdges {
	s := &splitEdges{Detected: Detected{Format: Torch}, signed: o.Negative != ""}
	d, ok := value.(map[string]any)
	if a, isArray := value.(*tensor); isArray && !o.Unlinked {
		d, ok = map[string]any{"edge_index": a}, true
	}
	if !ok {
		fail("the file holds no dictionary of arrays")
	}
	names := linkArrays(o.Unlinked)
	i := slices.IndexFunc(names, func(n splitArrays) bool { return d[n.source] != nil && (n.target == "" || d[n.target] != nil) })
	if i < 0 {
		fail("it has no array called %s (it has: %s)", names[0].source, strings.Join(slices.Sorted(maps.Keys(d)), ", "))
	}
	read := map[string]bool{names[i].source: true, names[i].target: true}
	get := func(name string) *tensor {
		a, ok := d[name].(*tensor)
		if !ok {
			fail("%s is no array", name)
		}
		a.resolve(storage)
		return a
	}
	s.setEnds(names[i], get)
	s.setLabels(d, read)
	if !o.Unlinked {
		s.setValues(d, read, get, o)
	}
	s.Columns = ColumnsOf(s.values[roleRelation] != nil, s.values[roleWeight] != nil, s.values[roleTime] != nil)
	if o.Columns != Auto && !o.Columns.same(s.Columns) {
		fail("it has columns %v, expected %v", s.Columns, o.Columns)
	}
	if !o.Unlinked { // further values belong to the links
		s.noteUnread(d, read)
	}
	return s
}

// setLabels sets the labels of the ends, which are lists of texts.
func (s *splitEdges) setLabels(d map[string]any, read map[string]bool) {
	pairs := map[[2]string]*[2]string{}
	for end, name := range []string{"head_type", "tail_type"} {
		list, ok := d[name].(*pickleList)
		if d[name] == nil {
			continue
		}
		if !ok || int64(len(list.items)) != s.ends[0].rows {
			fail("%s is not a list of as many texts as there are edges", name)
		}
		if read[name] = true; s.labels == nil {
			s.labels = make([]*[2]string, len(list.items))
		}
		for row, item := range list.items {
			label, _ := item.(string)
			if label == "" {
				fail("%s holds %v, which is no label", name, item)
			}
			var pair [2]string
			if s.labels[row] != nil {
				pair = *s.labels[row]
			}
			if pair[end] = label; pairs[pair] == nil {
				pairs[pair] = &pair
			}
			s.labels[row] = pairs[pair]
		}
	}
}

// setValues sets the arrays of the other values of the edges.
func (s *splitEdges) setValues(d map[string]any, read map[string]bool, get func(string) *tensor, o Options) {
	for r := range roles {
		names := roles[r].arrays
		at := slices.IndexFunc(names, func(n string) bool { a, ok := d[n].(*tensor); return ok && a.rows == s.ends[0].rows && a.cols == 1 })
		if at < 0 || !o.reads(role(r)) {
			continue
		}
		s.values[r], read[names[at]] = get(names[at]), true
		if role(r) == roleTime {
			s.Times = s.timeFormat(o, names[at])
		}
	}
}

// setEnds sets the arrays of the ends.
func (s *splitEdges) setEnds(names splitArrays, get func(string) *tensor) {
	a := get(names.source)
	if names.target != "" {
		s.ends = [2]*tensor{a, get(names.target)}
		if a.cols != 1 || s.ends[1].rows != a.rows {
			fail("%s is not a vector with as many elements as %s has rows", names.source, names.target)
		}
	} else {
		if isEdgeIndex(strings.TrimPrefix(strings.TrimPrefix(names.source, "pos_"), "neg_")) && a.rows == 2 {
			a = a.transposed()
		}
		if a.cols != 2 {
			fail("%s is of %d x %d elements, not of pairs", names.source, a.rows, a.cols)
		}
		for i := range s.ends {
			end := *a
			end.cols, end.offset = 1, a.offset+int64(i)*a.stride
			s.ends[i] = &end
		}
	}
	for _, a := range s.ends {
		for i := range a.rows * a.cols {
			if n := a.at(i/a.cols, i%a.cols); !n.isInt || n.whole < 0 {
				fail("row %d holds node %v", i/a.cols, n)
			}
		}
	}
}

// timeFormat returns the format of the times.
func (s *splitEdges) timeFormat(o Options, name string) TimeFormat {
	if o.Times != AnyTime {
		return o.Times
	}
	var forms timeForms
	times := s.values[roleTime]
	for i := range min(times.rows, guessLines) {
		forms.add([]byte(times.at(i, 0).String()))
	}
	return forms.best(name)
}

// noteUnread adds a note with the names of the values of the dictionary that were not read. It
// omits the values of the opposite part of the split.
func (s *splitEdges) noteUnread(d map[string]any, read map[string]bool) {
	for _, part := range []bool{false, true} {
		for _, names := range linkArrays(part) {
			read[names.source], read[names.target] = true, true
		}
	}
	var unread []string
	for _, name := range slices.Sorted(maps.Keys(d)) {
		if !read[name] {
			unread = append(unread, name)
		}
	}
	if len(unread) > 0 {
		s.note("arrays not read: %s", strings.Join(unread, ", "))
	}
}

// contentOf reads a whole file.
func contentOf(r io.Reader) []byte {
	b, err := io.ReadAll(r)
	check(err)
	return b
}

// zippedValue reads an archive of data.pkl and a file for each storage.
func zippedValue(z *archive.Reader) (value any, storage func(key string) []byte) {
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
	return u.load(), func(key string) []byte { return record("data/" + key) }
}

// stored reads a file of an archive. It rejects compressed files, because PyTorch writes none and
// they can be bombs.
func stored(f *archive.File) []byte {
	if f.Method != archive.Store {
		fail("%s is compressed", f.Name)
	}
	in, err := f.Open()
	check(err)
	defer in.Close()
	return contentOf(in)
}

// oldValue reads five consecutive pickles (magic number, protocol, machine, the value, the keys of
// the storages) and then the storages, each as the number of its elements in 8 bytes and the
// elements.
func oldValue(file []byte) (value any, storage func(key string) []byte) {
	u := unpickler{in: file, widths: make(map[string]int)}
	var values [5]any
	for i := range values {
		values[i] = u.load()
	}
	if b, _ := values[0].([]byte); string(b) != "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19" {
		fail("not PyTorch's magic number")
	}
	return values[3], func(key string) []byte { return u.find(values[4], key) }
}

// find returns a storage from the bytes after the pickles. keys are the storages in the order of
// the file. The elements of the storages before it may have any size.
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

func (s *splitEdges) next(e *Edge) error {
	each := s.ends[1].cols // pairs with one source
	if s.read == s.ends[1].rows*each {
		return io.EOF
	}
	row, col := s.read/each, s.read%each
	s.read++
	e.Line = s.read
	e.Src, e.Dst = Token{Int: s.ends[0].at(row, 0).whole, IsInt: true}, Token{Int: s.ends[1].at(row, col).whole, IsInt: true}
	if s.labels != nil {
		e.Labels = s.labels[row]
	}
	ok := true
	if a := s.values[roleRelation]; a != nil {
		if e.Relation, ok = s.relations.number(a.at(row, 0)); !ok {
			return s.bad(e, a, s.relations.faultOf(a.at(row, 0)))
		}
	}
	if a := s.values[roleWeight]; a != nil {
		if e.Weight, ok = validWeight(float32(a.at(row, 0).real), s.signed); !ok {
			return s.bad(e, a, "weight is not a finite number above 0 (32 bits)").ofWeight(a.at(row, 0).real)
		}
	}
	if a := s.values[roleTime]; a != nil {
		if e.Time, ok = s.Times.ofNumber(a.at(row, 0)); !ok {
			msg, _ := s.Times.wrongTime([]byte(a.at(row, 0).String()))
			return s.bad(e, a, msg)
		}
	}
	return nil
}

// bad returns the error for the value of an edge.
func (s *splitEdges) bad(e *Edge, value *tensor, msg string) *LineError {
	return &LineError{Line: e.Line, Text: fmt.Sprint(e.Src.Int, e.Dst.Int, value.at(e.Line-1, 0)), Msg: msg}
}
