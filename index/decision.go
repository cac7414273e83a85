package index

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
)

// Decisions are documents of package db, numbered from 1 in commit order. The end times are stored in a separate
// key range in time order, so that expired decisions are found without reading the others.

// NextDecision returns the number of a new decision.
func (b *Batch) NextDecision() uint64 {
	b.now.Meta.Decisions++
	return b.now.Meta.Decisions
}

// PutDecision stores or replaces a decision that ends at end (nanoseconds since 1970).
func PutDecision(w Writer, id uint64, end int64, doc []byte) error {
	if err := w.Set(decisionEndKey(end, id), nil); err != nil {
		return err
	}
	return putSplit(w, decisionKey(id), doc)
}

// GetDecision returns a stored decision and whether there is one.
func GetDecision(r Reader, id uint64) (doc []byte, ok bool, err error) {
	return getSplit(r, decisionKey(id))
}

// Decisions yields the stored decisions with numbers of at least from, ascending. Document.At is the number.
func Decisions(r Reader, from uint64) iter.Seq[Document] {
	return func(yield func(Document) bool) {
		for e, err := range scanSplit(r, []byte{prefixDecision}, decisionKey(from)) {
			d := Document{Bytes: e.Value, Err: err}
			switch {
			case err != nil:
			case len(e.Key) != 9:
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

// DecisionEnd is the end time of a decision.
type DecisionEnd struct {
	ID uint64
	At int64 // nanoseconds since 1970
}

// DecisionEnds yields the end times of the decisions that do not end before from, the earliest first.
func DecisionEnds(r Reader, from int64) iter.Seq2[DecisionEnd, error] {
	return func(yield func(DecisionEnd, error) bool) {
		for e, err := range r.Scan([]byte{prefixDecisionEnd}, decisionEndKey(from, 0)) {
			var end DecisionEnd
			switch {
			case err != nil:
			case len(e.Key) != 17:
				err = corruptKey(e.Key)
			default:
				end = DecisionEnd{binary.BigEndian.Uint64(e.Key[9:]), int64(binary.BigEndian.Uint64(e.Key[1:]) ^ (math.MaxInt64 + 1))}
			}
			if !yield(end, err) || err != nil {
				return
			}
		}
	}
}

// DropDecisions deletes at most limit of the decisions that ended before the time before. from must be a lower
// bound of all end times: it lets the scan skip records that were deleted earlier but remain in the store until
// compaction. DropDecisions returns the value of from for the next call.
func DropDecisions(r Reader, w Writer, from, before int64, limit int) (next int64, err error) {
	for end, err := range DecisionEnds(r, from) {
		if err != nil {
			return from, err
		}
		if end.At >= before || limit == 0 {
			return end.At, nil
		}
		limit--
		if err := deleteRange(r, w, decisionKey(end.ID), nil, nil); err != nil {
			return from, err
		}
		if err := w.Delete(bytes.Clone(decisionEndKey(end.At, end.ID))); err != nil {
			return from, err
		}
	}
	return max(from, before), nil
}

// SalvageDecisions passes every decision to read, an unreadable one with its error, and deletes those for which
// read returns an error. It rebuilds the list of end times from the results of read.
func SalvageDecisions(r Reader, w Writer, read func(Document) (end int64, err error)) error {
	ends := map[uint64]int64{}
	for e, err := range r.Scan([]byte{prefixDecision}, nil) {
		if err != nil {
			return err
		}
		key, part, ok := splitKey(bytes.Clone(e.Key))
		if ok && part != 0 {
			continue
		}
		d := Document{Err: corruptKey(e.Key)}
		if ok && len(key) == 9 {
			d.At = binary.BigEndian.Uint64(key[1:])
			d.Bytes, _, d.Err = getSplit(r, key)
		}
		if end, bad := read(d); bad == nil {
			ends[d.At] = end
		} else if err := deleteDamaged(r, w, e.Key, len(key) == 9); err != nil {
			return err
		}
	}
	return salvageEnds(r, w, ends)
}

// salvageEnds replaces the list of end times by that of the given decisions.
func salvageEnds(r Reader, w Writer, ends map[uint64]int64) error {
	if err := deleteRange(r, w, []byte{prefixDecisionEnd}, nil, nil); err != nil {
		return err
	}
	for id, end := range ends {
		if err := w.Set(decisionEndKey(end, id), nil); err != nil {
			return err
		}
	}
	return nil
}

func decisionKey(id uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{prefixDecision}, id)
}

// decisionEndKey flips the sign bit of the time, so that keys are in time order.
func decisionEndKey(at int64, id uint64) []byte {
	b := binary.BigEndian.AppendUint64([]byte{prefixDecisionEnd}, uint64(at)^(math.MaxInt64+1))
	return binary.BigEndian.AppendUint64(b, id)
}
