package index

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/vmihailenco/msgpack/v5"

	"kith/index/internal/block"
)

// An erase takes the key from a node, and everything that the present version has of it. Records of
// earlier versions may still have its key, its values, its vector and the ids of its outcomes: log
// records and change records that are kept, and observations. [Snapshot.Scrub] removes these. A
// change keeps the checksum of what it was, so that the history of the database stays the same, and
// says what is left.
//
// Other records name nodes by id, which tells nothing once the key is gone.

// StripOutcome returns an observation without the id of its outcome, and that id, if the
// observation names an erased node. Otherwise id is "".
type StripOutcome func(doc []byte, erased func(ID) bool) (stripped []byte, id string, err error)

// scrub replaces the keys of erased nodes, and removes their values. It reports whether there were
// any.
func (r *record) scrub(erased func(ID) bool) (changed bool) {
	for i, k := range r.keys {
		if id := r.first + ID(i); erased(id) && !k.Erased() {
			r.keys[i], changed = Erased(id), true
		}
	}
	n := len(r.values)
	r.values = slices.DeleteFunc(r.values, func(c valueChange) bool { return c.value.Kind() != NoValue && erased(c.id) })
	return changed || len(r.values) < n
}

// Scrub removes from a change what names erased nodes, as Snapshot.Scrub does from its records. The
// change must be from GetChange.
func (c *Change) Scrub(erased func(ID) bool, strip StripOutcome) error {
	changed := false
	for i, k := range c.Keys {
		if id := c.First + ID(i); erased(id) && !k.Erased() {
			c.Keys[i], changed = Erased(id), true
		}
	}
	values, vectors := len(c.Values), len(c.Vectors)
	c.Values = slices.DeleteFunc(c.Values, func(v ValueChange) bool { return v.Value.Kind() != NoValue && erased(v.ID) })
	c.dropVectors(erased)
	for i, doc := range c.Observed {
		stripped, id, err := strip(doc, erased)
		if err != nil {
			return err
		}
		if id != "" {
			c.Observed[i], changed = stripped, true
		}
	}
	if changed || len(c.Values) < values || len(c.Vectors) < vectors {
		c.Scrubbed = &Scrubbed{Before: c.sum}
	}
	return nil
}

// dropVectors removes the vectors of erased nodes.
func (c *Change) dropVectors(erased func(ID) bool) {
	c.Vectors = slices.DeleteFunc(c.Vectors, func(v VectorChange) bool { return len(v.Vector) > 0 && erased(v.ID) })
}

// Naming returns the versions up to that of s whose records name nodes that are erased in s,
// ascending.
func (s *Snapshot) Naming(ctx context.Context, r Reader, strip StripOutcome) ([]uint64, error) {
	found := map[uint64]bool{}
	look := func(kind byte, after uint64, names func(b []byte) (bool, error)) error {
		for v, err := range scanSplit(r, kind, makeKey(kind, after+1)) {
			if err := cmp.Or(err, v.err, ctx.Err()); err != nil {
				return err
			}
			if v.numbers[0] > s.Meta.Version {
				return nil
			}
			is, err := names(v.Value)
			if err != nil {
				return fmt.Errorf("record %c of version %d: %w", kind, v.numbers[0], err)
			}
			found[v.numbers[0]] = found[v.numbers[0]] || is
		}
		return nil
	}
	m := &s.Meta
	err := look(prefixLog, min(m.LogStart, m.Kept), func(b []byte) (bool, error) {
		r, err := decodeRecord(b)
		return err == nil && r.scrub(s.Erased), err
	})
	if err == nil {
		err = look(prefixObservation, min(m.Forgotten, m.Kept), func(b []byte) (bool, error) {
			_, id, err := strip(b, s.Erased)
			return id != "", err
		})
	}
	if err == nil {
		err = look(prefixChange, m.Kept, func(b []byte) (bool, error) {
			var c Change
			err := Unmarshal(b, &c)
			n := len(c.Vectors)
			c.dropVectors(s.Erased)
			return len(c.Vectors) < n, err
		})
	}
	if err := cmp.Or(err, s.Err()); err != nil {
		return nil, err
	}
	var all []uint64
	for version, names := range found {
		if names {
			all = append(all, version)
		}
	}
	slices.Sort(all)
	return all, nil
}

// Scrub returns s with the counters as they are when the records of the first of some versions no
// longer name erased nodes, and writes these records, about size bytes, and the meta record to w.
// rest are the versions that are left.
func (s *Snapshot) Scrub(r Reader, w Writer, versions []uint64, size int, strip StripOutcome) (next *Snapshot, rest []uint64, err error) {
	scrubbed := *s
	for size > 0 && len(versions) > 0 {
		n, err := scrubbed.scrub(r, w, versions[0], strip)
		if err != nil {
			return nil, nil, fmt.Errorf("version %d: %w", versions[0], err)
		}
		size, versions = size-n, versions[1:]
	}
	return &scrubbed, versions, scrubbed.WriteMeta(w)
}

