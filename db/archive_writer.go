package db

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"

	"github.com/vmihailenco/msgpack/v5"
)

// archiveWriter writes an archive.
type archiveWriter struct {
	w       io.Writer
	sum     hash.Hash // digest of the frames
	frame   []byte
	last    []byte // previous key in the frame
	entries int64
	bytes   int64
}

func newArchiveWriter(w io.Writer, h archiveHeader) (*archiveWriter, error) {
	a := &archiveWriter{w: w, sum: sha256.New(), bytes: int64(len(archiveMagic))}
	if _, err := io.WriteString(w, archiveMagic); err != nil {
		return nil, err
	}
	return a, a.document(frameHeader, &h)
}

// document writes a frame of one msgpack value.
func (a *archiveWriter) document(kind byte, v any) error {
	b, err := msgpack.Marshal(v)
	if err != nil {
		return err
	}
	return a.put(append([]byte{kind}, b...))
}

// put writes a frame.
func (a *archiveWriter) put(payload []byte) error {
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	head = binary.LittleEndian.AppendUint32(head, checksum(payload))
	for _, b := range [][]byte{head, payload} {
		a.sum.Write(b) // never fails
		if _, err := a.w.Write(b); err != nil {
			return err
		}
		a.bytes += int64(len(b))
	}
	return nil
}

// add appends an entry. Keys must ascend.
func (a *archiveWriter) add(e archived) error {
	if len(a.frame) == 0 {
		a.frame, a.last = append(a.frame, frameEntries), a.last[:0]
	}
	shared := sharedLen(a.last, e.Key)
	a.frame = binary.AppendUvarint(a.frame, uint64(shared))
	a.frame = binary.AppendUvarint(a.frame, uint64(len(e.Key)-shared))
	a.frame = append(a.frame, e.Key[shared:]...)
	if e.kept {
		a.frame = append(append(a.frame, 0), e.digest[:]...)
	} else {
		a.frame = binary.AppendUvarint(a.frame, uint64(len(e.Value))+1)
		a.frame = append(a.frame, e.Value...)
	}
	a.last = append(a.last[:0], e.Key...)
	a.entries++
	if len(a.frame) < frameSize {
		return nil
	}
	return a.flush()
}

func (a *archiveWriter) flush() error {
	if len(a.frame) == 0 {
		return nil
	}
	err := a.put(a.frame)
	a.frame = a.frame[:0]
	return err
}

// end writes the remaining entries and the trailer.
func (a *archiveWriter) end() error {
	if err := a.flush(); err != nil {
		return err
	}
	return a.document(frameTrailer, &archiveTrailer{a.entries, a.sum.Sum(nil)})
}

func sharedLen(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
