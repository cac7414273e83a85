package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
)

// Salvage reads all readable records of the latest version. It returns each violation found as ErrCorrupt with its
// place. The snapshot is sound and contains nothing that was never committed: a node whose key is lost is deleted,
// with its edges. If the meta record is lost or outdated, it is derived from the base and the log. If that is not
// possible, Salvage returns no snapshot.
func Salvage(r Reader) (*Snapshot, []error) {
	v := &salvager{opener: opener{ctx: context.Background(), r: r, by: new(owner)}}
	for _, step := range []func() error{v.meta, v.log, v.derive, v.dictionary, v.nodes, v.adjacency, v.events, v.features} {
		if err := step(); err != nil {
			return nil, append(v.found, err)
		}
	}
	v.redo()
	v.dropMaybeDeleted()
	v.dropLost()
	v.reconcile()
	return v.s, v.found
}

// salvager is an opener that continues after records that it cannot read.
type salvager struct {
	opener
	found        []error
	records      []logged  // records after version Meta.LogStart
	derived      bool      // the meta record was lost or outdated
	damaged      bool      // a block of the base was lost
	lost         []idRange // ids whose keys are lost
	maybeDeleted []idRange // ids that may have been deleted
}

// logged is a record of the log, nil if it cannot be read.
type logged struct {
	version uint64
	*record
}

// idRange is the range of ids from first up to but not including end.
type idRange struct{ first, end ID }

func (v *salvager) report(format string, args ...any) {
	v.found = append(v.found, fmt.Errorf(format, args...))
}

// meta reads the newest of the meta record and its copies for the generations.
func (v *salvager) meta() error {
	m, err := readMeta(v.r, metaKey())
	if err == nil && m == nil {
		err = fmt.Errorf("%w: it is missing", ErrCorrupt)
	}
	if err != nil {
		v.report("meta: %w", err)
		v.derived = true
	}
	for e, err := range scanSalvage(v.r, prefixBase, 5, nil) {
		if err != nil {
			return err
		}
		base, err := decodeMeta(e.Value)
		if e.err != nil || err != nil || m != nil && base.Version <= m.Version {
			continue // the copy of the present generation is checked below
		}
		if m != nil && !v.derived {
			v.report("%w: the meta record is that of version %d, a later generation has version %d", ErrCorrupt, m.Version, base.Version)
		}
		m, v.derived = &base, true
	}
	if m == nil {
		return fmt.Errorf("%w: no meta record can be read", ErrCorrupt)
	}
	v.s = New(*m)
	v.s.Meta = *m
	if err := v.baseMeta(); err != nil && !v.derived {
		v.report("%w", err)
	}
	return nil
}

// log reads the records of the log, including those before the base, and reports missing ones.
func (v *salvager) log() error {
	m, last := &v.s.Meta, uint64(0)
	for e, err := range scanSalvage(v.r, prefixLog, 9, logKey(m.LogStart+1)) {
		if err != nil {
			return err
		}
		if len(e.Key) != 9 {
			v.report("%w", e.err)
			continue
		}
		l := logged{version: binary.BigEndian.Uint64(e.Key[1:])}
		if e.err == nil {
			l.record, e.err = decodeRecord(e.Value)
		}
		if e.err != nil {
			l.record = nil
			v.report("log of version %d: what that commit did is lost: %w", l.version, e.err)
		}
		if l.record != nil && !l.follows(last, m.LogStart) {
			v.report("%w: log: what the commits after version %d up to version %d did is lost", ErrCorrupt, max(last, m.LogStart), l.prev)
		}
		v.records = append(v.records, l)
		last = l.version
	}
	if last < m.LogEnd && m.LogEnd > m.LogStart {
		v.report("%w: log: what the commits after version %d up to version %d did is lost", ErrCorrupt, max(last, m.LogStart), m.LogEnd)
	}
	return nil
}

// derive updates an outdated meta record to the newest version that any record mentions. Labels created since are
// unknown.
func (v *salvager) derive() error {
	m := &v.s.Meta
	for _, l := range v.records {
		if l.version > m.LogEnd && !v.derived {
			v.report("%w: the meta record is that of version %d, the log goes on", ErrCorrupt, m.Version)
			v.derived = true
		}
		m.LogEnd = max(m.LogEnd, l.version)
		if l.record != nil {
			m.Nodes = max(m.Nodes, int64(l.first)+int64(len(l.keys)))
		}
	}
	m.Version = max(m.Version, m.LogEnd)
	if m.Nodes > maxEntries {
		return fmt.Errorf("%w: %d nodes", ErrCorrupt, m.Nodes)
	}
	version, decisions := m.Version, m.Decisions
	for e, err := range scanSplit(v.r, []byte{prefixModel}, nil) {
		if err != nil {
			break // reported with the models
		}
		if entry, ok := decodeModelEntry(e.Value); ok {
			m.Version = max(m.Version, entry.At)
		}
	}
	observed, err := lastNumber(v.r, prefixObservation)
	if err != nil {
		return err
	}
	decided, err := lastNumber(v.r, prefixDecision)
	m.Version, m.Decisions = max(m.Version, observed), max(m.Decisions, decided)
	if !v.derived && (m.Version > version || m.Decisions > decisions) {
		v.report("%w: the meta record is that of version %d with %d decisions, there is version %d and decision %d",
			ErrCorrupt, version, decisions, m.Version, m.Decisions)
		v.derived = true
	}
	return err
}

// lastNumber returns the greatest number after the prefix in the keys of a kind, or 0 if there are no keys.
func lastNumber(r Reader, prefix byte) (last uint64, err error) {
	for e, err := range r.Scan([]byte{prefix}, nil) {
		if err != nil {
			return 0, err
		}
		if len(e.Key) >= 9 {
			last = binary.BigEndian.Uint64(e.Key[1:])
		}
	}
	return last, nil
}

// Restart writes to w all records of s except those of WriteBase, at the same version, under a generation number
// that was never used. The log begins with the next version. States and damaged feature blocks are deleted.
func (s *Snapshot) Restart(r Reader, w Writer, generation uint32) (*Snapshot, error) {
	next := *s
	m := &next.Meta
	m.Generation, m.Base, m.LogStart = generation, m.Version, m.Version
	m.BaseNodes, m.BaseEdges, m.BaseEvents = m.Nodes, m.Edges, int64(len(s.Events.All()))
	if err := deleteRange(r, w, []byte{prefixState}, nil, nil); err != nil {
		return nil, err
	}
	if err := s.restartFeatures(r, w); err != nil {
		return nil, err
	}
	return &next, s.WriteGeneration(w, generation)
}

// restartFeatures writes the blocks of feature vectors of s and deletes all others.
func (s *Snapshot) restartFeatures(r Reader, w Writer) error {
	blocks := map[uint32]bool{}
	for id, x := range s.features.all() {
		if x != nil {
			blocks[id/featureBlock] = true
		}
	}
	for e, err := range r.Scan([]byte{prefixFeature}, nil) {
		if err != nil {
			return err
		}
		if key, _, ok := splitKey(e.Key); ok && len(key) == 5 && blocks[binary.BigEndian.Uint32(key[1:])] {
			continue
		}
		if err := w.Delete(bytes.Clone(e.Key)); err != nil {
			return err
		}
	}
	for no := range blocks {
		if err := s.writeFeatures(w, no); err != nil {
			return err
		}
	}
	return nil
}
