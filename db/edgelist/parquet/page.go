package parquet

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// pages reads the pages of a column of a row group in order.
type pages struct {
	in    *bufio.Reader
	left  int64 // bytes of the column that have not been read
	codec format.CompressionCodec
	room  *room
}

// room is the memory of a table. INVARIANT: decoded data take at most half of bytes, and each
// buffer a quarter.
type room struct {
	bytes                    int64
	decoded                  int64   // bytes of the decoded pages and dictionaries of all columns
	raw, data                []byte  // a page as it is stored and decompressed, until it is decoded
	definitions, repetitions []uint8 // its levels
}

// most returns the maximal number of bytes of a page.
func (r *room) most() int64 { return r.bytes / 4 }

// hold changes the bytes that something decoded takes from was to now. It returns an error if there
// is no room.
func (r *room) hold(was *int64, now int64) error {
	r.decoded += now - *was
	*was = now
	if most := r.bytes / 2; r.decoded > most {
		return fmt.Errorf("the pages of the columns take more than %d bytes of memory when they are decoded: more memory helps, or smaller pages", most)
	}
	return nil
}

// page is a page of values, or of the dictionary.
type page struct {
	format.PageHeader
	values int    // number of values, with nulls
	levels []byte // of a page of version 2: repetition and definition levels
	data   []byte // decompressed; valid until the next page of any column is read
}

const (
	headerBytes = 64 << 10 // of the header of a page, at most
	bufferBytes = 4 << 10  // of a column that is read
	firstPeek   = 1 << 10  // bytes of a header, usually
	minRoom     = 32 << 20 // bytes of a room, at least
)

// next returns the next page, or io.EOF.
func (p *pages) next() (page, error) {
	if p.left <= 0 {
		return page{}, io.EOF
	}
	head, err := p.header()
	if err != nil {
		return page{}, err
	}
	stored, size := int64(head.CompressedPageSize), int64(head.UncompressedPageSize)
	switch {
	case stored < 0 || size < 0:
		return page{}, errPage
	case stored > p.left:
		return page{}, fmt.Errorf("a page of %d bytes, of which %d are there: %w", stored, p.left, io.ErrUnexpectedEOF)
	case stored > p.room.most() || size > p.room.most():
		return page{}, fmt.Errorf("a page of %d bytes: at most %d may be in memory", max(stored, size), p.room.most())
	}
	r := p.room
	r.raw = slices.Grow(r.raw[:0], int(stored))[:stored]
	if _, err := io.ReadFull(p.in, r.raw); err != nil {
		return page{}, truncated(err)
	}
	p.left -= stored
	if head.CRC != 0 && uint32(head.CRC) != crc32.ChecksumIEEE(r.raw) {
		return page{}, fmt.Errorf("%w: its checksum does not match", errPage)
	}
	return p.decompress(head, int(size))
}

// header reads the header of a page.
func (p *pages) header() (h format.PageHeader, err error) {
	for n := firstPeek; ; n = headerBytes {
		if n > p.in.Size() {
			p.in = bufio.NewReaderSize(p.in, n)
		}
		b, err := p.in.Peek(int(min(int64(n), p.left)))
		if err != nil && err != io.EOF {
			return h, err
		}
		length, items, ok := structLength(b)
		if !ok && n < headerBytes {
			continue
		}
		if !ok || items > headerBytes/8 {
			return h, fmt.Errorf("%w: its header is malformed or longer than %d bytes", errPage, headerBytes)
		}
		if err := decodeStruct(b[:length], &h); err != nil {
			return h, err
		}
		_, _ = p.in.Discard(length) // cannot fail after Peek
		p.left -= int64(length)
		return h, nil
	}
}

// decodeStruct decodes a struct that structLength accepts.
func decodeStruct(b []byte, to any) error {
	var protocol thrift.CompactProtocol
	return thrift.NewDecoder(protocol.NewReaderFromBytes(bytes.Clone(b))).Decode(to)
}

// decompress decompresses the page in raw.
func (p *pages) decompress(head format.PageHeader, size int) (page, error) {
	out := page{PageHeader: head}
	packed, plain, stored := p.room.raw, 0, false // stored: not compressed
	switch head.Type {
	case format.DataPage:
		out.values = int(head.DataPageHeader.V.NumValues)
	case format.DictionaryPage:
		out.values = int(head.DictionaryPageHeader.V.NumValues)
	case format.DataPageV2:
		v2 := head.DataPageHeaderV2.V
		out.values = int(v2.NumValues)
		repetition, definition := int64(v2.RepetitionLevelsByteLength), int64(v2.DefinitionLevelsByteLength)
		if repetition < 0 || definition < 0 || repetition+definition > min(int64(len(packed)), int64(size)) {
			return page{}, errPage
		}
		plain = int(repetition + definition)
		out.levels, packed = packed[:plain], packed[plain:]
		stored = v2.IsCompressed.Valid && !v2.IsCompressed.V
	}
	if out.values < 0 || int64(out.values) > p.room.most()/8 {
		return page{}, fmt.Errorf("a page of %d values: at most %d may be in memory", out.values, p.room.most()/8)
	}
	if stored {
		out.data = packed
		return out, nil
	}
	p.room.data = slices.Grow(p.room.data[:0], size-plain)[:size-plain]
	var err error
	if out.data, err = decompress(p.codec, p.room.data, packed); err != nil {
		return page{}, fmt.Errorf("%w: %w", errPage, err)
	}
	return out, nil
}

// errSize is the error for a page that is not as long as its header says.
var errSize = errors.New("it has another size than its header says")

// decompress decompresses a page into to, which has the size of the result. It never takes more
// memory than that.
func decompress(codec format.CompressionCodec, to, from []byte) (out []byte, err error) {
	switch {
	case codec == format.Uncompressed:
		out = from
	case len(to) == 0:
		return nil, nil
	case codec == format.Snappy:
		if n, err := snappy.DecodedLen(from); err != nil || n != len(to) {
			return nil, errSize
		}
		out, err = snappy.Decode(to, from)
	case codec == format.Gzip:
		out, err = to, gunzip(to, from)
	case codec == format.Zstd:
		var d *zstd.Decoder
		if d, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)); err == nil {
			defer d.Close()
			out, err = d.DecodeAll(from, slices.Clip(to)[:0])
		}
	case codec == format.Lz4Raw:
		var n int
		n, err = lz4.UncompressBlock(from, to)
		out = to[:max(n, 0)]
	case codec == format.Brotli:
		out, err = to, readExactly(to, brotli.NewReader(bytes.NewReader(from)))
	default:
		return nil, fmt.Errorf("compression %v is not read (accepted: none, SNAPPY, GZIP, ZSTD, LZ4_RAW, BROTLI)", codec)
	}
	if err == nil && len(out) != len(to) {
		err = errSize
	}
	return out, err
}

// gunzip decompresses from into to.
func gunzip(to, from []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(from))
	if err != nil {
		return err
	}
	return readExactly(to, z)
}

// readExactly reads all of r into to, which has the size of it.
func readExactly(to []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, to); err != nil {
		return truncated(err)
	}
	if n, err := r.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return errSize
	}
	return nil
}

// truncated turns io.EOF into io.ErrUnexpectedEOF.
func truncated(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
