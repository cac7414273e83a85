package index

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"kith/index/internal/block"
	"kith/index/internal/column"
	"kith/index/internal/huge"
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

// Source reads values of the store at the version of a base or of a model, as long as a reader is
// open that sees the same base or model. It is safe for concurrent use, and the caller may keep the
// value.
type Source interface {
	Read(key []byte) (value []byte, ok bool, err error)
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

// Erased returns the key of an erased node; see [block.Erased].
func Erased(id ID) Key { return block.Erased(id) }

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
func putSplit(w Writer, key, value []byte) error { return putParts(w, key, value, maxPart) }

// putParts is putSplit with parts of size bytes.
func putParts(w Writer, key, value []byte, size int) error {
	head := make([]byte, 0, splitHead+min(len(value), size))
	head = binary.LittleEndian.AppendUint64(head, uint64(len(value)))
	head = binary.LittleEndian.AppendUint32(head, Checksum(value))
	part := append(head, value[:min(len(value), size)]...)
	for i := 0; ; i++ {
		if err := w.Set(partKey(key, i), part); err != nil {
			return err
		}
		rest := value[min(len(value), (i+1)*size):]
		if len(rest) == 0 {
			return nil
		}
		part = bytes.Clone(rest[:min(len(rest), size)])
	}
}

// splitHead is the number of bytes of the length and the checksum that the first part begins with.
const splitHead = 12

// readSplitHead returns the length and the checksum of a value, given its first part.
func readSplitHead(key, first []byte) (size uint64, sum uint32, err error) {
	if len(first) < splitHead {
		return 0, 0, fmt.Errorf("%w: %q: first part of %d bytes", ErrCorrupt, key, len(first))
	}
	return binary.LittleEndian.Uint64(first), binary.LittleEndian.Uint32(first[8:]), nil
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

// maxAhead is the maximal number of bytes that joinParts allocates because a first part claims
// them.
const maxAhead = 64 << 20

// joinParts returns the value stored under key, whose first part is given.
func joinParts(r getter, key, part []byte) ([]byte, error) {
	size, sum, err := readSplitHead(key, part)
	if err != nil {
		return nil, err
	}
	value := append(huge.Dirty[byte](int(min(size, maxAhead)))[:0], part[splitHead:]...)
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

// splitReader reads a value that putParts stored, at any offset, without its checksum.
type splitReader struct {
	source Source
	key    []byte
	size   int // bytes of the value
	part   int // bytes of each part but the last
}

// openSplit returns a reader of a value that putParts stored. It reads the first part.
func openSplit(s Source, key []byte) (r *splitReader, ok bool, err error) {
	first, ok, err := s.Read(partKey(key, 0))
	if err != nil || !ok {
		return nil, false, err
	}
	size, _, err := readSplitHead(key, first)
	if err != nil {
		return nil, false, err
	}
	r = &splitReader{s, key, int(size), len(first) - splitHead}
	if r.size < r.part || r.part == 0 && r.size > 0 {
		return nil, false, fmt.Errorf("%w: %q: first part of %d bytes of %d", ErrCorrupt, key, r.part, r.size)
	}
	return r, true, nil
}

// ReadAt implements io.ReaderAt. It is safe for concurrent use.
func (r *splitReader) ReadAt(b []byte, off int64) (n int, err error) {
	for n < len(b) && off < int64(r.size) {
		i := int(off) / r.part
		part, ok, err := r.source.Read(partKey(r.key, i))
		if err != nil {
			return n, err
		}
		if i == 0 && ok {
			part = part[min(splitHead, len(part)):]
		}
		if want := min(r.part, r.size-i*r.part); len(part) != want {
			return n, fmt.Errorf("%w: %q: part %d has %d bytes of %d", ErrCorrupt, r.key, i, len(part), want)
		}
		copied := copy(b[n:], part[int(off)%r.part:])
		n, off = n+copied, off+int64(copied)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
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

// The first byte of every stored key, which is the kind of its record; see the table in doc.go.
const (
	prefixMeta        = 'm'
	prefixBase        = 'b'
	prefixDict        = 'k'
	prefixKeyOrder    = 'j'
	prefixNode        = 'n'
	prefixProperty    = 'p'
	prefixFeature     = 'f'
	prefixOut         = 'x'
	prefixIn          = 'y'
	prefixDirectory   = 'i'
	prefixDegree      = 'g'
	prefixLog         = 'l'
	prefixState       = 's'
	prefixObservation = 'o'
	prefixModel       = 'w'
	prefixDocument    = 'v'
	prefixDecision    = 'd'
	prefixDecisionEnd = 'e'
	prefixEvent       = 't'
	prefixChange      = 'c'
	prefixModelChange = 'u'
	prefixVariable    = 'r'
	prefixOutcome     = 'h'
)

// OnDemand reports whether the stored keys from a to b all belong to records that are read when
// they are needed. Other records then tell that they exist, so a loss is noticed.
func OnDemand(a, b []byte) bool {
	return len(a) > 0 && len(b) > 0 && a[0] == b[0] &&
		slices.Contains([]byte{prefixDict, prefixKeyOrder, prefixOut, prefixIn, prefixDegree, prefixProperty, prefixDocument}, a[0])
}

// WrittenOnce reports whether the record under a key is a block of a generation: no other record
// ever has the same key.
func WrittenOnce(key []byte) bool {
	return len(key) > 0 && bytes.IndexByte(generationKinds[:], key[0]) >= 0
}

// numberWidths returns the widths in bytes of the numbers in the keys of a kind, and false for a
// kind whose keys have names.
func numberWidths(kind byte) (widths []int, ok bool) {
	switch kind {
	case prefixMeta: // no number
	case prefixBase: // generation
		widths = []int{4}
	case prefixDict, prefixKeyOrder, prefixNode, prefixProperty, prefixEvent, prefixOut, prefixIn, prefixDegree, prefixDirectory:
		// generation, block; direction
		widths = []int{4, 4}
	case prefixFeature: // block
		widths = []int{4}
	case prefixLog, prefixChange, prefixModelChange, prefixDecision: // version; number
		widths = []int{8}
	case prefixState: // form, alpha, accuracy, source
		widths = []int{1, 8, 1, 4}
	case prefixObservation: // version, number
		widths = []int{8, 4}
	case prefixDecisionEnd: // end time, number
		widths = []int{8, 8}
	default:
		return nil, false
	}
	return widths, true
}

// makeKey returns the key of a kind with these numbers, or the prefix of all such keys if numbers
// are left out.
func makeKey[T uint32 | uint64](kind byte, numbers ...T) []byte {
	widths, _ := numberWidths(kind)
	b := append(make([]byte, 0, 24), kind)
	for i, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, uint64(n)<<(64-8*widths[i]))
		b = b[:len(b)-8+widths[i]]
	}
	return b
}

// keyNumbers is the inverse of makeKey. It returns false for bytes that are not a key of their
// kind, and no numbers for a kind with names.
func keyNumbers(key []byte) (numbers []uint64, ok bool) {
	if len(key) == 0 {
		return nil, false
	}
	widths, ok := numberWidths(key[0])
	if !ok {
		return nil, true
	}
	rest := key[1:]
	for _, width := range widths {
		if len(rest) < width {
			return nil, false
		}
		n := uint64(0)
		for _, b := range rest[:width] {
			n = n<<8 | uint64(b)
		}
		numbers, rest = append(numbers, n), rest[width:]
	}
	return numbers, len(rest) == 0
}

// firstNumber returns the first number of a key that may end with a part number. Bytes that are
// missing count as 0.
func firstNumber(key []byte) uint64 {
	widths, _ := numberWidths(key[0])
	if len(widths) == 0 {
		return 0
	}
	var b [8]byte
	copy(b[8-widths[0]:], key[1:min(len(key), 1+widths[0])])
	return binary.BigEndian.Uint64(b[:])
}

// nameKey returns the key, or the prefix of the keys, of a kind with names. A zero byte, which no
// name contains, ends the name.
func nameKey(kind byte, name string) []byte { return append(append([]byte{kind}, name...), 0) }

// documentKey returns the key of a model's document.
func documentKey(name string, serial uint64) []byte {
	return binary.BigEndian.AppendUint64(nameKey(prefixDocument, name), serial)
}

// directoryKey returns the key of the directory of the blocks of a kind.
func directoryKey(kind byte, generation uint32) []byte {
	return makeKey(prefixDirectory, generation, uint32(kind))
}

// decisionEndKey flips the sign bit of the time, so that keys are in time order.
func decisionEndKey(end int64, id uint64) []byte {
	return makeKey(prefixDecisionEnd, uint64(end)^(math.MaxInt64+1), id)
}

// MetaKey returns the key of the first part of the meta record.
func MetaKey() []byte { return partKey([]byte{prefixMeta}, 0) }

// IsMeta reports whether key is the key of the meta record, which every commit of a version writes.
func IsMeta(key []byte) bool { return len(key) == 3 && key[0] == prefixMeta }

func corruptKey(key []byte) error { return fmt.Errorf("%w: key %q", ErrCorrupt, key) }

// generationKinds are the prefixes of a generation's blocks.
var generationKinds = [...]byte{prefixDict, prefixKeyOrder, prefixNode, prefixProperty, prefixEvent, prefixOut, prefixIn, prefixDirectory, prefixDegree}

// newest returns the greatest first number in the keys of a kind, and least if no key has a greater
// one.
func newest(r Reader, kind byte, least uint64) (uint64, error) {
	for e, err := range r.Scan([]byte{kind}, makeKey(kind, least+1)) {
		if err != nil {
			return 0, err
		}
		least = max(least, firstNumber(e.Key))
	}
	return least, nil
}

// Value is a typed value of a property of a node. See [column.Value].
type Value = column.Value

// NewValue returns the value of a kind; see [column.New].
func NewValue(kind Kind, num int64, text string, list []string) Value {
	return column.New(kind, num, text, list)
}

// Kind is the type of the values of a property.
type Kind = column.Kind

// The types of properties.
const (
	NoValue     = column.None
	BoolKind    = column.Bool
	IntegerKind = column.Int
	FloatKind   = column.Float
	StringKind  = column.String
	TimeKind    = column.Time
	ListKind    = column.List
)

// Test selects values of a property. See [column.Test].
type Test = column.Test

// Bound is a bound of the values that a Test selects.
type Bound = column.Bound

// Variables are small values of the application, by name. A snapshot has all of them in memory.

// Variable is a value under a name. No bytes mean that there is none.
type Variable struct {
	//lint:ignore U1000 package msgpack reads the tag
	_msgpack struct{} `msgpack:",as_array"`
	Name     string
	Value    []byte
}

// The limits of variables.
const (
	MaxVariables     = 1024     // number of variables
	MaxVariable      = 64 << 10 // bytes of a value
	MaxVariableBytes = 1 << 20  // bytes of all names and values together
)

// write writes the record of a variable, or deletes it if there is no value.
func (v Variable) write(w Writer) error {
	key := nameKey(prefixVariable, v.Name)
	if len(v.Value) == 0 {
		return w.Delete(partKey(key, 0)) // a value is never longer than a part
	}
	return putSplit(w, key, v.Value)
}

// variables are all variables of a version, ascending by name.
//
// INVARIANT: the elements and their values are never changed; a change makes another slice.
type variables []Variable

func (v variables) find(name string) (int, bool) {
	return slices.BinarySearchFunc(v, name, func(v Variable, name string) int { return cmp.Compare(v.Name, name) })
}

func (v variables) bytes() (n int64) {
	for i := range v {
		n += int64(len(v[i].Name) + len(v[i].Value))
	}
	return n
}

// with returns the variables with another value of one of them.
func (v variables) with(name string, value []byte) variables {
	i, known := v.find(name)
	next := slices.Clone(v)
	switch {
	case len(value) > 0 && known:
		next[i].Value = bytes.Clone(value)
	case len(value) > 0:
		next = slices.Insert(next, i, Variable{Name: name, Value: bytes.Clone(value)})
	case known:
		next = slices.Delete(next, i, i+1)
	}
	return next
}

// changes returns the variables that differ in a later version, as they are there.
func (v variables) changes(later variables) (all []Variable) {
	if len(v) == len(later) && (len(v) == 0 || &v[0] == &later[0]) {
		return nil
	}
	for len(v)+len(later) > 0 {
		switch {
		case len(later) == 0 || len(v) > 0 && v[0].Name < later[0].Name:
			all, v = append(all, Variable{Name: v[0].Name}), v[1:]
		case len(v) == 0 || later[0].Name < v[0].Name:
			all, later = append(all, later[0]), later[1:]
		default:
			if !bytes.Equal(v[0].Value, later[0].Value) {
				all = append(all, later[0])
			}
			v, later = v[1:], later[1:]
		}
	}
	return all
}
