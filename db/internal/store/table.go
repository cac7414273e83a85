package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"github.com/klauspost/compress/snappy"

	"kith/index"
)

// Badger rejects a damaged table as a whole, so this file reads its intact blocks. A table consists
// of blocks, each compressed by snappy, and an index. A block consists of
//
//	entries    for each: the number of bytes its key shares with the first key (2 bytes), the length of the
//	           rest of the key (2 bytes), that rest, flags (2 bytes), expiry (uvarint), value
//	offsets    of the entries, 4 bytes each
//	count      number of offsets, 4 bytes
//	checksum   and its length, 4 bytes

// entry is a stored entry: a key that ends with its timestamp, and a value with Badger's flags.
type entry struct {
	key   []byte
	value y.ValueStruct
}

func (e *entry) ts() uint64 { return y.ParseTs(e.key) }

// gap is an unreadable range of a file: from (inclusive) to to (exclusive).
type gap struct{ from, to int }

func (g gap) String() string { return fmt.Sprintf("bytes %d to %d", g.from, g.to-1) }

// readTable returns the entries of the readable blocks, in order, and the gaps between them. It
// needs no index: a block is found by its checksum.
func readTable(b []byte) (entries []entry, gaps []gap) {
	if _, size, err := tableEnd(b); err == nil {
		b = b[:int64(len(b))-size]
	}
	work := scanWork * len(b)
	for at := 0; at < len(b); {
		block, n := readBlock(b[at:], &work)
		if n == 0 {
			gaps = extend(gaps, at)
			at++
			continue
		}
		entries = append(entries, block...)
		at += n
	}
	return entries, gaps
}

// extend adds the byte at offset at to the last gap, or starts a new gap.
func extend(gaps []gap, at int) []gap {
	if n := len(gaps); n > 0 && gaps[n-1].to == at {
		gaps[n-1].to++
		return gaps
	}
	return append(gaps, gap{at, at + 1})
}

// scanWork bounds the search for readable parts of a file, in steps or hashed bytes for each byte
// of the file. Without a bound, crafted bytes could cost the square of their number. The rest
// beyond the bound counts as unreadable.
const scanWork = 64

// An unpacked block has at least its number of offsets and its checksum, and at most a value of
// maximal size with its key.
const (
	minBlock = 16
	maxBlock = 4 << 20
)

// readBlock reads the block at the start of b and returns its length in b, or 0 if there is no
// block.
func readBlock(b []byte, work *int) ([]entry, int) {
	n, ok := packedLength(b, work)
	if !ok {
		return nil, 0
	}
	raw, err := snappy.Decode(nil, b[:n])
	if err != nil {
		return nil, 0
	}
	entries, ok := blockEntries(raw)
	if !ok {
		return nil, 0
	}
	return entries, n
}

// packedLength returns the length of the snappy block at the start of b. Such a block is the length
// of its content and a sequence of elements that expand to as many bytes.
func packedLength(b []byte, work *int) (int, bool) {
	size, at := binary.Uvarint(b)
	if at <= 0 || size < minBlock || size > maxBlock {
		return 0, false
	}
	for made := uint64(0); made < size; *work-- {
		if at >= len(b) || *work <= 0 {
			return 0, false
		}
		tag := uint64(b[at])
		at++
		switch tag & 3 {
		case 0:
			n := tag >> 2
			if n >= 60 {
				long := int(n) - 59
				if at+long > len(b) {
					return 0, false
				}
				n = 0
				for i := range long {
					n |= uint64(b[at+i]) << (8 * i)
				}
				at += long
			}
			if n++; n > size-made || n > uint64(len(b)-at) {
				return 0, false
			}
			at += int(n)
			made += n
		case 1:
			at++
			made += 4 + tag>>2&7
		case 2:
			at += 2
			made += 1 + tag>>2
		default:
			at += 4
			made += 1 + tag>>2
		}
		if made > size {
			return 0, false
		}
	}
	return at, at <= len(b)
}

// blockContent returns an unpacked block without its checksum, if that is right.
func blockContent(raw []byte) ([]byte, bool) {
	b, n, ok := cutLength(raw)
	if !ok || n > len(b) {
		return nil, false
	}
	sum, b := b[len(b)-n:], b[:len(b)-n]
	return b, bytes.Equal(sum, tableChecksum(b))
}

// blockEntries returns the entries of an unpacked block if its checksum is right.
func blockEntries(raw []byte) ([]entry, bool) {
	b, ok := blockContent(raw)
	if !ok {
		return nil, false
	}
	b, n, ok := cutLength(b)
	if !ok || n == 0 || n > len(b)/4 {
		return nil, false
	}
	offsets, b := b[len(b)-4*n:], b[:len(b)-4*n]
	entries := make([]entry, n)
	for i := range entries {
		from, to := int(binary.NativeEndian.Uint32(offsets[4*i:])), len(b)
		if i+1 < n {
			to = int(binary.NativeEndian.Uint32(offsets[4*i+4:]))
		}
		if from > to || to > len(b) || !entries[i].decode(b[from:to], entries[0].key) {
			return nil, false
		}
	}
	return entries, true
}

// decode decodes an entry of a block. first is the block's first key.
func (e *entry) decode(b, first []byte) bool {
	if len(b) < 4 {
		return false
	}
	shared, rest := int(binary.NativeEndian.Uint16(b)), int(binary.NativeEndian.Uint16(b[2:]))
	if b = b[4:]; shared > len(first) || rest+3 > len(b) || shared+rest <= 8 {
		return false
	}
	e.key = append(bytes.Clone(first[:shared]), b[:rest]...)
	e.value.Decode(b[rest:])
	return true
}

// tableEnd returns the index of a table that ends with b, and the size of the index with its
// footer: the length of the index (4 bytes), its checksum, and the length of the checksum (4
// bytes). If b is too short, or the checksum is wrong, it returns ErrCorrupt, and the size that the
// lengths claim.
func tableEnd(b []byte) (index []byte, size int64, err error) {
	rest, sumLength, ok := cutLength(b)
	if ok && sumLength <= len(rest) {
		sum := rest[len(rest)-sumLength:]
		body, n, ok := cutLength(rest[:len(rest)-sumLength])
		if size = int64(n + sumLength + 8); ok && n <= len(body) && bytes.Equal(sum, tableChecksum(body[len(body)-n:])) {
			return body[len(body)-n:], size, nil
		}
	}
	return nil, size, fmt.Errorf("%w: its index does not fit its checksum", ErrCorrupt)
}

// tableChecksum returns the checksum of b in the format of tables: a protocol buffer in which the
// crc32c is field 2.
func tableChecksum(b []byte) []byte {
	sum := index.Checksum(b)
	if sum == 0 {
		return nil
	}
	return binary.AppendUvarint([]byte{2 << 3}, uint64(sum))
}

// cutLength removes a length from the end of b.
func cutLength(b []byte) ([]byte, int, bool) {
	if len(b) < 4 {
		return nil, 0, false
	}
	return b[:len(b)-4], int(binary.BigEndian.Uint32(b[len(b)-4:])), true
}

// buildTable returns a table of the sorted entries.
func buildTable(entries []entry, o table.Options) []byte {
	b := table.NewTableBuilder(o)
	defer b.Close()
	for _, e := range entries {
		b.Add(e.key, e.value, 0)
	}
	return b.Finish()
}
