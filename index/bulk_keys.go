package index

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"kith/index/internal/block"
	"kith/index/internal/pages"
	"kith/index/internal/spill"
)

// runKeys is the dictionary of a run: it numbers keys in the order in which they first appear.
type runKeys struct {
	ints   map[int64]ID
	strs   map[string]ID
	text   int64    // number of bytes of the strings
	labels []uint16 // by number; the keys beyond have no label

	sortedInts []localKey[int64] // for reuse
	sortedStrs []localKey[string]
}

// localKey is an integer or string key with its number in a run.
type localKey[T cmp.Ordered] struct {
	key T
	id  ID
}

func newRunKeys() runKeys { return runKeys{ints: map[int64]ID{}, strs: map[string]ID{}} }

func (k *runKeys) len() int { return len(k.ints) + len(k.strs) }

// Memory of a key of a run until the run is written: a place in a map that is at least 7/16 full, a
// place in the sorted list, the rank and the label. The length of a string key comes on top.
const (
	runKeyInt = 64
	runKeyStr = 96
)

// bytes returns the memory of the keys in bytes.
func (k *runKeys) bytes() int64 {
	return runKeyInt*int64(len(k.ints)) + runKeyStr*int64(len(k.strs)) + k.text
}

// id returns the number of a key. It returns an error for an invalid key.
func (k *runKeys) id(key Key) (ID, error) {
	id, ok := k.known(key)
	if ok {
		return id, nil
	}
	if err := key.Valid(); err != nil {
		return 0, err
	}
	id = ID(k.len())
	if num, isInt := key.Int(); isInt {
		k.ints[num] = id
	} else {
		str, _ := key.Str()
		k.strs[str] = id
		k.text += int64(len(str))
	}
	return id, nil
}

// known returns the number of a key, and whether it has one.
func (k *runKeys) known(key Key) (id ID, ok bool) {
	if num, isInt := key.Int(); isInt {
		id, ok = k.ints[num]
		return id, ok
	}
	str, _ := key.Str()
	id, ok = k.strs[str]
	return id, ok
}

// label returns the label of a key, 0 for none.
func (k *runKeys) label(key Key) uint16 {
	id, ok := k.known(key)
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
	clear(k.ints)
	clear(k.strs)
	clear(k.sortedStrs)
	k.text, k.labels = 0, k.labels[:0]
}

// labelledKey is a key with the label that it gets, or 0.
type labelledKey struct {
	Key
	label uint16
}

// ascending passes each key and its number to visit, in key order.
func (k *runKeys) ascending(visit func(key labelledKey, id ID) error) error {
	label := func(id ID) uint16 {
		if int(id) < len(k.labels) {
			return k.labels[id]
		}
		return 0
	}
	k.sortedInts = sortKeys(k.sortedInts, k.ints)
	for _, n := range k.sortedInts {
		if err := visit(labelledKey{Int(n.key), label(n.id)}, n.id); err != nil {
			return err
		}
	}
	k.sortedStrs = sortKeys(k.sortedStrs, k.strs)
	for _, n := range k.sortedStrs {
		if err := visit(labelledKey{Str(n.key), label(n.id)}, n.id); err != nil {
			return err
		}
	}
	return nil
}

// sortKeys returns the keys of a map in ascending order, in the list to if it is large enough.
func sortKeys[T cmp.Ordered](to []localKey[T], from map[T]ID) []localKey[T] {
	to = slices.Grow(to[:0], len(from))
	for key, id := range from {
		to = append(to, localKey[T]{key, id})
	}
	slices.SortFunc(to, func(a, b localKey[T]) int { return cmp.Compare(a.key, b.key) })
	return to
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
	id, ok := n.s.dict.id(k.Key)
	if ok && int64(id) < first {
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
