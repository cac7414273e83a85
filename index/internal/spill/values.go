package spill

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"slices"

	"kith/ppr"
)

// Value is the stored form of the value that a node has of a property.
type Value struct {
	ID     ppr.ID
	Stored []byte
}

// Values is a list of values of a property: the node, 4 bytes, the length and the stored form of
// each, in the order of addition.
type Values struct {
	b []byte
	n int
}

// Bytes returns the memory of the list in bytes.
func (l *Values) Bytes() int { return len(l.b) }

// SortBytes returns the memory that sorting the list takes, in bytes.
func (l *Values) SortBytes() int { return 2 * placeBytes * l.n }

// Full reports whether the list can have no more values.
func (l *Values) Full() bool { return len(l.b) > math.MaxUint32/2 }

// Add adds a value.
func (l *Values) Add(v Value) {
	if size := 4 + binary.MaxVarintLen64 + len(v.Stored); cap(l.b)-len(l.b) < size {
		l.b = slices.Grow(l.b, max(size, len(l.b))) // append alone would grow a long list more often
	}
	l.b = binary.LittleEndian.AppendUint32(l.b, v.ID)
	l.b = append(binary.AppendUvarint(l.b, uint64(len(v.Stored))), v.Stored...)
	l.n++
}

// Clear removes all values.
func (l *Values) Clear() { l.b, l.n = l.b[:0], 0 }

// at returns the value at a place, and the place after it. It returns false if there is none.
func (l *Values) at(place uint32) (v Value, next uint32, ok bool) {
	b := l.b[place:]
	if len(b) < 4 {
		return v, place, false
	}
	n, size := binary.Uvarint(b[4:])
	begin := 4 + uint64(size)
	if size <= 0 || n > uint64(len(b))-begin {
		return v, place, false
	}
	end := begin + n
	return Value{binary.LittleEndian.Uint32(b), b[begin:end]}, place + uint32(end), true
}

// place says where in a list the value of a node is.
type place struct {
	id ppr.ID
	at uint32
}

const placeBytes = 8

// ValueSorter sorts lists of values. Its memory is for reuse.
type ValueSorter struct{ places, spare []place }

// sort returns the values of the list by their final ids, and of a node the last one.
func (s *ValueSorter) sort(l *Values, final []ppr.ID) ([]place, error) {
	s.places = slices.Grow(s.places[:0], l.n)
	for at := uint32(0); int(at) < len(l.b); {
		v, next, ok := l.at(at)
		if !ok || int(v.ID) >= len(final) {
			return nil, Error(ErrOther)
		}
		s.places = append(s.places, place{final[v.ID], at})
		at = next
	}
	s.places, s.spare = radixSort(s.places, s.spare, 4, func(some []place, to []uint64) {
		for i := range some {
			to[i] = uint64(some[i].id)
		}
	})
	n := 0
	for i, p := range s.places {
		if i+1 == len(s.places) || s.places[i+1].id != p.id {
			s.places[n] = p
			n++
		}
	}
	return s.places[:n], nil
}

// Sorted returns a function that returns the next one of the values of a list, by their final ids,
// and false after the last one. Of the values of a node it has the last one. The function is valid
// until the next call of Sorted.
func (s *ValueSorter) Sorted(l *Values, final []ppr.ID) (func() (Value, bool), error) {
	places, err := s.sort(l, final)
	return func() (v Value, ok bool) {
		if len(places) == 0 {
			return v, false
		}
		p := places[0]
		places = places[1:]
		v, _, ok = l.at(p.at)
		v.ID = p.id
		return v, ok
	}, err
}

// ValueSection is a part of a scratch file that holds a list of values.
type ValueSection struct {
	at, size int64
	values   int
}

// WriteValues appends a list to the file.
func (f *File) WriteValues(l *Values) (ValueSection, error) {
	to := ValueSection{f.Size, int64(len(l.b)), l.n}
	if _, err := f.WriteAt(l.b, to.at); err != nil {
		return to, Error(err)
	}
	f.Size += to.size
	return to, nil
}

// Rewrite reads a list from the file, and writes its values over it, sorted by their final ids. It
// uses the memory of l.
func (s *ValueSorter) Rewrite(f *File, from ValueSection, l *Values, final []ppr.ID) (to ValueSection, err error) {
	l.b, l.n = slices.Grow(l.b[:0], int(from.size))[:from.size], from.values
	if _, err := io.ReadFull(io.NewSectionReader(f, from.at, from.size), l.b); err != nil {
		return to, Error(err)
	}
	places, err := s.sort(l, final)
	if err != nil {
		return to, err
	}
	out := f.Writer(from.at, WholeBuffer)
	to = ValueSection{at: from.at, values: len(places)}
	for _, p := range places {
		_, end, _ := l.at(p.at) // sort has read it
		binary.LittleEndian.PutUint32(l.b[p.at:], p.id)
		_, _ = out.Write(l.b[p.at:end]) // Flush returns the error
		to.size += int64(end - p.at)
	}
	if err := out.Flush(); err != nil {
		return to, Error(err)
	}
	return to, nil
}

// MergeValues returns a function that returns the next one of the values of sorted lists, and false
// after the last one or after an error, which it stores in readErr. Of the values of a node it
// returns that of the last list. buffers is the number of bytes for reading all lists at the same
// time.
func (f *File) MergeValues(lists []ValueSection, buffers int64, readErr *error) func() (Value, bool) {
	var all []func() (Value, bool)
	for _, l := range lists {
		in := &valueReader{in: f.Reader(l.at, l.size, MergeBuffer(buffers, len(lists))), left: l.values, err: readErr}
		all = append(all, in.next)
	}
	if len(all) == 1 {
		return all[0]
	}
	in := NewMerger(all, func(v, w *Value) bool { return v.ID < w.ID })
	v, _, ok := in.Next()
	return func() (last Value, had bool) {
		last, had = v, ok
		for ok {
			if v, _, ok = in.Next(); v.ID != last.ID {
				break
			}
			if ok {
				last = v
			}
		}
		return last, had && *readErr == nil
	}
}

// valueReader reads a list of values.
type valueReader struct {
	in    *bufio.Reader
	left  int
	chunk []byte // holds the stored forms of some values
	err   *error
}

// next returns the next value. Its stored form stays valid.
func (r *valueReader) next() (v Value, ok bool) {
	if r.left == 0 {
		return v, false
	}
	r.left--
	var head [4]byte
	_, err := io.ReadFull(r.in, head[:])
	n, lenErr := binary.ReadUvarint(r.in)
	if err = cmp.Or(err, lenErr); err == nil && n > math.MaxUint32/2 {
		err = ErrOther
	}
	if err == nil {
		const chunk = 4 << 10
		if cap(r.chunk)-len(r.chunk) < int(n) {
			r.chunk = make([]byte, 0, max(chunk, int(n)))
		}
		begin := len(r.chunk)
		r.chunk = r.chunk[:begin+int(n)]
		v.Stored = r.chunk[begin:]
		_, err = io.ReadFull(r.in, v.Stored)
	}
	if err != nil {
		*r.err = Error(err)
		return v, false
	}
	v.ID = binary.LittleEndian.Uint32(head[:])
	return v, true
}
