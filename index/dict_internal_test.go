package index

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"kith/index/internal/block"
)

var genKey = rapid.OneOf(
	rapid.Custom(func(t *rapid.T) Key { return Int(rapid.Int64().Draw(t, "int")) }),
	rapid.Custom(func(t *rapid.T) Key { return Int(rapid.Int64Range(-3, 9).Draw(t, "int")) }),
	rapid.Custom(func(t *rapid.T) Key { return Str(rapid.StringMatching("[a-c0-9é]{1,4}").Draw(t, "str")) }),
)

func TestDictIsAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfDistinct(genKey, func(k Key) Key { return k }).Draw(t, "keys")
		if rapid.Bool().Draw(t, "sorted") {
			slices.SortFunc(keys, Key.Compare)
		}
		base := rapid.IntRange(0, len(keys)).Draw(t, "base")
		d, err := newDict(keys[:base])
		if err != nil {
			t.Fatal(err)
		}
		for rest := keys[base:]; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "added")
			d.add(rest[:n])
			rest = rest[n:]
		}
		if got := d.keys(); !slices.Equal(got, keys) || d.len() != len(keys) {
			t.Fatalf("%d keys %v, want %v", d.len(), got, keys)
		}
		if err := d.Check(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i, k := range keys {
			if id, ok := d.id(k); !ok || id != ID(i) {
				t.Fatalf("%v: id %d, %v, want %d", k, id, ok, i)
			}
		}
		k := genKey.Draw(t, "asked")
		if id, ok := d.id(k); ok != slices.Contains(keys, k) || ok && keys[id] != k {
			t.Fatalf("%v: id %d, %v", k, id, ok)
		}
	})
}

func TestDictRefusesARepeatedKey(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]Key{{Int(1), Int(1)}, {Str("a"), Int(1), Str("a")}} {
		_, err := newDict(keys)
		wantCorrupt(t, "a key twice", err)
	}
	d, err := newDict([]Key{Int(1)})
	if err != nil {
		t.Fatal(err)
	}
	d.add([]Key{Int(1)})
	wantCorrupt(t, "check of a key added again", d.Check(context.Background()))
}

func TestDictConcurrently(t *testing.T) {
	t.Parallel()
	d, err := newDict([]Key{Int(0)})
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				n := d.len()
				if k := d.key(ID(n - 1)); k != Int(int64(n-1)) {
					t.Errorf("key %v of id %d", k, n-1)
				}
				if id, ok := d.id(Int(int64(n - 1))); !ok || int(id) != n-1 {
					t.Errorf("id %d of key %d", id, n-1)
				}
				if n > 1000 {
					return
				}
			}
		})
	}
	for i := int64(1); i <= 1000; i++ {
		d.add([]Key{Int(i)})
	}
	readers.Wait()
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key   Key
		text  string
		value any
		valid bool
	}{
		{Int(42), "42", int64(42), true},
		{Int(math.MinInt64), "-9223372036854775808", int64(math.MinInt64), true},
		{Key{}, "0", int64(0), true},
		{Str("42"), "'42'", "42", true},
		{Str("it's"), "'it''s'", "it's", true},
		{Str(""), "''", "", false},
		{Str("a\x00b"), "'a\x00b'", "a\x00b", false},
		{Str("\xff"), "'\xff'", "\xff", false},
		{Str(strings.Repeat("x", block.MaxKeyLen)), "'" + strings.Repeat("x", block.MaxKeyLen) + "'", strings.Repeat("x", block.MaxKeyLen), true},
		{Str(strings.Repeat("x", block.MaxKeyLen+1)), "'" + strings.Repeat("x", block.MaxKeyLen+1) + "'", strings.Repeat("x", block.MaxKeyLen+1), false},
	} {
		if c.key.Literal() != c.text || c.key.String() != fmt.Sprint(c.value) || c.key.Value() != c.value || (c.key.Valid() == nil) != c.valid {
			t.Errorf("%.40v: value %.40v, valid: %v", c.key, c.key.Value(), c.key.Valid())
		}
	}
	order := []Key{Int(-1), Int(0), Int(10), Str("0"), Str("a"), Str("b")}
	for i, a := range order {
		for j, b := range order {
			if got := a.Compare(b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%v against %v: %d", a, b, got)
			}
		}
	}
}

// keys returns all keys, ordered by id.
func (d *dict) keys() []Key {
	keys := make([]Key, d.len())
	for i := range keys {
		keys[i] = d.key(ID(i))
	}
	return keys
}
