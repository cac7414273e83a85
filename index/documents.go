package index

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"

	"kith/index/internal/block"
)

// Models are documents of package db; this file stores them.
//
// A model's document may be longer than a transaction can be. It is therefore written beforehand,
// under a serial number, in as many transactions as needed, and becomes valid with the commit that
// names it. Documents that are not named are leftovers.

// Document is a stored document, or the error of reading it.
type Document struct {
	Bytes []byte
	// At is the version that a model has learned up to, the version that an observation made, or
	// the number of a decision.
	At    uint64
	Err   error
	Entry ModelEntry // models only

	stored splitValue
}

// ModelEntry lists the valid documents of a model.
type ModelEntry struct {
	Serial uint64 // serial number of the document of the deployed model
	// At is the version of the graph up to which the deployed model has learned the observations.
	At   uint64
	Kept []uint64 // serial numbers of other documents to keep
	Note []byte   // further data of package db about the model
}

// encode returns the serial and at, 8 bytes each. If there are other documents or a note, their
// number (4 bytes), their serials and the note follow.
func (e *ModelEntry) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, e.Serial)
	b = binary.BigEndian.AppendUint64(b, e.At)
	if len(e.Kept) == 0 && len(e.Note) == 0 {
		return b
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(e.Kept)))
	for _, serial := range e.Kept {
		b = binary.BigEndian.AppendUint64(b, serial)
	}
	return append(b, e.Note...)
}

func decodeModelEntry(b []byte) (e ModelEntry, err error) {
	d := &block.Decoder{B: b}
	e.Serial, e.At = d.Uint64(), d.Uint64()
	if len(d.B) == 0 {
		return e, d.Err
	}
	for n := d.Uint32(); n > 0 && d.Err == nil; n-- {
		e.Kept = append(e.Kept, d.Uint64())
	}
	if len(d.B) > 0 {
		e.Note = bytes.Clone(d.B)
	}
	return e, d.Err
}

// WriteDocument writes a document of a model to w, under a serial number that the model has never
// used.
func WriteDocument(w Writer, model string, serial uint64, doc []byte) error {
	return putParts(w, documentKey(model, serial), doc, max(documentPart, len(doc)/maxDocumentParts))
}

// The parts of a document are small, because [OpenDocument] reads whole parts. A long document has
// fewer parts than can be numbered.
const (
	documentPart     = 8 << 10
	maxDocumentParts = 1 << 15
)

// OpenDocument returns a reader of a document of a model with a serial number, or ErrCorrupt if it
// is missing. The reader reads parts of the document when they are asked for, without the checksum
// of the whole, and may be used by several goroutines at once.
func OpenDocument(s Source, model string, serial uint64) (*io.SectionReader, error) {
	r, ok, err := openSplit(s, documentKey(model, serial))
	if err == nil && !ok {
		err = missingDocument(serial)
	}
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(r, 0, int64(r.size)), nil
}

func missingDocument(serial uint64) error {
	return fmt.Errorf("%w: document %d is missing", ErrCorrupt, serial)
}

// PutModel stores the entry of a model, which makes the documents it names valid.
func PutModel(w Writer, model string, e ModelEntry) error {
	return putSplit(w, nameKey(prefixModel, model), e.encode())
}

// GetDocument returns the document of a model with a serial number, or ErrCorrupt if it is missing.
func GetDocument(r Reader, model string, serial uint64) ([]byte, error) {
	doc, ok, err := getSplit(r, documentKey(model, serial))
	if err == nil && !ok {
		err = missingDocument(serial)
	}
	return doc, err
}

// DeleteModel deletes a model; its document becomes a leftover.
func DeleteModel(r Reader, w Writer, model string) error {
	return deleteRange(r, w, nameKey(prefixModel, model), nil, nil)
}

// Models yields all models with their documents. For a damaged model it yields the name and
// ErrCorrupt.
func Models(r Reader) iter.Seq2[string, Document] {
	return func(yield func(string, Document) bool) {
		for name, d := range modelEntries(r) {
			if d.Err == nil {
				d.Bytes, d.Err = GetDocument(r, name, d.Entry.Serial)
			}
			if !yield(name, d) {
				return
			}
		}
	}
}

