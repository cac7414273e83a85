package spill

import (
	"cmp"
	"encoding/binary"
	"io"
	"math"

	"kith/ppr"
)

// Value is a value of a property of a node.
type Value struct {
	ID       ppr.ID
	Property uint16
	Stored   []byte
}

// before reports whether a value comes before another one in the order of properties and nodes.
func (v *Value) before(w *Value) bool {
	return cmp.Or(cmp.Compare(v.Property, w.Property), cmp.Compare(v.ID, w.ID)) < 0
}

// Values is a list of values in memory.
type Values struct {
	places []place
	spare  []place // for reuse
	stored []byte  // the length and the stored form of each value, in the order of addition
}

// place says where the stored form of a value is.
type place struct {
	id       ppr.ID
	at       uint32
	property uint16
}

// Bytes of a value in memory, besides its stored form, and of the buffer that sorts it.
const placeBytes = 2 * 12

// Bytes returns the memory of the list in bytes.
func (l *Values) Bytes() int64 { return placeBytes*int64(len(l.places)) + int64(len(l.stored)) }

// Len returns the number of values.
func (l *Values) Len() int { return len(l.places) }

// Full reports whether the list can have no more values.
func (l *Values) Full() bool { return len(l.stored) > math.MaxUint32/2 }

// Add adds a value, and copies its stored form.
func (l *Values) Add(v Value) {
	l.places = append(l.places, place{v.ID, uint32(len(l.stored)), v.Property})
	l.stored = binary.AppendUvarint(l.stored, uint64(len(v.Stored)))
	l.stored = append(l.stored, v.Stored...)
}

// Clear removes all values.
func (l *Values) Clear() { l.places, l.stored = l.places[:0], l.stored[:0] }

// Rename replaces the ids of the nodes. It returns an error for an id that to does not have.
func (l *Values) Rename(to []ppr.ID) error {
	for i := range l.places {
		p := &l.places[i]
		if int(p.id) >= len(to) {
			return Error(ErrOther)
		}
		p.id = to[p.id]
	}
	return nil
}

// digits is the number of bytes of a property and a node.
const digits = 6

// digit returns byte d of the number that the value is sorted by, the lowest first.
func (p *place) digit(d int) byte {
	return byte((uint64(p.property)<<32 | uint64(p.id)) >> (8 * d))
}

// Sort sorts the values by property and node, stably, as [RadixSort] sorts edges.
func (l *Values) Sort() {
	from := l.places
	if cap(l.spare) < len(from) {
		l.spare = make([]place, cap(from))
	}
	to := l.spare[:len(from)]
	for d := range digits {
		var start [256]int
		for i := range from {
			start[from[i].digit(d)]++
		}
		if len(from) == 0 || start[from[0].digit(d)] == len(from) {
			continue // all have the same byte here
		}
		at := 0
		for v, n := range start {
			start[v] = at
			at += n
		}
		for i := range from {
			v := from[i].digit(d)
			to[start[v]] = from[i]
			start[v]++
		}
		from, to = to, from
	}
	l.places, l.spare = from, to
}

// Read returns a function that returns the next value, and false after the last one.
func (l *Values) Read() func() (Value, bool) {
	next := 0
	return func() (v Value, ok bool) {
		if next == len(l.places) {
			return v, false
		}
		p := l.places[next]
		next++
		n, size := binary.Uvarint(l.stored[p.at:])
		begin := int(p.at) + size
		return Value{p.id, p.property, l.stored[begin : begin+int(n)]}, true
	}
}

// ValueSection is a part of a scratch file that holds values.
type ValueSection struct {
	at, size int64
	values   int
}

