package parquet

import (
	"bufio"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"kith/db/edgelist"
)

// chunk reads a column of a row group.
type chunk struct {
	source
	pages
	dictionary           values
	values               values // of the page, without nulls
	spread               values // of the page, with zero values for nulls
	held, heldDictionary int64  // bytes of the room for the page and for the dictionary

	// vector holds the rows of the page and, if open, the beginning of the next row of a column of
	// lists.
	vector      edgelist.Vector
	open        bool
	rows, taken int // numbers of complete rows in vector and of rows that have been taken
	ends        []int
	unread      int64 // values of the column in pages that have not been read
}

// newChunk returns a reader of a column of a row group.
func newChunk(file io.ReaderAt, size int64, r *room, s source, group *format.RowGroup) (*chunk, error) {
	if s.leaf >= len(group.Columns) {
		return nil, fmt.Errorf("%w: the row group lacks the column", errFile)
	}
	c := &group.Columns[s.leaf]
	m := &c.MetaData
	from := m.DataPageOffset
	if at := m.DictionaryPageOffset; at > 0 && at < from {
		from = at
	}
	switch {
	case c.FilePath != "":
		return nil, fmt.Errorf("its values are in another file, %q, which is not read", c.FilePath)
	case c.CryptoMetadata.Value != nil:
		return nil, fmt.Errorf("it is encrypted, which is not read")
	case m.Type != s.kind.physical || from < 0 || m.TotalCompressedSize < 0 || from > size-m.TotalCompressedSize || m.NumValues < 0:
		return nil, errPage
	case !s.repeated && m.NumValues != group.NumRows:
		return nil, fmt.Errorf("%w: %d values in %d rows", errPage, m.NumValues, group.NumRows)
	}
	in := bufio.NewReaderSize(io.NewSectionReader(file, from, m.TotalCompressedSize), bufferBytes)
	return &chunk{source: s, pages: pages{in: in, left: m.TotalCompressedSize, codec: m.Codec, room: r}, unread: m.NumValues}, nil
}

// fill reads pages until there is a row, or none is left.
func (c *chunk) fill() error {
	for c.taken == c.rows && c.unread > 0 {
		p, err := c.pages.next()
		if err != nil {
			return truncated(err)
		}
		switch p.Type {
		case format.DictionaryPage:
			err = c.readDictionary(p)
		case format.DataPage, format.DataPageV2:
			err = c.readPage(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// plainDictionary is the encoding PLAIN_DICTIONARY, by which writers of version 1 mean PLAIN in a
// page of the dictionary, and RLE_DICTIONARY in other pages.
const plainDictionary format.Encoding = 2

func (c *chunk) readDictionary(p page) error {
	c.dictionary = values{}
	if err := c.room.hold(&c.heldDictionary, c.kind.decodedBytes(p.values, len(p.data))); err != nil {
		return err
	}
	if e := p.DictionaryPageHeader.V.Encoding; e != format.Plain && e != plainDictionary {
		return errPage
	}
	return c.dictionary.decode(c.kind, format.Plain, p.data, p.values, c.room.most())
}

// readPage decodes a page of values.
func (c *chunk) readPage(p page) (err error) {
	if int64(p.values) > c.unread {
		return fmt.Errorf("%w: more values than the column has", errPage)
	}
	c.unread -= int64(p.values)
	encoding, b := p.DataPageHeader.V.Encoding, p.data
	if p.Type == format.DataPageV2 {
		encoding = p.DataPageHeaderV2.V.Encoding
		err = c.levelsOf2(p)
	} else {
		b, err = c.levelsOf1(p)
	}
	if err != nil {
		return err
	}
	n := p.values
	for _, level := range c.room.definitions {
		if int(level) < c.definition {
			n--
		}
	}
	indexed := encoding == format.RLEDictionary || encoding == plainDictionary
	if err := c.hold(p, indexed); err != nil {
		return err
	}
	c.values = values{Ints: c.values.Ints[:0], Numbers: c.values.Numbers[:0], Strings: c.values.Strings[:0]}
	if indexed {
		err = c.lookUp(b, n)
	} else {
		err = c.values.decode(c.kind, encoding, b, n, c.room.most())
	}
	if err == nil {
		c.append(p.values)
	}
	return err
}

// hold takes room for the decoded values of a page, which come from the dictionary if they are
// indexed.
func (c *chunk) hold(p page, indexed bool) error {
	texts := len(p.data)
	if indexed {
		texts = 0
	}
	bytes := c.kind.decodedBytes(p.values, texts)
	switch {
	case c.repeated:
		bytes += 8 * int64(len(c.vector.Numbers)+p.values+2*len(c.vector.Ends))
	case c.definition > 0:
		bytes += c.kind.decodedBytes(p.values, 0) + int64(p.values)
	}
	return c.room.hold(&c.held, bytes)
}

// levelsOf1 decodes the levels of a page of version 1, and returns the bytes of its values.
func (c *chunk) levelsOf1(p page) (b []byte, err error) {
	b = p.data
	decode := func(to []uint8, highest int) ([]uint8, error) {
		if highest == 0 {
			return to[:0], nil
		}
		w := walker{rest: b}
		var length uint64
		for i := range 4 {
			length |= uint64(w.byte()) << (8 * i)
		}
		from := w.rest
		if w.skip(length); w.bad {
			return nil, errPage
		}
		b = w.rest
		return levels(to[:0], from[:length], highest, p.values)
	}
	h := &p.DataPageHeader.V
	if c.repeated && h.RepetitionLevelEncoding != format.RLE || c.definition > 0 && h.DefinitionLevelEncoding != format.RLE {
		return nil, fmt.Errorf("levels in an encoding other than RLE, which are not read")
	}
	highest := 0
	if c.repeated {
		highest = 1
	}
	if c.room.repetitions, err = decode(c.room.repetitions, highest); err == nil {
		c.room.definitions, err = decode(c.room.definitions, c.definition)
	}
	return b, err
}

// levelsOf2 decodes the levels of a page of version 2.
func (c *chunk) levelsOf2(p page) (err error) {
	repetition := p.levels[:p.DataPageHeaderV2.V.RepetitionLevelsByteLength]
	r := c.room
	r.repetitions, r.definitions = r.repetitions[:0], r.definitions[:0]
	if c.repeated {
		r.repetitions, err = levels(r.repetitions, repetition, 1, p.values)
	}
	if c.definition > 0 && err == nil {
		r.definitions, err = levels(r.definitions, p.levels[len(repetition):], c.definition, p.values)
	}
	return err
}

// lookUp appends n values that are stored as places in the dictionary.
func (c *chunk) lookUp(b []byte, n int) error {
	if n == 0 {
		return nil
	}
	if len(b) == 0 || b[0] > 32 {
		return errPage
	}
	d := &c.dictionary
	size := uint32(max(len(d.Ints), len(d.Numbers), len(d.Strings)))
	return hybrid(b[1:], uint(b[0]), n, func(place uint32, times int) error {
		if place >= size {
			return fmt.Errorf("%w: value %d of a dictionary of %d", errPage, place, size)
		}
		for range times {
			switch {
			case d.Ints != nil:
				c.values.Ints = append(c.values.Ints, d.Ints[place])
			case d.Numbers != nil:
				c.values.Numbers = append(c.values.Numbers, d.Numbers[place])
			default:
				c.values.Strings = append(c.values.Strings, d.Strings[place])
			}
		}
		return nil
	})
}