// modelEntries is like Models, but does not read the documents.
func modelEntries(r Reader) iter.Seq2[string, Document] {
	return func(yield func(string, Document) bool) {
		for v, err := range scanSplit(r, prefixModel, nil) {
			name, d := "", Document{Err: cmp.Or(err, v.err)}
			switch n := len(v.Key) - 1; {
			case n > 1 && v.Key[n] == 0:
				name = string(v.Key[1:n])
			case d.Err == nil:
				d.Err = corruptKey(v.Key)
			}
			if d.Err == nil {
				d.Entry, d.Err = decodeModelEntry(v.Value)
				d.At = d.Entry.At
			}
			if !yield(name, d) {
				return
			}
		}
	}
}

// DropDocuments deletes the documents that neither a model nor a change of a model names.
func DropDocuments(r Reader, w Writer) error {
	named := map[string]bool{}
	for name, model := range modelEntries(r) {
		if model.Err != nil {
			return model.Err
		}
		for _, serial := range append(model.Entry.Kept, model.Entry.Serial) {
			named[string(documentKey(name, serial))] = true
		}
	}
	if err := documentsOfChanges(r, named); err != nil {
		return err
	}
	for e, err := range r.Scan([]byte{prefixDocument}, nil) {
		if err != nil {
			return err
		}
		key, _, ok := splitKey(e.Key)
		if !ok {
			return corruptKey(e.Key)
		}
		if named[string(key)] {
			continue
		}
		if err := w.Delete(bytes.Clone(e.Key)); err != nil {
			return err
		}
	}
	return nil
}

// Observations are documents of package db, in commit order. Old observations are forgotten: those
// up to version Meta.Forgotten are leftovers.

// PutObservation stores an observation of the batch, and its id unless that is "". It must be
// called before Write.
func (b *Batch) PutObservation(w Writer, id string, doc []byte) error {
	m := &b.now.Meta
	if id != "" {
		if err := PutObservationID(w, id, m.Version+1); err != nil {
			return err
		}
	}
	m.Observed += int64(len(doc))
	b.observations++
	b.observationBytes += int64(len(doc))
	b.sum = addSum(b.sum, doc)
	return putSplit(w, makeKey(prefixObservation, m.Version+1, b.observations-1), doc)
}

// Observations yields the observations made after version after, in commit order.
func Observations(r Reader, after uint64) iter.Seq[Document] {
	return numbered(r, prefixObservation, makeKey(prefixObservation, after+1))
}

// outcomeKey returns the key of the record of an id: the beginning of its SHA-256, so that ids of
// any length take as much space.
func outcomeKey(id string) []byte {
	h := sha256.Sum256([]byte(id))
	return append([]byte{prefixOutcome}, h[:16]...)
}

// PutObservationID records that the commit of a version made the observation with an id.
func PutObservationID(w Writer, id string, version uint64) error {
	return putSplit(w, outcomeKey(id), binary.BigEndian.AppendUint64(nil, version))
}

// ObservationVersion returns the version that made the observation with an id, or 0 if there was
// none or it is forgotten.
func (m *Meta) ObservationVersion(r Reader, id string) (version uint64, err error) {
	b, ok, err := getSplit(r, outcomeKey(id))
	if err != nil || !ok {
		return 0, err
	}
	if version, err = outcomeVersion(b); err != nil || version <= m.Forgotten {
		return 0, err
	}
	return version, nil
}

// dropObservationID deletes an id if the commit of a version made the observation with it.
func (m *Meta) dropObservationID(r Reader, w Writer, id string, version uint64) error {
	if known, err := m.ObservationVersion(r, id); known != version || err != nil {
		return err
	}
	return deleteRange(r, w, outcomeKey(id), nil, nil)
}

// outcomeVersion decodes the record of an id.
func outcomeVersion(b []byte) (uint64, error) {
	d := &block.Decoder{B: b}
	version := d.Uint64()
	return version, d.Err
}

