package index

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"strings"
)

// memory is a store in a map. It overwrites returned slices at the next call, as the contract of Reader allows.
type memory struct {
	entries map[string][]byte
	earlier map[string][]byte // previous values of entries, including deleted ones
	key     []byte
	value   []byte
}

func newMemory() *memory { return &memory{entries: map[string][]byte{}, earlier: map[string][]byte{}} }

func (m *memory) clone() *memory {
	return &memory{entries: maps.Clone(m.entries), earlier: maps.Clone(m.earlier)}
}

func (m *memory) lend(key string) Entry {
	clear(m.key)
	clear(m.value)
	m.key = append(m.key[:0], key...)
	m.value = append(m.value[:0], m.entries[key]...)
	return Entry{m.key, m.value}
}

func (m *memory) Get(key []byte) ([]byte, bool, error) {
	if _, ok := m.entries[string(key)]; !ok {
		return nil, false, nil
	}
	return m.lend(string(key)).Value, true, nil
}

func (m *memory) Scan(prefix, from []byte) iter.Seq2[Entry, error] {
	if bytes.Compare(from, prefix) < 0 {
		from = prefix
	}
	return func(yield func(Entry, error) bool) {
		for _, k := range slices.Sorted(maps.Keys(m.entries)) {
			if strings.HasPrefix(k, string(prefix)) && k >= string(from) && !yield(m.lend(k), nil) {
				return
			}
		}
	}
}

func (m *memory) Set(key, value []byte) error {
	m.remember(key)
	m.entries[string(key)] = value
	return nil
}

func (m *memory) Delete(key []byte) error {
	m.remember(key)
	delete(m.entries, string(key))
	return nil
}

func (m *memory) remember(key []byte) {
	if old, ok := m.entries[string(key)]; ok {
		m.earlier[string(key)] = old
	}
}

// keys returns the stored keys with a prefix.
func (m *memory) keys(prefix byte) (found []string) {
	for k := range m.entries {
		if k[0] == prefix {
			found = append(found, k)
		}
	}
	slices.Sort(found)
	return found
}

// memorySource is a memory as a Source.
type memorySource struct{ m *memory }

func (s memorySource) Read(key []byte) ([]byte, bool, error) {
	v, ok := s.m.entries[string(key)]
	return v, ok, nil
}
