package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

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
)

// OnDemand reports whether the stored keys from a to b all belong to records that are read when
// they are needed. Other records then tell that they exist, so a loss is noticed.
func OnDemand(a, b []byte) bool {
	return len(a) > 0 && len(b) > 0 && a[0] == b[0] &&
		slices.Contains([]byte{prefixDict, prefixKeyOrder, prefixOut, prefixIn, prefixDegree, prefixProperty}, a[0])
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
