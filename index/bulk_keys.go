package index

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"slices"

	"kith/index/internal/block"
	"kith/index/internal/huge"
	"kith/index/internal/pages"
	"kith/index/internal/spill"
)

// runKeys is the dictionary of a run: it numbers keys in the order in which they first appear.
type runKeys struct {
	ints   intKeys
	strs   localKeys[string]
	text   int64    // number of bytes of the strings
	labels []uint16 // by number; the keys beyond have no label
}

// localKeys is a hash table with linear probing (Knuth 3, section 6.4, algorithm L), in less memory
// than a map takes, and the list of its keys too.
type localKeys[T cmp.Ordered] struct {
	keys []localKey[T]
	// slots holds the places in keys, from 1; 0 means a free slot. Their number is a power of 2,
	// and at least a third larger than the number of keys.
	slots []uint32
	seed  maphash.Seed // which results do not depend on
}

// localKey is an integer or string key with its number in a run.
type localKey[T cmp.Ordered] struct {
	key T
	id  ID
}

// slot returns the slot that has a key, or the free slot for it.
func (t *localKeys[T]) slot(key T) *uint32 {
	for i := maphash.Comparable(t.seed, key); ; i++ {
		slot := &t.slots[i&uint64(len(t.slots)-1)]
		if *slot == 0 || t.keys[*slot-1].key == key {
			return slot
		}
	}
}

// id returns the number of a key, which is next if the key is new.
func (t *localKeys[T]) id(key T, next ID) ID {
	if 4*len(t.keys) >= 3*len(t.slots) {
		t.grow()
	}
	slot := t.slot(key)
	if *slot > 0 {
		return t.keys[*slot-1].id
	}
	t.keys = append(huge.Grow(t.keys), localKey[T]{key, next})
	*slot = uint32(len(t.keys))
	return next
}

// known returns the number of a key, and whether it has one.
func (t *localKeys[T]) known(key T) (id ID, ok bool) {
	if len(t.keys) == 0 {
		return 0, false
	}
	slot := *t.slot(key)
	if slot == 0 {
		return 0, false
	}
	return t.keys[slot-1].id, true
}

// grow doubles the number of slots.
func (t *localKeys[T]) grow() {
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
	}
	const first = 1 << 4
	t.slots = huge.Make[uint32](max(first, 2*len(t.slots)))
	t.rehash()
}

// rehash puts the places of all keys into free slots.
func (t *localKeys[T]) rehash() {
	for i := range t.keys {
		*t.slot(t.keys[i].key) = uint32(i + 1)
	}
}

// clear removes all keys.
func (t *localKeys[T]) clear() {
	clear(t.keys) // which may have strings
	clear(t.slots)
	t.keys = t.keys[:0]
}

// ascending returns the keys in key order. The table must be cleared then.
func (t *localKeys[T]) ascending() []localKey[T] {
	slices.SortFunc(t.keys, func(a, b localKey[T]) int { return cmp.Compare(a.key, b.key) })
	return t.keys
}

// intKeys numbers integer keys. Most lists number nodes from 0, with few gaps: their keys are in a
// direct-address table, at most densest times as long as there are keys. Other keys are in a hash
// table.
type intKeys struct {
	direct []ID // by key: one more than its number; 0: no such key
	n      int  // number of keys in direct
	others localKeys[int64]
}

const densest = 4

func (t *intKeys) len() int { return t.n + len(t.others.keys) }

// id returns the number of a key, which is next if the key is new.
func (t *intKeys) id(key int64, next ID) ID {
	if uint64(key) >= uint64(len(t.direct)) && !t.extend(key) {
		return t.others.id(key, next)
	}
	place := &t.direct[key]
	if *place == 0 {
		*place = next + 1
		t.n++
	}
	return *place - 1
}

// known returns the number of a key, and whether it has one.
func (t *intKeys) known(key int64) (id ID, ok bool) {
	if uint64(key) >= uint64(len(t.direct)) {
		return t.others.known(key)
	}
	return t.direct[key] - 1, t.direct[key] > 0
}

