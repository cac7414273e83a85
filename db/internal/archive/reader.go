package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"math"

	"github.com/vmihailenco/msgpack/v5"

	"kith/index"
)

// Reader reads an archive.
type Reader struct {
	Header // of a backup
	kind   Kind
	r      *bufio.Reader
	sum    hash.Hash

	frame   int // number of the last frame read, from 1
	entries int64
	last    []byte // key of the last entry
}

// NewReader reads the header of an archive. It returns index.ErrMismatch if r is not an archive of
// the kind or has another format, and index.ErrCorrupt if it is damaged.
func NewReader(r io.Reader, k Kind) (*Reader, error) {
	a := &Reader{kind: k, r: bufio.NewReaderSize(r, frameSize), sum: sha256.New()}
	magic := make([]byte, len(k.magic))
	n, err := io.ReadFull(a.r, magic)
	if err != nil && !isTruncated(err) {
		return nil, err
	}
	if string(magic) != k.magic {
		return nil, fmt.Errorf("%w: it is not a %s: it begins with %q", index.ErrMismatch, k.name, magic[:n])
	}
	payload, err := a.next()
	if err != nil {
		return nil, err
	}
	if payload[0] != frameHeader || index.Unmarshal(payload[1:], &a.Header) != nil {
		return nil, a.corrupt("is not its header")
	}
	if a.Version != version || a.Format != k.format {
		return nil, fmt.Errorf("%w: archive format %d with %s format %d; this kith reads %d with %d and nothing newer",
			index.ErrMismatch, a.Version, k.name, a.Format, version, k.format)
	}
	if k == Backup && a.Seq == 0 || a.Seq > math.MaxInt64 || a.Since > a.Seq {
		return nil, a.corrupt(fmt.Sprintf("says that it is version %d since %d", a.Seq, a.Since))
	}
	return a, nil
}

// isTruncated reports whether err means that a file ends too early.
func isTruncated(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func (a *Reader) corrupt(what string) error {
	return fmt.Errorf("%w: part %d of the %s %s", index.ErrCorrupt, a.frame, a.kind.name, what)
}

// next returns the payload of the next frame, which has at least one byte. It allocates only as
// much as it can read, because the stored length may be wrong.
func (a *Reader) next() ([]byte, error) {
	a.frame++
	head := make([]byte, 8)
	switch _, err := io.ReadFull(a.r, head); {
	case isTruncated(err):
		return nil, a.corrupt("is missing: the file is truncated")
	case err != nil:
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head)
	if n == 0 || n > maxFrame {
		return nil, a.corrupt("is damaged")
	}
	payload, err := io.ReadAll(io.LimitReader(a.r, int64(n)))
	if err != nil {
		return nil, err
	}
	if uint32(len(payload)) < n {
		return nil, a.corrupt("is truncated")
	}
	if index.Checksum(payload) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, a.corrupt("is damaged")
	}
	if payload[0] != frameTrailer {
		a.sum.Write(head) // never fails
		a.sum.Write(payload)
	}
	return payload, nil
}

// All yields the entries until the end or the first error.
func (a *Reader) All() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for {
			payload, err := a.next()
			if err == nil && payload[0] == frameTrailer {
				if err = a.finish(payload[1:]); err == nil {
					return
				}
			}
			var entries []Entry
			if err == nil {
				entries, err = a.parse(payload)
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// parse returns the entries of a frame. Keys must ascend, starting above the keys of the frame
// before.
func (a *Reader) parse(payload []byte) (entries []Entry, err error) {
	if payload[0] != frameEntries {
		return nil, a.corrupt("has an unknown kind")
	}
	damaged := a.corrupt("has entries that are damaged or out of order")
	r := bytes.NewReader(payload[1:])
	for d := msgpack.NewDecoder(r); r.Len() > 0; {
		var e Entry
		for _, part := range []*[]byte{&e.Key, &e.Value, &e.Digest} {
			n, err := d.DecodeBytesLen() // of nil: -1
			if err != nil || n > r.Len() {
				return nil, damaged
			}
			if rest := payload[len(payload)-r.Len():]; n >= 0 {
				*part = rest[:n:n]
				_, _ = r.Seek(int64(n), io.SeekCurrent)
			}
		}
		if string(e.Key) <= string(a.last) || e.Digest != nil && (a.Since == 0 || len(e.Digest) != digestSize) {
			return nil, damaged
		}
		entries, a.last = append(entries, e), e.Key
	}
	a.entries += int64(len(entries))
	return entries, nil
}

// finish compares the entries that were read with the trailer.
func (a *Reader) finish(b []byte) error {
	var t trailer
	if err := index.Unmarshal(b, &t); err != nil || t.Entries != a.entries || string(t.Digest) != string(a.sum.Sum(nil)) {
		return a.corrupt("does not match the parts before it")
	}
	if _, err := a.r.ReadByte(); err == nil {
		return a.corrupt("is followed by more data")
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
