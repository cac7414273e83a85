package db

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"math"

	"kith/index"
)

// archive reads an archive.
type archive struct {
	archiveHeader
	r       *bufio.Reader
	sum     hash.Hash
	frame   int // number of the last frame read, from 1
	entries int64
}

// openArchive reads the header. It returns ErrMismatch if r is not a backup or has another format, and ErrCorrupt if it
// is damaged.
func openArchive(r io.Reader) (*archive, error) {
	a := &archive{r: bufio.NewReaderSize(r, frameSize), sum: sha256.New()}
	magic := make([]byte, len(archiveMagic))
	if _, err := io.ReadFull(a.r, magic); err != nil && !short(err) {
		return nil, err
	}
	if string(magic) != archiveMagic {
		return nil, fmt.Errorf("%w: it is no backup of a database", ErrMismatch)
	}
	payload, err := a.next()
	if err != nil {
		return nil, err
	}
	if payload[0] != frameHeader || index.Unmarshal(payload[1:], &a.archiveHeader) != nil {
		return nil, a.corrupt("is not the header of a backup")
	}
	for _, v := range []struct {
		what       string
		is, newest int
	}{{"backup format", a.Version, archiveVersion}, {"format", a.Format, index.Format}} {
		if v.is != v.newest {
			return nil, fmt.Errorf("%w: %s %d; this kith reads %s %d and nothing newer", ErrMismatch, v.what, v.is, v.what, v.newest)
		}
	}
	if a.Seq == 0 || a.Seq > math.MaxInt64 || a.Since > a.Seq {
		return nil, a.corrupt(fmt.Sprintf("says that it is version %d since %d", a.Seq, a.Since))
	}
	return a, nil
}

// short reports whether err means that a file ends too early.
func short(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

func (a *archive) corrupt(what string) error {
	return fmt.Errorf("%w: part %d of the backup %s", ErrCorrupt, a.frame, what)
}

// next returns the payload of the next frame, which has at least one byte. It allocates only as much as it can read,
// because the stored length may be wrong.
func (a *archive) next() ([]byte, error) {
	a.frame++
	head := make([]byte, 8)
	if _, err := io.ReadFull(a.r, head); err != nil {
		return nil, a.readError(err)
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
		return nil, a.corrupt("is cut short")
	}
	if checksum(payload) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, a.corrupt("is damaged")
	}
	if payload[0] != frameTrailer {
		a.sum.Write(head) // never fails
		a.sum.Write(payload)
	}
	return payload, nil
}

func (a *archive) readError(err error) error {
	if short(err) {
		return a.corrupt("is missing: the file is cut short")
	}
	return err
}

// all yields the entries until the end or the first error. An entry is valid until the next one.
func (a *archive) all() iter.Seq2[archived, error] {
	return func(yield func(archived, error) bool) {
		var last []byte
		for {
			payload, err := a.next()
			if err == nil && payload[0] == frameTrailer {
				if err = a.finish(payload[1:]); err == nil {
					return
				}
			} else if err == nil && payload[0] != frameEntries {
				err = a.corrupt("is of no known kind")
			}
			if err != nil {
				yield(archived{}, err)
				return
			}
			if last, err = a.each(payload[1:], last, yield); err != nil {
				if !errors.Is(err, errStop) {
					yield(archived{}, err)
				}
				return
			}
		}
	}
}

// errStop is returned by each when the consumer ended the loop.
var errStop = errors.New("stop")

// each yields the entries of a frame and returns the frame's last key. Keys must ascend, starting above last.
func (a *archive) each(b, last []byte, yield func(archived, error) bool) ([]byte, error) {
	d, key := archiveDecoder{b: b}, []byte(nil)
	for len(d.b) > 0 {
		shared := d.length(len(key))
		rest := d.bytes(d.length(len(d.b)))
		key = append(key[:min(shared, len(key))], rest...)
		e := archived{Entry: index.Entry{Key: key}}
		if n := d.uvarint(); n == 0 {
			e.kept = true
			copy(e.digest[:], d.bytes(len(e.digest)))
		} else {
			e.Value = d.bytes(int(min(n-1, uint64(len(d.b))+1)))
		}
		if d.bad || string(key) <= string(last) || e.kept && a.Since == 0 {
			return nil, a.corrupt("holds no entries, or not in order")
		}
		a.entries++
		if !yield(e, nil) {
			return nil, errStop
		}
		last = append(last[:0], key...)
	}
	return last, nil
}

// finish compares the entries that were read with the trailer.
func (a *archive) finish(b []byte) error {
	var t archiveTrailer
	if err := index.Unmarshal(b, &t); err != nil || t.Entries != a.entries || string(t.Digest) != string(a.sum.Sum(nil)) {
		return a.corrupt("says that others are missing, or are of another backup")
	}
	if _, err := a.r.ReadByte(); err == nil {
		return a.corrupt("is followed by something else")
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// archiveDecoder decodes numbers and bytes from the front of b.
type archiveDecoder struct {
	b   []byte
	bad bool
}

func (d *archiveDecoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

// length decodes a number of at most limit.
func (d *archiveDecoder) length(limit int) int {
	v := d.uvarint()
	if v > uint64(limit) {
		d.bad = true
		return 0
	}
	return int(v)
}

func (d *archiveDecoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.bad, d.b = true, nil
		return nil
	}
	b := d.b[:n:n]
	d.b = d.b[n:]
	return b
}
