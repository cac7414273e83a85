package index

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// memory is a store in a map. It overwrites returned slices at the next call, as the contract of
// Reader allows.
type memory struct {
	entries map[string][]byte
	earlier map[string][]byte // previous values of entries, including deleted ones
	key     []byte
	value   []byte
}

func newMemory() *memory { return &memory{entries: map[string][]byte{}, earlier: map[string][]byte{}} }

// clone returns a store with the same values, which are shared.
func (m *memory) clone() *memory {
	return &memory{entries: maps.Clone(m.entries), earlier: maps.Clone(m.earlier)}
}

// alter changes a byte of a value, but not in the stores that share it.
func (m *memory) alter(key []byte, at int) {
	b := bytes.Clone(m.entries[string(key)])
	b[at]++
	m.entries[string(key)] = b
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

// writeTo writes what a load results in to the store, and returns it. Its rows stay readable when
// the store drops them.
func (b *Bulk) writeTo(ctx context.Context, m *memory, generation uint32) (*Snapshot, Tally, error) {
	next, tally, err := b.Write(ctx, m, generation, &Stored{Cache: 1 << 10})
	if err == nil {
		next.Graph.out.base.stored.cache.source = memorySource{m.clone()}
	}
	return next, tally, err
}

// result is writeTo for a store of its own.
func (b *Bulk) result() (*Snapshot, Tally, error) {
	return b.writeTo(context.Background(), newMemory(), 1)
}

// compactTo writes a generation to the store, and returns it. It stays readable when the store
// drops it.
func (s *Snapshot) compactTo(t rapid.TB, m *memory, generation uint32) *Base {
	t.Helper()
	base, err := s.WriteGeneration(m, generation, &Stored{Cache: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	base.cache.source = memorySource{m.clone()}
	return base
}