// DropObservationIDs deletes the ids of forgotten observations. It reads all ids.
func (m *Meta) DropObservationIDs(r Reader, w Writer) error {
	for v, err := range scanSplit(r, prefixOutcome, nil) {
		if err = cmp.Or(err, v.err); err != nil {
			return err
		}
		version, err := outcomeVersion(v.Value)
		if err == nil && version <= m.Forgotten {
			err = v.delete(r, w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// DeleteObservationIDs deletes the ids of all observations.
func DeleteObservationIDs(r Reader, w Writer) error {
	return deleteRange(r, w, []byte{prefixOutcome}, nil, nil)
}

// numbered yields the documents of a kind in key order, starting at the key from. Document.At is
// the first number of the key. A damaged document is yielded with its error.
func numbered(r Reader, kind byte, from []byte) iter.Seq[Document] {
	return func(yield func(Document) bool) {
		for v, err := range scanSplit(r, kind, from) {
			d := Document{Bytes: v.Value, Err: cmp.Or(err, v.err), stored: v}
			if !v.wrongKey && err == nil {
				d.At = v.numbers[0]
			}
			if !yield(d) {
				return
			}
		}
	}
}

// salvageNumbered passes each of the documents, an unreadable one with its error, to keep, and
// deletes those for which keep returns false.
func salvageNumbered(r Reader, w Writer, documents iter.Seq[Document], keep func(Document) bool) error {
	for d := range documents {
		if d.stored.Key == nil {
			return d.Err // the store cannot be read
		}
		if !keep(d) {
			if err := d.stored.delete(r, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// Forget returns s without its oldest observations. It removes as few as needed to leave at most
// bytes bytes of observations, but none after version last, and keeps or removes the observations
// of a commit together. The caller should drop the removed observations once the meta record of the
// result is stored.
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

// SalvageObservations returns every readable observation of s. It deletes the unreadable ones and
// returns them with their errors.
func (s *Snapshot) SalvageObservations(r Reader, w Writer) (all []Document, err error) {
	s.Meta.Observed = 0
	err = salvageNumbered(r, w, Observations(r, s.Meta.Forgotten), func(d Document) bool {
		s.Meta.Observed += int64(len(d.Bytes))
		all = append(all, d)
		return d.Err == nil
	})
	return all, err
}

// Decisions are documents of package db, numbered from 1 in commit order. The end times are stored
// in a separate key range in time order, so that expired decisions are found without reading the
// rest.

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
	return putSplit(w, makeKey(prefixDecision, id), doc)
}

// GetDecision returns a stored decision and whether there is one.
func GetDecision(r Reader, id uint64) (doc []byte, ok bool, err error) {
	return getSplit(r, makeKey(prefixDecision, id))
}

// Decisions yields the stored decisions with numbers of at least from, ascending. Document.At is
// the number.
func Decisions(r Reader, from uint64) iter.Seq[Document] {
	return numbered(r, prefixDecision, makeKey(prefixDecision, from))
}

// DecisionEnd is the end time of a decision.
type DecisionEnd struct {
	ID uint64
	At int64 // nanoseconds since 1970
}

// DecisionEnds yields the end times of the decisions that do not end before from, the earliest
// first.
func DecisionEnds(r Reader, from int64) iter.Seq2[DecisionEnd, error] {
	return func(yield func(DecisionEnd, error) bool) {
		for e, err := range r.Scan([]byte{prefixDecisionEnd}, decisionEndKey(from, 0)) {
			var end DecisionEnd
			if n, ok := keyNumbers(e.Key); ok {
				end = DecisionEnd{n[1], int64(n[0] ^ (math.MaxInt64 + 1))}
			} else {
				err = cmp.Or(err, corruptKey(e.Key))
			}
			if !yield(end, err) || err != nil {
				return
			}
		}
	}
}

// DropDecisions deletes at most limit of the decisions that ended before the time before. from must
// be a lower bound of all end times: it lets the scan skip records that were deleted earlier but
// remain in the store until compaction. DropDecisions returns the value of from for the next call.
func DropDecisions(r Reader, w Writer, from, before int64, limit int) (next int64, err error) {
	for end, err := range DecisionEnds(r, from) {
		if err != nil {
			return from, err
		}
		if end.At >= before || limit == 0 {
			return end.At, nil
		}
		limit--
		if err := deleteRange(r, w, makeKey(prefixDecision, end.ID), nil, nil); err != nil {
			return from, err
		}
		if err := w.Delete(decisionEndKey(end.At, end.ID)); err != nil {
			return from, err
		}
	}
	return max(from, before), nil
}

// SalvageDecisions passes every decision to read, an unreadable one with its error, and deletes
// those for which read returns an error. It rebuilds the list of end times from the results of
// read.
func SalvageDecisions(r Reader, w Writer, read func(Document) (end int64, err error)) error {
	if err := deleteRange(r, w, []byte{prefixDecisionEnd}, nil, nil); err != nil {
		return err
	}
	var writeErr error
	err := salvageNumbered(r, w, Decisions(r, 0), func(d Document) bool {
		end, err := read(d)
		if err == nil {
			writeErr = cmp.Or(writeErr, w.Set(decisionEndKey(end, d.At), nil))
		}
		return err == nil
	})
	return cmp.Or(err, writeErr)
}
