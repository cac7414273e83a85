package archive

import (
	"crypto/sha256"
	"encoding/binary"
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
	frame []byte
	last  []byte // previous key in the frame
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

// document writes a frame of one msgpack value.
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
	if len(a.frame) == 0 {
		a.frame, a.last = append(a.frame, frameEntries), a.last[:0]
	}
	shared := 0
	for shared < min(len(a.last), len(e.Key)) && a.last[shared] == e.Key[shared] {
		shared++
	}
	a.frame = binary.AppendUvarint(a.frame, uint64(shared))
	a.frame = binary.AppendUvarint(a.frame, uint64(len(e.Key)-shared))
	a.frame = append(a.frame, e.Key[shared:]...)
	if e.InEarlier {
		a.frame = append(append(a.frame, 0), e.digest[:]...)
	} else {
		a.frame = binary.AppendUvarint(a.frame, uint64(len(e.Value))+1)
		a.frame = append(a.frame, e.Value...)
	}
	a.last = append(a.last[:0], e.Key...)
	a.Entries++
	if len(a.frame) < frameSize {
		return nil
	}
	return a.flush()
}

func (a *Writer) flush() error {
	if len(a.frame) == 0 {
		return nil
	}
	err := a.put(a.frame)
	a.frame = a.frame[:0]
	return err
}

// Close writes the remaining entries and the trailer.
func (a *Writer) Close() error {
	if err := a.flush(); err != nil {
		return err
	}
	return a.document(frameTrailer, &trailer{a.Entries, a.sum.Sum(nil)})
}