// WriteValues appends values to the file, or writes them over a section that has as many bytes.
func (f *File) WriteValues(l *Values, over *ValueSection) (to ValueSection, err error) {
	to = ValueSection{at: f.Size, values: l.Len()}
	if over != nil {
		to.at = over.at
	}
	out := f.Writer(to.at, WholeBuffer)
	next := l.Read()
	for v, ok := next(); ok; v, ok = next() {
		var head [4 + 2 + binary.MaxVarintLen64]byte
		b := binary.LittleEndian.AppendUint32(head[:0], v.ID)
		b = binary.LittleEndian.AppendUint16(b, v.Property)
		b = binary.AppendUvarint(b, uint64(len(v.Stored)))
		_, _ = out.Write(b) // Flush returns the error
		_, _ = out.Write(v.Stored)
		to.size += int64(len(b) + len(v.Stored))
	}
	if err := out.Flush(); err != nil {
		return to, Error(err)
	}
	f.Size = max(f.Size, to.at+to.size)
	return to, nil
}

// ReadValues returns a function that returns the next value of a section, and false after the last
// one or after an error, which it stores in readErr.
func (f *File) ReadValues(from ValueSection, buffer int, readErr *error) func() (Value, bool) {
	in, left := f.Reader(from.at, from.size, buffer), from.values
	var chunk []byte // holds the stored forms of some values
	return func() (v Value, ok bool) {
		if left == 0 {
			return v, false
		}
		left--
		var head [6]byte
		_, err := io.ReadFull(in, head[:])
		var n uint64
		if err == nil {
			n, err = binary.ReadUvarint(in)
		}
		if err == nil && int64(n) > from.size {
			err = ErrOther
		}
		if err == nil {
			if cap(chunk)-len(chunk) < int(n) {
				chunk = make([]byte, 0, max(buffer, int(n)))
			}
			begin := len(chunk)
			chunk = chunk[:begin+int(n)]
			v.Stored = chunk[begin:]
			_, err = io.ReadFull(in, v.Stored)
		}
		if err != nil {
			*readErr = Error(err)
			return v, false
		}
		v.ID, v.Property = binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint16(head[4:])
		return v, true
	}
}

// SortedValues is a list of values of any length, sorted by property and node: sorted runs in a
// scratch file, or one in memory. Of the values of a property of a node it has the last one added.
type SortedValues struct {
	Buffers int64 // bytes for reading all runs at the same time
	runs    []ValueSection
	tail    Values
}

// Take makes the list the given values, sorted in memory.
func (l *SortedValues) Take(values Values) {
	l.tail = values
	l.tail.Sort()
	l.tail.spare = nil
}

// Rewrite adds a section of a file as a run. It gives the nodes their final ids, and sorts the
// values.
func (l *SortedValues) Rewrite(f *File, run ValueSection, final []ppr.ID) error {
	var readErr error
	next := f.ReadValues(run, WholeBuffer, &readErr)
	l.tail.Clear()
	for v, ok := next(); ok; v, ok = next() {
		l.tail.Add(v)
	}
	err := cmp.Or(readErr, l.tail.Rename(final))
	if err == nil {
		l.tail.Sort()
		_, err = f.WriteValues(&l.tail, &run)
	}
	l.runs = append(l.runs, run)
	return err
}

// Forget drops the values in memory, which do not belong in the list.
func (l *SortedValues) Forget() { l.tail = Values{} }

// Reader returns a function that returns the next value, and false after the last one or after an
// error, which it stores in readErr.
func (l *SortedValues) Reader(f *File, readErr *error) func() (Value, bool) {
	if len(l.runs) == 0 {
		return lastOfEach(l.tail.Read())
	}
	var lists []func() (Value, bool)
	for _, run := range l.runs {
		lists = append(lists, f.ReadValues(run, MergeBuffer(l.Buffers, len(l.runs)), readErr))
	}
	in := NewMerger(lists, func(v, w *Value) bool { return v.before(w) })
	return lastOfEach(func() (Value, bool) {
		v, _, ok := in.Next()
		return v, ok && *readErr == nil
	})
}

// lastOfEach returns a function that returns the last one of the values of each property of a node
// that next returns.
func lastOfEach(next func() (Value, bool)) func() (Value, bool) {
	v, ok := next()
	return func() (Value, bool) {
		last, had := v, ok
		for ok {
			v, ok = next()
			if v.Property != last.Property || v.ID != last.ID {
				break
			}
			if ok {
				last = v
			}
		}
		return last, had
	}
}
