package block

import "slices"

// Entries are the entries of a row, or of several: the neighbours, and in two planes, which are
// slices parallel to them, the weights and the times of the edges. The zero value has no entries.
type Entries struct {
	To     []ID
	Weight []float32 // nil: every weight is 1
	Time   []int64   // nil: no edge has a time
}

// At returns the weight and the time of entry i.
func (e *Entries) At(i int) (weight float32, time int64) {
	weight = 1
	if e.Weight != nil {
		weight = e.Weight[i]
	}
	if e.Time != nil {
		time = e.Time[i]
	}
	return weight, time
}

// Sub returns the entries from lo up to but not including hi, which share memory with e.
func (e *Entries) Sub(lo, hi int) Entries {
	return Entries{e.To[lo:hi:hi], subPlane(e.Weight, lo, hi), subPlane(e.Time, lo, hi)}
}

func subPlane[T any](plane []T, lo, hi int) []T {
	if plane == nil {
		return nil
	}
	return plane[lo:hi:hi]
}

// Equal reports whether e and o have the same neighbours, weights and times.
func (e *Entries) Equal(o Entries) bool {
	if !slices.Equal(e.To, o.To) {
		return false
	}
	for i := range e.To {
		w, t := e.At(i)
		if weight, time := o.At(i); w != weight || t != time {
			return false
		}
	}
	return true
}

// Sum returns the sum of the weights, in their order.
func (e *Entries) Sum() float64 {
	if e.Weight == nil {
		return float64(len(e.To))
	}
	sum := 0.0
	for _, w := range e.Weight {
		sum += float64(w)
	}
	return sum
}

// Bytes returns the memory of e in bytes.
func (e *Entries) Bytes() int64 { return 4*int64(cap(e.To)+cap(e.Weight)) + 8*int64(cap(e.Time)) }

// Grown returns a copy of e with room for n more entries.
func (e *Entries) Grown(n int) Entries {
	n += len(e.To)
	return Entries{grown(e.To, n), grown(e.Weight, n), grown(e.Time, n)}
}

func grown[T any](plane []T, n int) []T {
	if plane == nil {
		return nil
	}
	return append(make([]T, 0, n), plane...)
}

// Append appends entries.
func (e *Entries) Append(more Entries) {
	e.Weight = appendPlane(e.Weight, len(e.To), more.Weight, len(more.To), 1)
	e.Time = appendPlane(e.Time, len(e.To), more.Time, len(more.To), 0)
	e.To = append(e.To, more.To...)
}

// appendPlane appends n values to a plane of length values. Both may be nil, which stands for
// absent values.
func appendPlane[T any](plane []T, length int, values []T, n int, absent T) []T {
	if plane == nil && values == nil {
		return nil
	}
	if plane == nil {
		plane = slices.Repeat([]T{absent}, length)
	}
	if values == nil {
		values = slices.Repeat([]T{absent}, n)
	}
	return append(plane, values...)
}

// Add appends an entry.
func (e *Entries) Add(to ID, weight float32, time int64) { e.Insert(len(e.To), to, weight, time) }

// Insert inserts an entry before entry i.
func (e *Entries) Insert(i int, to ID, weight float32, time int64) {
	e.Weight = insertInPlane(e.Weight, len(e.To), i, weight, 1)
	e.Time = insertInPlane(e.Time, len(e.To), i, time, 0)
	e.To = slices.Insert(e.To, i, to)
}

func insertInPlane[T comparable](plane []T, length, i int, v, absent T) []T {
	if plane == nil && v != absent {
		plane = slices.Repeat([]T{absent}, length)
	}
	if plane == nil {
		return nil
	}
	return slices.Insert(plane, i, v)
}

// Delete removes entry i.
func (e *Entries) Delete(i int) {
	e.To = slices.Delete(e.To, i, i+1)
	if e.Weight != nil {
		e.Weight = slices.Delete(e.Weight, i, i+1)
	}
	if e.Time != nil {
		e.Time = slices.Delete(e.Time, i, i+1)
	}
}
