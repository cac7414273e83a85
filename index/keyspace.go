package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"kith/ppr"
)

// The first byte of every stored key; see the table in doc.go.
const (
	prefixMeta        = 'm'
	prefixBase        = 'b'
	prefixDict        = 'k'
	prefixNode        = 'n'
	prefixFeature     = 'f'
	prefixAdjacency   = 'x'
	prefixLog         = 'l'
	prefixState       = 's'
	prefixObservation = 'o'
	prefixModel       = 'w'
	prefixDocument    = 'v'
	prefixDecision    = 'd'
	prefixDecisionEnd = 'e'
	prefixEvent       = 't'
)

func metaKey() []byte { return []byte{prefixMeta} }

// IsMeta reports whether key is that of the meta record, which every commit of a version writes.
func IsMeta(key []byte) bool { return len(key) == 3 && key[0] == prefixMeta }

// generationPrefix returns the key prefix of the records of one kind (base, dictionary, nodes, adjacency) and
// generation.
func generationPrefix(kind byte, generation uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, generation)
}

func blockKey(kind byte, generation, no uint32) []byte {
	return binary.BigEndian.AppendUint32(generationPrefix(kind, generation), no)
}

// baseKey returns the key of the copy of the meta record from the time when the generation became the base.
func baseKey(generation uint32) []byte { return generationPrefix(prefixBase, generation) }

func featureKey(block uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{prefixFeature}, block)
}

func logKey(version uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{prefixLog}, version)
}

func stateKey(of StateID) []byte {
	b := binary.BigEndian.AppendUint64([]byte{prefixState, byte(of.Form)}, math.Float64bits(of.Alpha))
	return binary.BigEndian.AppendUint32(b, of.Source)
}

func observationKey(version uint64, no uint32) []byte {
	b := binary.BigEndian.AppendUint64([]byte{prefixObservation}, version)
	return binary.BigEndian.AppendUint32(b, no)
}

// modelKey returns the key of a model. A zero byte, which no name contains, ends the name.
func modelKey(name string) []byte {
	return append(append([]byte{prefixModel}, name...), 0)
}

// documentKey returns the key of one of a model's documents.
func documentKey(name string, serial uint64) []byte {
	b := append(append([]byte{prefixDocument}, name...), 0)
	return binary.BigEndian.AppendUint64(b, serial)
}

// splitKey splits a key written by putSplit into the key passed to putSplit and the part number.
func splitKey(key []byte) ([]byte, uint16, bool) {
	n := len(key) - 2
	if n < 1 {
		return nil, 0, false
	}
	return key[:n], binary.BigEndian.Uint16(key[n:]), true
}

// parseStateKey parses a key made by stateKey.
func parseStateKey(key []byte) (of StateID, ok bool) {
	if len(key) != 14 || key[1] > byte(ppr.Row) {
		return of, false
	}
	of = StateID{Form: ppr.Form(key[1]), Alpha: math.Float64frombits(binary.BigEndian.Uint64(key[2:])), Source: binary.BigEndian.Uint32(key[10:])}
	return of, of.Alpha > 0 && of.Alpha < 1
}

func corruptKey(key []byte) error { return fmt.Errorf("%w: key %q", ErrCorrupt, key) }

// IsCurrent reports whether the record under key belongs to the version that m describes and is not derived: it is
// neither a leftover nor a cached state.
func (m *Meta) IsCurrent(key []byte) bool {
	number := func(n int) uint64 { // number in the first n bytes after the prefix
		b := make([]byte, 8)
		copy(b[8-n:], key[1:min(len(key), 1+n)])
		return binary.BigEndian.Uint64(b)
	}
	switch {
	case len(key) < 2:
		return false
	case key[0] == prefixState:
		return false
	case key[0] == prefixBase:
		return number(4) == uint64(m.Generation)
	case bytes.IndexByte(generationKinds[:], key[0]) >= 0:
		return m.Generation > 0 && number(4) == uint64(m.Generation)
	case key[0] == prefixLog:
		return number(8) > m.LogStart && number(8) <= m.Version
	case key[0] == prefixObservation:
		return number(8) > m.Forgotten && number(8) <= m.Version
	}
	return true
}