// scrub writes the records of a version again, and counts them. It returns the bytes it wrote.
func (s *Snapshot) scrub(r Reader, w Writer, version uint64, strip StripOutcome) (size int, err error) {
	m, sum, bytes := &s.Meta, uint32(0), int64(0)
	write := func(key, value []byte) error {
		sum, bytes, size = addSum(sum, value), bytes+int64(len(value)), size+len(value)
		return rewrite(r, w, key, value)
	}
	for v, err := range versionOf(r, prefixObservation, version) {
		if err != nil {
			return 0, err
		}
		stripped, id, err := strip(v.Value, s.Erased)
		if err != nil {
			return 0, err
		}
		if id != "" {
			if version > m.Forgotten {
				m.Observed += int64(len(stripped) - len(v.Value))
			}
			v.Value = stripped
			if err := m.dropObservationID(r, w, id, version); err != nil {
				return 0, err
			}
		}
		if err := write(v.Key, v.Value); err != nil {
			return 0, err
		}
	}
	for v, err := range versionOf(r, prefixLog, version) {
		if err != nil {
			return 0, err
		}
		logged, err := decodeRecord(v.Value)
		if err != nil {
			return 0, err
		}
		logged.scrub(s.Erased)
		if err := write(v.Key, logged.encode()); err != nil {
			return 0, err
		}
	}
	if version <= m.Kept {
		return size, nil
	}
	n, err := s.scrubChange(r, w, version, sum, bytes)
	return size + n, err
}

// scrubChange writes the change record of a version again, whose other records have the given
// checksum and size now, and returns its size.
func (s *Snapshot) scrubChange(r Reader, w Writer, version uint64, sum uint32, bytes int64) (int, error) {
	whole, err := GetChange(r, version)
	if err != nil {
		return 0, err
	}
	c, before, err := getChange(r, version)
	if err != nil {
		return 0, err
	}
	c.Bytes = bytes
	c.Scrubbed = &Scrubbed{Before: whole.sum, After: addVariables(sum, c.Variables)}
	c.dropVectors(s.Erased)
	b, err := msgpack.Marshal(c)
	if err != nil {
		return 0, fmt.Errorf("index: change: %w", err)
	}
	s.Meta.KeptBytes += c.Bytes + int64(len(b)) - before
	return len(b), rewrite(r, w, makeKey(prefixChange, version), b)
}

// versionOf yields the records of a kind of a version.
func versionOf(r Reader, kind byte, version uint64) iter.Seq2[splitValue, error] {
	return func(yield func(splitValue, error) bool) {
		for v, err := range scanSplit(r, kind, makeKey(kind, version)) {
			if err = cmp.Or(err, v.err); err == nil && v.numbers[0] != version {
				return
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// rewrite stores a value in the place of another one, of which no part is left; nil deletes it.
func rewrite(r Reader, w Writer, key, value []byte) error {
	if err := deleteRange(r, w, key, nil, nil); err != nil || value == nil {
		return err
	}
	return putSplit(w, key, value)
}

// Scrubbed returns s after the records no longer name n of the erased nodes.
func (s *Snapshot) Scrubbed(n int64) *Snapshot {
	next := *s
	next.Meta.Erased -= n
	return &next
}

// keys yields the keys of the first n ids, at least those of the base, by id.
func (s *Snapshot) keys(n int) iter.Seq2[Key, error] {
	return func(yield func(Key, error) bool) {
		id := ID(0)
		for k, err := range s.dict.first(n) {
			if s.erased.At(id) {
				k = Erased(id)
			}
			if id++; !yield(k, err) {
				return
			}
		}
	}
}

// ascending yields the keys of the first n ids, at least those of the base, in key order.
func (s *Snapshot) ascending(n int) iter.Seq2[block.KeyEntry, error] {
	var erased []block.KeyEntry
	for id, is := range s.erased.All() {
		if is && int(id) < n {
			erased = append(erased, block.KeyEntry{Key: Erased(id), ID: id})
		}
	}
	slices.SortFunc(erased, func(a, b block.KeyEntry) int { return a.Compare(b.Key) })
	return mergeKeys(func(yield func(block.KeyEntry, error) bool) {
		for k, err := range s.dict.ascending(n) {
			if (err != nil || !s.erased.At(k.ID)) && !yield(k, err) {
				return
			}
		}
	}, withoutErrors(erased))
}
