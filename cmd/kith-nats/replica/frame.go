package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"

	"kith/db"
)

// A frame is some changes that follow each other: for each its length, a uvarint, and its binary
// form. A frame is one message, or several if it is larger than a message may be; only a frame of
// one change may be that large. A frame without changes says that a snapshot has the versions up to
// the one before its first, and that the log continues there.

// Headers of a message.
const (
	headerFirst     = "Kith-First"     // version of the first change of the frame
	headerLast      = "Kith-Last"      // version of its last change; of a frame without changes, one less than the first
	headerBefore    = "Kith-Before"    // contents of the database before the first change; see db.Tx.Contents
	headerAfter     = "Kith-After"     // contents after the last change
	headerPart      = "Kith-Part"      // number of the message in the frame, from 1
	headerParts     = "Kith-Parts"     // number of messages of the frame
	headerPublisher = "Kith-Publisher" // a random text of the call of Publish
)

// errDamaged is the error of a message that no publisher has written so.
var errDamaged = errors.New("replica: damaged message")

// header is what the headers of a message say.
type header struct {
	first, last   uint64
	before, after string
	part, parts   int
	publisher     string
}

// maxParts is the largest number of messages of a frame. With the smallest messages they hold 1 GB.
const maxParts = 1 << 20

// write sets the headers of a message.
func (h *header) write(m *nats.Msg) {
	m.Header = nats.Header{
		headerFirst: {strconv.FormatUint(h.first, 10)}, headerLast: {strconv.FormatUint(h.last, 10)},
		headerBefore: {h.before}, headerAfter: {h.after},
		headerPart: {strconv.Itoa(h.part)}, headerParts: {strconv.Itoa(h.parts)}, headerPublisher: {h.publisher},
	}
}

// readHeader reads the headers of a message.
func readHeader(from nats.Header) (h header, err error) {
	number := func(name string) uint64 {
		n, bad := strconv.ParseUint(from.Get(name), 10, 62)
		if bad != nil && err == nil {
			err = fmt.Errorf("%w: header %s is %q", errDamaged, name, from.Get(name))
		}
		return n
	}
	h = header{
		first: number(headerFirst), last: number(headerLast), before: from.Get(headerBefore), after: from.Get(headerAfter),
		publisher: from.Get(headerPublisher),
	}
	part, parts := number(headerPart), number(headerParts)
	if err == nil && (h.first < 1 || h.last < h.first-1 || part < 1 || part > parts || parts > maxParts) {
		err = fmt.Errorf("%w: versions %d to %d, part %d of %d", errDamaged, h.first, h.last, part, parts)
	}
	h.part, h.parts = int(part), int(parts)
	return h, err
}

// complete returns the version and contents of a database that has applied all complete frames up
// to a message.
func (h *header) complete() (version uint64, contents string) {
	if h.part < h.parts {
		return h.first - 1, h.before
	}
	return h.last, h.after
}

// frame is a frame that is being written.
type frame struct {
	header
	data []byte
}

// add appends a change with the binary form b.
func (f *frame) add(c db.Change, b []byte) {
	if len(f.data) == 0 {
		f.first, f.before = c.Version, c.Before
	}
	f.last, f.after = c.Version, c.After
	f.data = append(binary.AppendUvarint(f.data, uint64(len(b))), b...)
}

// startAfter returns the message of a frame without changes.
func startAfter(s snapshot, publisher, subject string) *nats.Msg {
	h := header{first: s.version + 1, last: s.version, before: s.contents, after: s.contents, part: 1, parts: 1, publisher: publisher}
	m := &nats.Msg{Subject: subject}
	h.write(m)
	return m
}

// messages returns the messages of the frame, with up to so many bytes of data.
func (f *frame) messages(subject string, size int) (all []*nats.Msg) {
	f.parts = (len(f.data) + size - 1) / size
	for f.part = 1; f.part <= f.parts; f.part++ {
		m := &nats.Msg{Subject: subject, Data: f.data[(f.part-1)*size : min(f.part*size, len(f.data))]}
		f.write(m)
		all = append(all, m)
	}
	return all
}

// assembler puts the messages of frames together.
type assembler struct {
	header        // of the last message of the frame
	data   []byte // of the messages so far
}

// add takes the next message. It returns the changes of the frame when it is complete. A frame
// whose messages end before it is complete is dropped: its publisher died, and its changes come
// again.
func (a *assembler) add(h header, data []byte) ([]db.Change, error) {
	want := a.header
	want.part++
	switch {
	case h.part == 1:
		a.header, a.data = h, append([]byte(nil), data...)
	case len(a.data) > 0 && h == want: // the next one
		a.header, a.data = h, append(a.data, data...)
	default:
		a.data = nil // the beginning of the frame is missing
		return nil, nil
	}
	if h.part < h.parts {
		return nil, nil
	}
	b := a.data
	a.data = nil
	return readFrame(h, b)
}

// readFrame reads the changes of a frame.
func readFrame(h header, b []byte) (all []db.Change, err error) {
	for version := h.first; len(b) > 0; version++ {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return nil, fmt.Errorf("%w: the change of version %d has %d bytes, and %d follow", errDamaged, version, n, len(b))
		}
		var c db.Change
		if err := c.UnmarshalBinary(b[size : size+int(n)]); err != nil {
			return nil, fmt.Errorf("the change of version %d: %w", version, err)
		}
		if c.Version != version || version > h.last {
			return nil, fmt.Errorf("%w: version %d among versions %d to %d", errDamaged, c.Version, h.first, h.last)
		}
		all, b = append(all, c), b[size+int(n):]
	}
	if len(all) == 0 && h.last < h.first {
		return nil, nil
	}
	if len(all) == 0 || all[len(all)-1].Version != h.last {
		return nil, fmt.Errorf("%w: %d changes of versions %d to %d", errDamaged, len(all), h.first, h.last)
	}
	before, after := all[0].Before, all[len(all)-1].After
	if before != h.before || after != h.after {
		return nil, fmt.Errorf("%w: its headers have contents %q and %q, its changes %q and %q", errDamaged, h.before, h.after, before, after)
	}
	return all, nil
}