// extend makes the direct-address table at least twice as long if it may be so long and may have a
// place for the key. It reports whether it did so.
func (t *intKeys) extend(key int64) bool {
	const first = 1 << 8
	n, most := 2*len(t.direct), max(densest*t.len(), first)
	if n > most || uint64(key) >= uint64(most) {
		return false
	}
	n = max(n, int(key)+1, first)
	direct := huge.Make[ID](n)
	copy(direct, t.direct)
	t.direct = direct
	o := &t.others
	o.keys = slices.DeleteFunc(o.keys, func(k localKey[int64]) bool {
		moves := uint64(k.key) < uint64(n)
		if moves {
			direct[k.key] = k.id + 1
			t.n++
		}
		return moves
	})
	clear(o.slots)
	o.rehash()
	return true
}

// clear removes all keys.
func (t *intKeys) clear() {
	clear(t.direct)
	t.n = 0
	t.others.clear()
}

// ascending yields the keys and their numbers in key order. If there are others, the table must be
// cleared then.
func (t *intKeys) ascending(yield func(key int64, id ID) bool) {
	others := t.others.ascending()
	negative, _ := slices.BinarySearchFunc(others, 0, func(k localKey[int64], zero int64) int { return cmp.Compare(k.key, zero) })
	for _, k := range others[:negative] {
		if !yield(k.key, k.id) {
			return
		}
	}
	for key, id := range t.direct {
		if id > 0 && !yield(int64(key), id-1) {
			return
		}
	}
	for _, k := range others[negative:] {
		if !yield(k.key, k.id) {
			return
		}
	}
}

func (k *runKeys) len() int { return k.ints.len() + len(k.strs.keys) }

// Memory of a key of a run until the run is written, at most: a place in keys and up to 8/3 slots,
// the rank and the label. The length of a string key comes on top.
const (
	runKeyInt = 33
	runKeyStr = 41
)

// bytes returns the memory of the keys in bytes.
func (k *runKeys) bytes() int64 {
	return runKeyInt*int64(k.ints.len()) + runKeyStr*int64(len(k.strs.keys)) + k.text
}

// id returns the number of a key. It returns an error for an invalid key.
func (k *runKeys) id(key Key) (ID, error) {
	if num, isInt := key.Int(); isInt {
		return k.ints.id(num, ID(k.len())), nil
	}
	str, _ := key.Str()
	id, known := k.strs.known(str)
	if known {
		return id, nil
	}
	if err := key.Valid(); err != nil {
		return 0, err
	}
	id = k.strs.id(str, ID(k.len()))
	k.text += int64(len(str))
	return id, nil
}

// label returns the label of a key, 0 for none.
func (k *runKeys) label(key Key) uint16 {
	var id ID
	var ok bool
	if num, isInt := key.Int(); isInt {
		id, ok = k.ints.known(num)
	} else {
		str, _ := key.Str()
		id, ok = k.strs.known(str)
	}
	if !ok || int(id) >= len(k.labels) {
		return 0
	}
	return k.labels[id]
}

// setLabel sets the label of a key unless that is 0.
func (k *runKeys) setLabel(id ID, label uint16) {
	if label == 0 {
		return
	}
	if missing := int(id) + 1 - len(k.labels); missing > 0 {
		k.labels = append(k.labels, make([]uint16, missing)...)
	}
	k.labels[id] = label
}

// clear removes all keys.
func (k *runKeys) clear() {
	k.ints.clear()
	k.strs.clear()
	k.text, k.labels = 0, k.labels[:0]
}

// labelledKey is a key with the label that it gets, or 0.
type labelledKey struct {
	Key
	label uint16
}

// ascending yields each key and its number, in key order. From then on the dictionary can only be
// read in this way, or cleared.
func (k *runKeys) ascending(yield func(key labelledKey, id ID) bool) {
	label := func(id ID) uint16 {
		if int(id) < len(k.labels) {
			return k.labels[id]
		}
		return 0
	}
	for key, id := range k.ints.ascending {
		if !yield(labelledKey{Int(key), label(id)}, id) {
			return
		}
	}
	for _, n := range k.strs.ascending() {
		if !yield(labelledKey{Str(n.key), label(n.id)}, n.id) {
			return
		}
	}
}

// keySection is a part of a scratch file that holds ascending keys.
type keySection struct {
	at, size int64
	keys     int
}

// keyWriter appends keys to a section.
type keyWriter struct {
	out  *bufio.Writer // Flush returns the errors of all writes
	to   keySection
	last int64
	b    []byte
}

