package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"kith/index/internal/block"
	"kith/index/internal/spill"
	"kith/ppr"
)

// Errors to test for with errors.Is.
var (
	// ErrCorrupt is returned when stored bytes differ from those written.
	ErrCorrupt = block.ErrCorrupt
	// ErrMismatch is returned when stored data has another format.
	ErrMismatch = errors.New("index: mismatch")
	// ErrTooLarge is returned when a graph has more nodes or edges than the layout can number.
	ErrTooLarge = errors.New("index: too large")
	// ErrWeight is returned for an edge weight that is not a number from MinWeight to MaxWeight.
	ErrWeight = errors.New("index: weight is not a number from 2^-40 to 2^40")
	// ErrRepeated is returned for an edge that occurs twice or exists already, where repeats are
	// not allowed.
	ErrRepeated = errors.New("index: repeated edge")
	// ErrFeatureLen is returned for a feature vector whose length differs from Label.Features.
	ErrFeatureLen = errors.New("index: wrong number of features")
	// ErrLabel is returned for an edge whose nodes have other labels than its relation joins.
	ErrLabel = errors.New("index: wrong label")
)

// Reader reads the store at one version. Returned slices are valid until the next call.
type Reader interface {
	Get(key []byte) (value []byte, ok bool, err error)
	// Scan yields the entries whose keys have the prefix, ascending, starting at the key from (nil:
	// all).
	Scan(prefix, from []byte) iter.Seq2[Entry, error]
}

// Writer writes to the store, inside the caller's transaction. It may keep the slices.
type Writer interface {
	Set(key, value []byte) error
	Delete(key []byte) error
}

// Entry is a stored key and its value.
type Entry struct{ Key, Value []byte }

// ID is the internal number of a node. Ids are dense, assigned once and never reused.
type ID = ppr.ID

// Edge is one stored edge. For an undirected edge, U <= V.
type Edge = spill.Edge

// Key is the name that users give a node: an integer or a string. See [block.Key].
type Key = block.Key

// Int returns the integer key i.
func Int(i int64) Key { return block.Int(i) }

// Str returns the string key s. The caller must not use a key for which Valid returns an error.
func Str(s string) Key { return block.Str(s) }

// Bounds of the weight of an edge.
const (
	MinWeight = block.MinWeight
	MaxWeight = block.MaxWeight
)

// ValidWeight reports whether w can be the weight of an edge.
func ValidWeight(w float32) bool { return block.ValidWeight(w) }

// The limits of the layout, since ids and offsets have 32 bits.
const (
	MaxNodes = math.MaxUint32 // nodes, deleted ones included
	// MaxEntries is the number of entries of the rows in one direction that fit into memory; the
	// store has no limit.
	MaxEntries = math.MaxUint32
)

// tooManyNodes returns ErrTooLarge for a node that cannot be numbered.
func tooManyNodes() error {
	return fmt.Errorf("%w: the graph has %d nodes, deleted ones included, and cannot have more", ErrTooLarge, MaxNodes)
}

// nodesPerCheck is the number of nodes visited between two checks of a context.
const nodesPerCheck = 1 << 10

// checkEvery returns the error of ctx at every thousandth step or so.
func checkEvery(ctx context.Context, step int) error {
	if step%nodesPerCheck == 0 {
		return ctx.Err()
	}
	return nil
}

// maxPart is the maximum size of a stored value in bytes. It is below the size at which Badger
// would put the value into its value log.
const maxPart = 512 << 10

// putSplit stores value under key followed by a part number, in parts of at most maxPart. The first
// part begins with the length and the crc32c of the whole value. If a longer value was stored under
// key before, its last parts remain and are not read.
func putSplit(w Writer, key, value []byte) error {
	head := make([]byte, 0, 12+min(len(value), maxPart))
	head = binary.LittleEndian.AppendUint64(head, uint64(len(value)))
	head = binary.LittleEndian.AppendUint32(head, Checksum(value))
	part := append(head, value[:min(len(value), maxPart)]...)
	for i := 0; ; i++ {
		if err := w.Set(partKey(key, i), part); err != nil {
			return err
		}
		rest := value[min(len(value), (i+1)*maxPart):]
		if len(rest) == 0 {
			return nil
		}
		part = bytes.Clone(rest[:min(len(rest), maxPart)])
	}
}

