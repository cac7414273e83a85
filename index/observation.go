package index

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// Observations are documents of package db, in commit order. Old observations are forgotten: those up to version
// Meta.Forgotten are leftovers.

// PutObservation stores an observation of the batch. It must be called before Write.
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

// Forget returns s without its oldest observations. It removes as few as needed to leave at most bytes bytes of
// observations, but none after version last, and keeps or removes the observations of a commit together. The caller
// should drop the removed observations once the meta record of the result is stored.
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

// DropObservations deletes the observations of the versions after after, up to and including last.
func DropObservations(r Reader, w Writer, after, last uint64) error {
	return deleteRange(r, w, []byte{prefixObservation}, observationKey(after+1, 0), observationKey(last+1, 0))
}

// SalvageObservations returns every readable observation of s. It deletes the unreadable ones and returns them with
// their errors.
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
