package index

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// Observations are documents of db's, in commit order. The old ones are forgotten: Meta.Forgotten says
// up to which version, and what lies there is a leftover.

// PutObservation stores an observation of the batch. It has to come before Write.
func (b *Batch) PutObservation(w Writer, doc []byte) error {
	m := &b.now.Meta
	m.Observed += int64(len(doc))
	b.observations++
	return putSplit(w, observationKey(m.Version+1, b.observations-1), doc)
}

// Observations yields the observations made after version after, in commit order.
func Observations(r Reader, after uint64) iter.Seq[Document] {
	return func(yield func(Document) bool) {
		for e, err := range scanSplit(r, []byte{prefixObservation}, observationKey(after+1, 0)) {
			d := Document{Bytes: e.Value, Err: err}
			switch {
			case err != nil:
			case len(e.Key) != 13:
				d.Err = corruptKey(e.Key)
			default:
				d.At = binary.BigEndian.Uint64(e.Key[1:])
			}
			if !yield(d) || d.Err != nil {
				return
			}
		}
	}
}

// Forget returns s without its oldest observations, as few as leave at most so many bytes of them, but
// none of those after version last. The observations of a commit go together. They are to be dropped
// when the meta record of what is returned is stored.
func (s *Snapshot) Forget(r Reader, bytes int64, last uint64) (*Snapshot, error) {
	next := *s
	m := &next.Meta
	for d := range Observations(r, m.Forgotten) {
		if d.Err != nil {
			return nil, d.Err
		}
		if d.At > last || m.Observed <= bytes && d.At > m.Forgotten {
			break
		}
		m.Forgotten = d.At
		m.Observed -= int64(len(d.Bytes))
	}
	return &next, nil
}

// DropObservations deletes the observations after version after up to version last.
func DropObservations(r Reader, w Writer, after, last uint64) error {
	return deleteRange(r, w, []byte{prefixObservation}, observationKey(after+1, 0), observationKey(last+1, 0))
}

// SalvageObservations returns every observation that s has and that can be read, and deletes those that
// cannot, each with its error in the result.
func (s *Snapshot) SalvageObservations(r Reader, w Writer) ([]Document, error) {
	var all []Document
	s.Meta.Observed = 0
	for e, err := range r.Scan([]byte{prefixObservation}, observationKey(s.Meta.Forgotten+1, 0)) {
		if err != nil {
			return nil, err
		}
		key, part, ok := splitKey(bytes.Clone(e.Key))
		if ok && part != 0 {
			continue
		}
		d := Document{Err: corruptKey(e.Key)}
		if ok && len(key) == 13 {
			d.At = binary.BigEndian.Uint64(key[1:])
			d.Bytes, _, d.Err = getSplit(r, key)
		}
		if d.Err != nil {
			if err := deleteDamaged(r, w, e.Key, len(key) == 13); err != nil {
				return nil, err
			}
		}
		s.Meta.Observed += int64(len(d.Bytes))
		all = append(all, d)
	}
	return all, nil
}
