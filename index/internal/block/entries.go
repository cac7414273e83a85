package block

import (
	"slices"
)

// Entries are the entries of a row, or of several: the neighbours, and in three planes, which are
// slices parallel to them, the relations, the weights and the times of the edges. The zero value
// has no entries.
//
// The entries of a row ascend strictly by neighbour and relation. A row that is joined has one
// entry for each neighbour, for the edges of all relations together, and no plane of relations.
type Entries struct {
	To       []ID
	Relation []uint16  // nil: every edge has the relation 0
	Weight   []float32 // nil: every weight is 1
	Time     []int64   // nil: no edge has a time
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

// RelationAt returns the relation of entry i.
func (e *Entries) RelationAt(i int) uint16 {
	if e.Relation == nil {
		return 0
	}
	return e.Relation[i]
}

// Find returns the index of the entry of a neighbour and a relation in a row, and whether the row
// has it. Otherwise the index is the place where it belongs.
func (e *Entries) Find(to ID, relation uint16) (int, bool) {
	i, found := slices.BinarySearch(e.To, to)
	if found && e.Relation == nil && relation > 0 {
		return i + 1, false
	}
	if !found || e.Relation == nil {
		return i, found
	}
	for ; i < len(e.To) && e.To[i] == to; i++ {
		if r := e.Relation[i]; r >= relation {
			return i, r == relation
		}
	}
	return i, false
}

// Sub returns the entries from lo up to but not including hi, which share memory with e.
func (e *Entries) Sub(lo, hi int) Entries {
	return Entries{e.To[lo:hi:hi], subPlane(e.Relation, lo, hi), subPlane(e.Weight, lo, hi), subPlane(e.Time, lo, hi)}
}

func subPlane[T any](plane []T, lo, hi int) []T {
	if plane == nil {
		return nil
	}
	return plane[lo:hi:hi]
}

// Equal reports whether e and o have the same neighbours, relations, weights and times.
func (e *Entries) Equal(o Entries) bool {
	if !slices.Equal(e.To, o.To) {
		return false
	}
	for i := range e.To {
		w, t := e.At(i)
		if weight, time := o.At(i); w != weight || t != time || e.RelationAt(i) != o.RelationAt(i) {
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
func (e *Entries) Bytes() int64 {
	return 4*int64(cap(e.To)+cap(e.Weight)) + 2*int64(cap(e.Relation)) + 8*int64(cap(e.Time))
}

// Grown returns a copy of e with room for n more entries.
func (e *Entries) Grown(n int) Entries {
	n += len(e.To)
	return Entries{grown(e.To, n), grown(e.Relation, n), grown(e.Weight, n), grown(e.Time, n)}
}

func grown[T any](plane []T, n int) []T {
	if plane == nil {
		return nil
	}
	return append(make([]T, 0, n), plane...)
}

// Append appends entries.
func (e *Entries) Append(more Entries) {
	size := len(e.To)
	e.To = append(e.To, more.To...)
	e.Relation = appendPlane(e.Relation, e.To[:size], more.Relation, len(more.To), 0)
	e.Weight = appendPlane(e.Weight, e.To[:size], more.Weight, len(more.To), 1)
	e.Time = appendPlane(e.Time, e.To[:size], more.Time, len(more.To), 0)
}

// appendPlane appends n values to the plane of some entries. Both may be nil, which stands for
// absent values.
func appendPlane[T any](plane []T, to []ID, values []T, n int, absent T) []T {
	if plane == nil && values == nil {
		return nil
	}
	plane = inFull(plane, to, absent)
	if values != nil {
		return append(plane, values...)
	}
	plane = slices.Grow(plane, n)
	for range n {
		plane = append(plane, absent)
	}
	return plane
}

// inFull returns the plane of some entries, with the capacity of to if it is nil, which stands for
// absent values.
func inFull[T any](plane []T, to []ID, absent T) []T {
	if plane == nil {
		plane = make([]T, len(to), cap(to))
		for i := range plane {
			plane[i] = absent
		}
	}
	return plane
}

// Add appends an entry.
func (e *Entries) Add(to ID, relation uint16, weight float32, time int64) {
	e.Relation = addToPlane(e.Relation, e.To, relation, 0)
	e.Weight = addToPlane(e.Weight, e.To, weight, 1)
	e.Time = addToPlane(e.Time, e.To, time, 0)
	e.To = append(e.To, to)
}

func addToPlane[T comparable](plane []T, to []ID, v, absent T) []T {
	if plane == nil {
		if v == absent {
			return nil
		}
		plane = inFull(plane, to, absent)
	}
	return append(plane, v)
}

// Insert inserts an entry before entry i.
func (e *Entries) Insert(i int, to ID, relation uint16, weight float32, time int64) {
	e.Relation = insertInPlane(e.Relation, len(e.To), i, relation, 0)
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
	e.Relation = deleteFromPlane(e.Relation, i)
	e.Weight = deleteFromPlane(e.Weight, i)
	e.Time = deleteFromPlane(e.Time, i)
}

func deleteFromPlane[T any](plane []T, i int) []T {
	if plane == nil {
		return nil
	}
	return slices.Delete(plane, i, i+1)
}

// Joined returns the joined row of a row: its entries if it has no plane of relations. An entry of
// the result has the sum of the weights of the edges to its neighbour, at most MaxWeight, and their
// latest time. If the row has no parallel edges, the result shares memory with e.
func (e *Entries) Joined() Entries {
	if e.Relation == nil || !repeats(e.To) {
		joined := *e
		joined.Relation = nil
		return joined
	}
	all := Entries{To: make([]ID, 0, len(e.To)), Weight: make([]float32, 0, len(e.To))}
	if e.Time != nil {
		all.Time = make([]int64, 0, len(e.To))
	}
	all.AppendJoined(*e)
	return all
}

// AppendJoined appends the joined row of a row to joined rows.
func (e *Entries) AppendJoined(row Entries) {
	if row.Relation == nil || !repeats(row.To) {
		row.Relation = nil
		e.Append(row)
		return
	}
	e.Weight = inFull(e.Weight, e.To, 1)
	if row.Weight == nil && row.Time == nil && e.Time == nil {
		e.appendCounted(row.To)
		return
	}
	if row.Time != nil || e.Time != nil {
		e.Time = inFull(e.Time, e.To, 0)
	}
	for lo := 0; lo < len(row.To); {
		hi := lo + 1
		for hi < len(row.To) && row.To[hi] == row.To[lo] {
			hi++
		}
		weight, time := row.At(lo)
		if hi > lo+1 {
			var edges Joiner
			for i := lo; i < hi; i++ {
				edges.Add(row.At(i))
			}
			weight, time = edges.Weight(), edges.Time
		}
		e.To, e.Weight = append(e.To, row.To[lo]), append(e.Weight, weight)
		if e.Time != nil {
			e.Time = append(e.Time, time)
		}
		lo = hi
	}
}

// appendCounted appends neighbours, which repeat and ascend, to joined rows. Each has as many edges
// of weight 1 as it has places. The loop has no branch, which would be mispredicted at each
// repetition.
func (e *Entries) appendCounted(neighbours []ID) {
	begin := len(e.To)
	to := slices.Grow(e.To, len(neighbours))[:begin+len(neighbours)]
	weight := slices.Grow(e.Weight, len(neighbours))[:len(to)]
	clear(weight[begin:])
	at, last := begin, neighbours[0]
	for _, v := range neighbours {
		next := at + 1
		if v == last {
			next = at
		}
		at, last = next, v
		to[at] = v
		weight[at]++
	}
	e.To, e.Weight = to[:at+1], weight[:at+1]
}

// Merged returns the joined row of the edges of two joined rows.
func (e *Entries) Merged(o Entries) Entries {
	if len(o.To) == 0 {
		return *e
	}
	if len(e.To) == 0 {
		return o
	}
	size := len(e.To) + len(o.To)
	all := Entries{To: make([]ID, 0, size)}
	if e.Weight != nil || o.Weight != nil {
		all.Weight = make([]float32, 0, size)
	}
	if e.Time != nil || o.Time != nil {
		all.Time = make([]int64, 0, size)
	}
	i, j := 0, 0
	for i < len(e.To) && j < len(o.To) {
		switch a, b := e.To[i], o.To[j]; {
		case a < b:
			all.addFrom(e, i)
			i++
		case b < a:
			all.addFrom(&o, j)
			j++
		default:
			var edges Joiner
			edges.Add(e.At(i))
			edges.Add(o.At(j))
			all.Weight = append(inFull(all.Weight, all.To, 1), edges.Weight())
			if all.Time != nil {
				all.Time = append(all.Time, edges.Time)
			}
			all.To = append(all.To, a)
			i, j = i+1, j+1
		}
	}
	all.Append(e.Sub(i, len(e.To)))
	all.Append(o.Sub(j, len(o.To)))
	return all
}

// addFrom appends entry i of o without its relation. e has the planes that it will have.
func (e *Entries) addFrom(o *Entries, i int) {
	e.To = append(e.To, o.To[i])
	if e.Weight == nil && e.Time == nil {
		return
	}
	weight, time := o.At(i)
	if e.Weight != nil {
		e.Weight = append(e.Weight, weight)
	}
	if e.Time != nil {
		e.Time = append(e.Time, time)
	}
}

// repeats reports whether a list of neighbours, ascending, has one of them twice.
func repeats(to []ID) bool {
	for i := 1; i < len(to); i++ {
		if to[i] == to[i-1] {
			return true
		}
	}
	return false
}

// Of returns entries that have no plane of relations with a relation, which they share memory with.
func (e *Entries) Of(relation uint16) Entries {
	of := *e
	if relation != 0 {
		of.Relation = slices.Repeat([]uint16{relation}, len(e.To))
	}
	return of
}

// Scaled returns a weight multiplied by a factor, within the bounds of weights.
func Scaled(weight, factor float32) float32 { return min(max(weight*factor, MinWeight), MaxWeight) }

// Scaled returns the entries with their weights multiplied by a factor.
func (e *Entries) Scaled(factor float32) Entries {
	scaled := *e
	scaled.Weight = make([]float32, len(e.To))
	for i := range e.To {
		weight, _ := e.At(i)
		scaled.Weight[i] = Scaled(weight, factor)
	}
	return scaled
}

// Relations returns the relations of the entries, ascending and without repetitions.
func (e *Entries) Relations() []uint16 {
	if e.Relation == nil {
		return make([]uint16, min(1, len(e.To)))
	}
	all := slices.Clone(e.Relation)
	slices.Sort(all)
	return slices.Compact(all)
}

// Between returns the entries of a neighbour in a row.
func (e *Entries) Between(to ID) Entries {
	lo, ok := slices.BinarySearch(e.To, to)
	if !ok {
		return Entries{}
	}
	hi := lo + 1
	for hi < len(e.To) && e.To[hi] == to {
		hi++
	}
	return e.Sub(lo, hi)
}

// Sort sorts the entries by neighbour and relation. It replaces the planes. Entries of the same
// neighbour must ascend by relation already.
func (e *Entries) Sort() {
	order := make([]uint64, len(e.To))
	for i, to := range e.To {
		order[i] = uint64(to)<<32 | uint64(i)
	}
	slices.Sort(order)
	empty := e.Sub(0, 0)
	sorted := empty.Grown(len(e.To))
	for _, o := range order {
		i := int(uint32(o))
		weight, time := e.At(i)
		sorted.Add(e.To[i], e.RelationAt(i), weight, time)
	}
	*e = sorted
}

// Sorter sorts the entries of rows by relation. It counts the entries of each relation, so that a
// row takes time linear in its entries. The zero value is ready to use.
type Sorter struct {
	place []int // of the next entry, by relation; 0 for one that the row does not have
	has   []uint16
}

// Append appends the entries of a row to e by relation, and by neighbour within each, and passes
// the relations to segment, with the end of their entries in e. e gets no plane of relations.
func (s *Sorter) Append(e *Entries, row Entries, segment func(relation uint16, end int)) {
	if row.Relation == nil {
		if e.Append(row); len(row.To) > 0 {
			segment(0, len(e.To))
		}
		return
	}
	for _, r := range row.Relation {
		if int(r) >= len(s.place) {
			s.place = append(s.place, make([]int, int(r)+1-len(s.place))...)
		}
		if s.place[r] == 0 {
			s.has = append(s.has, r)
		}
		s.place[r]++
	}
	slices.Sort(s.has)
	begin := len(e.To)
	end := begin
	for _, r := range s.has {
		s.place[r], end = end, end+s.place[r]
		segment(r, end)
	}
	relation := row.Relation
	row.Relation = nil
	e.Append(row) // for its length: the entries are written again in their places
	for i, r := range relation {
		p := s.place[r]
		s.place[r]++
		e.To[p] = row.To[i]
		if row.Weight != nil {
			e.Weight[p] = row.Weight[i]
		}
		if row.Time != nil {
			e.Time[p] = row.Time[i]
		}
	}
	for _, r := range s.has {
		s.place[r] = 0
	}
	s.has = s.has[:0]
}

// Count returns the number of entries of a relation.
func (e *Entries) Count(relation uint16) (n int) {
	if e.Relation == nil && relation == 0 {
		return len(e.To)
	}
	for _, r := range e.Relation {
		if r == relation {
			n++
		}
	}
	return n
}

// Only returns the entries of a relation, without the plane of relations.
func (e *Entries) Only(relation uint16) Entries {
	if e.Relation == nil {
		if relation == 0 {
			return *e
		}
		return Entries{}
	}
	n := e.Count(relation)
	only := Entries{To: make([]ID, 0, n)}
	if e.Weight != nil {
		only.Weight = make([]float32, 0, n)
	}
	if e.Time != nil {
		only.Time = make([]int64, 0, n)
	}
	for i, r := range e.Relation {
		if r == relation {
			only.addFrom(e, i)
		}
	}
	return only
}

// Joiner joins the edges of several relations between two nodes.
type Joiner struct {
	Time int64 // latest time of the edges; 0: none has a time
	sum  float64
}

// Add adds an edge.
func (j *Joiner) Add(weight float32, time int64) {
	j.sum += float64(weight)
	if j.Time == 0 || time != 0 && time > j.Time {
		j.Time = time
	}
}

// Weight returns the sum of the weights, at most MaxWeight.
func (j *Joiner) Weight() float32 { return float32(min(j.sum, MaxWeight)) }