func partKey(key []byte, i int) []byte {
	return binary.BigEndian.AppendUint16(bytes.Clone(key), uint16(i))
}

// splitKey splits a key written by putSplit into the key passed to putSplit and the part number.
func splitKey(key []byte) ([]byte, uint16, bool) {
	n := len(key) - 2
	if n < 1 {
		return nil, 0, false
	}
	return key[:n], binary.BigEndian.Uint16(key[n:]), true
}

// Checksum returns the crc32c of b.
func Checksum(b []byte) uint32 { return block.Checksum(b) }

// getter reads single values.
type getter interface {
	Get(key []byte) (value []byte, ok bool, err error)
}

// getSplit reads a value stored by putSplit.
func getSplit(r getter, key []byte) (value []byte, ok bool, err error) {
	part, ok, err := r.Get(partKey(key, 0))
	if err != nil || !ok {
		return nil, false, err
	}
	value, err = joinParts(r, key, part)
	return value, err == nil, err
}

// joinParts returns the value stored under key, whose first part is given.
func joinParts(r getter, key, part []byte) ([]byte, error) {
	if len(part) < 12 {
		return nil, fmt.Errorf("%w: %q: first part of %d bytes", ErrCorrupt, key, len(part))
	}
	size, sum := binary.LittleEndian.Uint64(part), binary.LittleEndian.Uint32(part[8:])
	value := bytes.Clone(part[12:])
	for i := 1; uint64(len(value)) < size; i++ {
		part, ok, err := r.Get(partKey(key, i))
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("%w: %q: part %d is missing", ErrCorrupt, key, i)
		}
		value = append(value, part...)
	}
	if uint64(len(value)) != size || Checksum(value) != sum {
		return nil, fmt.Errorf("%w: %q: %d of %d bytes, or their checksum", ErrCorrupt, key, len(value), size)
	}
	return value, nil
}

// splitValue is a value stored by putSplit, or the error of reading it.
type splitValue struct {
	Entry
	numbers  []uint64 // the numbers in the key
	err      error
	wrongKey bool // Key is a stored key that is not one of its kind
}

// scanSplit yields the values of a kind that putSplit stored, starting at the key from. It yields a
// damaged value with its error and continues. It stops at an error of the reader.
func scanSplit(r Reader, kind byte, from []byte) iter.Seq2[splitValue, error] {
	return func(yield func(splitValue, error) bool) {
		var last []byte // key of the last value
		for e, err := range r.Scan([]byte{kind}, from) {
			if err != nil {
				yield(splitValue{}, err)
				return
			}
			key, part, ok := splitKey(e.Key)
			if ok && part > 0 && bytes.Equal(key, last) {
				continue // joinParts reads it, or it is left over from a longer value
			}
			last = bytes.Clone(key)
			v := splitValue{Entry: Entry{Key: last}}
			if ok {
				v.numbers, ok = keyNumbers(key)
			}
			switch {
			case !ok:
				v.Key, v.wrongKey = bytes.Clone(e.Key), true
				v.err = corruptKey(v.Key)
			case part > 0:
				v.err = fmt.Errorf("%w: %q: the first part is missing", ErrCorrupt, last)
			default:
				v.Value, v.err = joinParts(r, last, e.Value)
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// delete deletes all parts of the value.
func (v *splitValue) delete(r Reader, w Writer) error {
	if v.wrongKey { // other keys may begin with it
		return w.Delete(v.Key)
	}
	return deleteRange(r, w, v.Key, nil, nil)
}

// deleteRange deletes the keys with the prefix that r reads, starting at the key from, up to but
// not including the key to (nil: all).
func deleteRange(r Reader, w Writer, prefix, from, to []byte) error {
	for e, err := range r.Scan(prefix, from) {
		if err != nil {
			return err
		}
		if to != nil && bytes.Compare(e.Key, to) >= 0 {
			return nil
		}
		if err := w.Delete(bytes.Clone(e.Key)); err != nil {
			return err
		}
	}
	return nil
}
