package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
)

// Models are documents of package db; this file stores them.
//
// A model's document may be longer than a transaction can be. It is therefore written beforehand, under a serial
// number, in as many transactions as needed, and becomes valid with the commit that names it. Documents that are
// not named are leftovers.

// Document is a stored document, or the error of reading it.
type Document struct {
	Bytes []byte
	At    uint64 // version that a model has learned up to, or that an observation made; number of a decision
	Err   error
	Entry ModelEntry // models only
}

// ModelEntry lists the valid documents of a model.
type ModelEntry struct {
	Serial uint64   // serial number of the document of the deployed model
	At     uint64   // version of the graph up to which the deployed model has learned the observations
	Kept   []uint64 // serial numbers of other documents to keep
	Note   []byte   // further data of package db about the model
}

// encode returns the serial and at, 8 bytes each. If there are other documents or a note, their number (4 bytes),
// their serials and the note follow.
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

func decodeModelEntry(b []byte) (e ModelEntry, ok bool) {
	if len(b) < 16 {
		return e, false
	}
	e.Serial, e.At = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	if b = b[16:]; len(b) == 0 {
		return e, true
	}
	if len(b) < 4 {
		return e, false
	}
	n := int64(binary.BigEndian.Uint32(b))
	if b = b[4:]; int64(len(b)) < 8*n {
		return e, false
	}
	for ; n > 0; n-- {
		e.Kept, b = append(e.Kept, binary.BigEndian.Uint64(b)), b[8:]
	}
	e.Note = bytes.Clone(b)
	return e, true
}

// WriteDocument writes a document of a model to w, under a serial number that the model has never used.
func WriteDocument(w Writer, model string, serial uint64, doc []byte) error {
	return putSplit(w, documentKey(model, serial), doc)
}

// PutModel stores the entry of a model, which makes the documents it names valid.
func PutModel(w Writer, model string, e ModelEntry) error {
	return putSplit(w, modelKey(model), e.encode())
}

// GetDocument returns the document of a model with a serial number, or ErrCorrupt if it is missing.
func GetDocument(r Reader, model string, serial uint64) ([]byte, error) {
	doc, ok, err := getSplit(r, documentKey(model, serial))
	if err == nil && !ok {
		err = fmt.Errorf("%w: document %d is missing", ErrCorrupt, serial)
	}
	return doc, err
}

// DeleteModel deletes a model; its document becomes a leftover.
func DeleteModel(r Reader, w Writer, model string) error {
	return deleteRange(r, w, modelKey(model), nil, nil)
}

// Models yields all models with their documents. For a damaged model it yields the name and ErrCorrupt.
func Models(r Reader) iter.Seq2[string, Document] {
	return func(yield func(string, Document) bool) {
		for e, err := range r.Scan([]byte{prefixModel}, nil) {
			name, doc := "", Document{Err: err}
			if err == nil {
				key, part, ok := splitKey(bytes.Clone(e.Key))
				if ok && part != 0 {
					continue
				}
				name, doc = modelDocument(r, key)
			}
			if !yield(name, doc) {
				return
			}
		}
	}
}

func modelDocument(r Reader, key []byte) (name string, d Document) {
	if len(key) < 3 || key[len(key)-1] != 0 {
		return "", Document{Err: corruptKey(key)}
	}
	name = string(key[1 : len(key)-1])
	b, _, err := getSplit(r, key)
	if err != nil {
		return name, Document{Err: err}
	}
	entry, ok := decodeModelEntry(b)
	if !ok {
		return name, Document{Err: corruptKey(key)}
	}
	d = Document{At: entry.At, Entry: entry}
	d.Bytes, d.Err = GetDocument(r, name, entry.Serial)
	return name, d
}

// DropDocuments deletes the documents that no model names.
func DropDocuments(r Reader, w Writer) error {
	named := map[string]bool{}
	for e, err := range scanSplit(r, []byte{prefixModel}, nil) {
		if err != nil {
			return err
		}
		entry, ok := decodeModelEntry(e.Value)
		if len(e.Key) < 2 || !ok {
			return corruptKey(e.Key)
		}
		for _, serial := range append(entry.Kept, entry.Serial) {
			named[string(binary.BigEndian.AppendUint64(bytes.Clone(e.Key[1:]), serial))] = true
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