// writeKeys returns a writer of the section that starts at the given offset, for about the given
// number of keys.
func writeKeys(f *spill.File, at int64, keys int) *keyWriter {
	return &keyWriter{out: f.Writer(at, min(spill.WholeBuffer, 16*keys)), to: keySection{at: at}}
}

func (w *keyWriter) add(k labelledKey) {
	w.b = binary.AppendUvarint(block.AppendKey(w.b[:0], k.Key, &w.last), uint64(k.label))
	_, _ = w.out.Write(w.b)
	w.to.size += int64(len(w.b))
	w.to.keys++
}

// finish returns the section.
func (w *keyWriter) finish() (keySection, error) {
	if err := w.out.Flush(); err != nil {
		return keySection{}, spill.Error(err)
	}
	return w.to, nil
}

// keysOf yields the keys of a section.
func keysOf(f *spill.File, from keySection) iter.Seq2[Key, error] {
	return func(yield func(Key, error) bool) {
		var err error
		next := readKeys(f, from, spill.WholeBuffer, &err)
		for k, ok := next(); ok; k, ok = next() {
			if !yield(k.Key, nil) {
				return
			}
		}
		if err != nil {
			yield(Key{}, err)
		}
	}
}

// keyReader reads the keys of a section.
type keyReader struct {
	in   *bufio.Reader
	left int
	last int64
	b    []byte
}

// readKeys returns a function that returns the next key of a section, and false after the last one
// or after an error, which it stores in readErr.
func readKeys(f *spill.File, from keySection, buffer int, readErr *error) func() (labelledKey, bool) {
	r := &keyReader{in: f.Reader(from.at, from.size, buffer), left: from.keys}
	return func() (k labelledKey, ok bool) {
		if r.left == 0 {
			return k, false
		}
		r.left--
		k, err := r.next()
		if err != nil {
			*readErr = spill.Error(err)
		}
		return k, err == nil
	}
}

// next reads a key that keyWriter.add wrote.
func (r *keyReader) next() (k labelledKey, err error) {
	if k.Key, err = block.ReadKey(r.in, &r.last, &r.b); err != nil {
		return k, err
	}
	label, err := binary.ReadUvarint(r.in)
	k.label = uint16(label)
	return k, err
}

// numbering gives the keys of a bulk load their final ids: the keys of s keep their ids, and new
// keys follow in key order.
type numbering struct {
	s       *Snapshot
	nodes   nodeRecords      // node records of the result
	counts  map[uint16]int64 // how many more nodes have a label
	revived int64            // number of deleted nodes that have edges again
	by      *pages.Owner
	any     bool
	last    Key // the previous key, if any, and its id
	lastID  ID
	fresh   func(labelledKey) // called with each new key
	// fits returns an error for a node that cannot get another label than it has; nil: every node can.
	fits  func(k Key, has, label uint16) error
	added int64
}

// id returns the id of the next key. Keys must come in ascending order; equal ones have the same
// id, and the last label that is not 0. It returns ErrTooLarge beyond MaxNodes.
func (n *numbering) id(k labelledKey) (ID, error) {
	if n.any && k.Key == n.last {
		return n.lastID, n.setLabel(n.lastID, k)
	}
	first := int64(n.s.Graph.nodes)
	id, ok := n.s.lookup(k.Key, int(first))
	if ok {
		if n.nodes.at(id).deleted {
			n.nodes.set(n.by, id, node{})
			n.revived++
		}
	} else {
		if first+n.added >= MaxNodes {
			return 0, tooManyNodes()
		}
		id = ID(first + n.added)
		n.added++
		n.fresh(k)
	}
	n.any, n.last, n.lastID = true, k.Key, id
	return id, n.setLabel(id, k)
}

// setLabel sets the label of a node unless that is 0. It returns the error of fits.
func (n *numbering) setLabel(id ID, k labelledKey) error {
	of := n.nodes.at(id)
	if k.label == 0 || of.label == k.label {
		return nil
	}
	n.nodes.set(n.by, id, node{label: k.label})
	n.counts[of.counted()]--
	n.counts[k.label]++
	if n.fits == nil {
		return nil
	}
	return n.fits(k.Key, of.label, k.label)
}
