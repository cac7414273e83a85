package index

import (
	"encoding/binary"
	"iter"
)

// Models and observations are documents of db's; here is where they lie.

// PutModel stores a model's document.
func PutModel(w Writer, name string, doc []byte) error { return putSplit(w, modelKey(name), doc) }

// DeleteModel deletes a model's document.
func DeleteModel(r Reader, w Writer, name string) error {
	return deleteRange(r, w, modelKey(name), nil)
}

// Models yields the documents of all models. A damaged one comes with its name and ErrCorrupt.
func Models(r Reader) iter.Seq2[string, Document] {
	return func(yield func(string, Document) bool) {
		for e, err := range scanSplit(r, []byte{prefixModel}, nil) {
			name := ""
			if len(e.Key) > 2 {
				name = string(e.Key[1 : len(e.Key)-1])
			}
			if !yield(name, Document{e.Value, err}) {
				return
			}
		}
	}
}

// Document is a stored document, or why it cannot be read.
type Document struct {
	Bytes []byte
	Err   error
}

// PutObservation stores the no-th observation of the commit that makes version.
func PutObservation(w Writer, version uint64, no int, doc []byte) error {
	return putSplit(w, observationKey(version, uint32(no)), doc)
}

// Observations yields the observations made after version after, in commit order, with the version
// of each.
func Observations(r Reader, after uint64) iter.Seq2[uint64, Document] {
	return func(yield func(uint64, Document) bool) {
		for e, err := range scanSplit(r, []byte{prefixObservation}, observationKey(after+1, 0)) {
			var version uint64
			switch {
			case err != nil:
			case len(e.Key) != 13:
				err = corruptKey(e.Key)
			default:
				version = binary.BigEndian.Uint64(e.Key[1:])
			}
			if !yield(version, Document{e.Value, err}) || err != nil {
				return
			}
		}
	}
}
