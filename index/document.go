package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
)

// Models and observations are documents of db's; here is where they lie.
//
// A model's document may be longer than a transaction can be. So it is written beforehand, under a
// serial number, in as many transactions as it takes, and counts from the commit that names it.
// Documents that are not named are leftovers.

// Document is a stored document, or why it cannot be read.
type Document struct {
	Bytes  []byte
	Serial uint64 // of a model's document
	At     uint64 // the version up to which a model has learned; the version an observation made
	Err    error
}

// WriteDocument hands to w a document of a model, under a serial number that it never had.
func WriteDocument(w Writer, model string, serial uint64, doc []byte) error {
	return putSplit(w, documentKey(model, serial), doc)
}

// PutModel makes the document with the serial number the one that counts of a model, which has
// learned the observations up to version at.
func PutModel(w Writer, model string, serial, at uint64) error {
	b := binary.BigEndian.AppendUint64(nil, serial)
	return putSplit(w, modelKey(model), binary.BigEndian.AppendUint64(b, at))
}

// DeleteModel deletes a model; its document becomes a leftover.
func DeleteModel(r Reader, w Writer, model string) error {
	return deleteRange(r, w, modelKey(model), nil, nil)
}

// Models yields all models with their documents. A damaged one comes with its name and ErrCorrupt.
func Models(r Reader) iter.Seq2[string, Document] {
	return func(yield func(string, Document) bool) {
		for e, err := range scanSplit(r, []byte{prefixModel}, nil) {
			name, doc := "", Document{Err: err}
			if len(e.Key) > 2 {
				name = string(e.Key[1 : len(e.Key)-1])
			}
			if err == nil {
				doc = modelDocument(r, name, e)
			}
			if !yield(name, doc) {
				return
			}
		}
	}
}

func modelDocument(r Reader, name string, e Entry) Document {
	if name == "" || len(e.Value) != 16 {
		return Document{Err: corruptKey(e.Key)}
	}
	d := Document{Serial: binary.BigEndian.Uint64(e.Value), At: binary.BigEndian.Uint64(e.Value[8:])}
	var ok bool
	if d.Bytes, ok, d.Err = getSplit(r, documentKey(name, d.Serial)); d.Err == nil && !ok {
		d.Err = fmt.Errorf("%w: document %d is missing", ErrCorrupt, d.Serial)
	}
	return d
}

// DropDocuments deletes the documents that no model names.
func DropDocuments(r Reader, w Writer) error {
	named := map[string]bool{}
	for e, err := range scanSplit(r, []byte{prefixModel}, nil) {
		if err != nil {
			return err
		}
		if len(e.Key) > 1 && len(e.Value) == 16 {
			named[string(e.Key[1:])+string(e.Value[:8])] = true
		}
	}
	for e, err := range r.Scan([]byte{prefixDocument}, nil) {
		if err != nil {
			return err
		}
		key, _, ok := splitKey(e.Key)
		if !ok {
			return corruptKey(e.Key)
		}
		if named[string(key[1:])] {
			continue
		}
		if err := w.Delete(bytes.Clone(e.Key)); err != nil {
			return err
		}
	}
	return nil
}

// SalvageObservations returns every observation after version after that can be read, and deletes
// those that cannot, each with its error in the result.
func SalvageObservations(r Reader, w Writer, after uint64) ([]Document, error) {
	var all []Document
	prefix := []byte{prefixObservation}
	for e, err := range r.Scan(prefix, observationKey(after+1, 0)) {
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
			if err := deleteRange(r, w, key, nil, nil); err != nil {
				return nil, err
			}
		}
		all = append(all, d)
	}
	return all, nil
}

// PutObservation stores the no-th observation of the commit that makes version.
func PutObservation(w Writer, version uint64, no int, doc []byte) error {
	return putSplit(w, observationKey(version, uint32(no)), doc)
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
