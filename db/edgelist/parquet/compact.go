package parquet

import "encoding/binary"

// walker walks over a struct in Thrift's compact protocol
// (github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md). The library
// allocates what the lengths in such a struct claim, so it gets only structs whose lengths fit.
type walker struct {
	rest  []byte
	items int64 // number of items in lists and maps
	bad   bool
}

// maxNested is the maximal depth of structs and lists in each other.
const maxNested = 32

// structLength returns the length of the struct at the beginning of b, and the number of items in
// its lists. It reports false if the struct is malformed or longer than b.
func structLength(b []byte) (length int, items int64, ok bool) {
	w := walker{rest: b}
	w.structure(0)
	return len(b) - len(w.rest), w.items, !w.bad
}

func (w *walker) structure(depth int) {
	for !w.bad {
		head := w.byte()
		kind := head & 15
		if kind == 0 {
			return
		}
		if head>>4 == 0 {
			w.varint() // number of the field
		}
		if kind > 2 { // the kinds 1 and 2 are true and false
			w.value(kind, depth+1)
		}
	}
}

// value skips a value of a kind.
func (w *walker) value(kind byte, depth int) {
	if depth > maxNested {
		w.bad = true
	}
	switch kind {
	case 1, 2, 3: // bool or byte
		w.skip(1)
	case 4, 5, 6: // integer
		w.varint()
	case 7: // double
		w.skip(8)
	case 8: // bytes
		w.skip(w.varint())
	case 9, 10: // list or set
		head := w.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = w.varint()
		}
		w.list(n, depth, head&15)
	case 11: // map
		if n := w.varint(); n > 0 {
			kinds := w.byte()
			w.list(n, depth, kinds>>4, kinds&15)
		}
	case 12:
		w.structure(depth)
	case 13: // UUID
		w.skip(16)
	default:
		w.bad = true
	}
}

// list skips n groups of values of the given kinds.
func (w *walker) list(n uint64, depth int, kinds ...byte) {
	if n > uint64(len(w.rest)) { // each takes a byte at least
		w.bad = true
	}
	w.items += int64(min(n, uint64(len(w.rest))))
	for ; n > 0 && !w.bad; n-- {
		for _, k := range kinds {
			w.value(k, depth+1)
		}
	}
}

func (w *walker) byte() byte {
	if len(w.rest) == 0 {
		w.bad = true
		return 0
	}
	b := w.rest[0]
	w.rest = w.rest[1:]
	return b
}

func (w *walker) varint() uint64 {
	n, length := binary.Uvarint(w.rest)
	if length <= 0 {
		w.bad = true
		return 0
	}
	w.rest = w.rest[length:]
	return n
}

func (w *walker) skip(n uint64) {
	if n > uint64(len(w.rest)) {
		w.bad, n = true, 0
	}
	w.rest = w.rest[n:]
}
