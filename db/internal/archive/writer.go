package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"

	"github.com/vmihailenco/msgpack/v5"

	"kith/index"
)

// Writer writes an archive.
type Writer struct {
	Entries int64 // number of entries added
	Bytes   int64 // number of bytes written

	w     io.Writer
	sum   hash.Hash // digest of the frames
	frame bytes.Buffer
}

// NewWriter writes the beginning of an archive. The caller need not set Version and Format.
func NewWriter(w io.Writer, k Kind, h Header) (*Writer, error) {
	a := &Writer{w: w, sum: sha256.New(), Bytes: int64(len(k.magic))}
	if _, err := io.WriteString(w, k.magic); err != nil {
		return nil, err
	}
	h.Version, h.Format = version, k.format
	return a, a.document(frameHeader, &h)
}

// document writes a frame with a single msgpack value.
func (a *Writer) document(kind byte, v any) error {
	b, err := msgpack.Marshal(v)
	if err != nil {
		return err
	}
	return a.put(append([]byte{kind}, b...))
}

// put writes a frame.
func (a *Writer) put(payload []byte) error {
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	head = binary.LittleEndian.AppendUint32(head, index.Checksum(payload))
	for _, b := range [][]byte{head, payload} {
		a.sum.Write(b) // never fails
		if _, err := a.w.Write(b); err != nil {
			return err
		}
		a.Bytes += int64(len(b))
	}
	return nil
}

// Add appends an entry. Keys must ascend.
func (a *Writer) Add(e Entry) error {
	if a.frame.Len() == 0 {
		a.frame.WriteByte(frameEntries)
	}
	enc := msgpack.NewEncoder(&a.frame)
	if err := errors.Join(enc.EncodeBytes(e.Key), enc.EncodeBytes(e.Value), enc.EncodeBytes(e.Digest)); err != nil {
		return err
	}
	a.Entries++
	if a.frame.Len() < frameSize {
		return nil
	}
	return a.flush()
}

func (a *Writer) flush() error {
	if a.frame.Len() == 0 {
		return nil
	}
	defer a.frame.Reset()
	return a.put(a.frame.Bytes())
}

// Close writes the remaining entries and the trailer.
func (a *Writer) Close() error {
	if err := a.flush(); err != nil {
		return err
	}
	return a.document(frameTrailer, &trailer{a.Entries, a.sum.Sum(nil)})
}
