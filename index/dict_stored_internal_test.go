package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"kith/index/internal/block"
)

// storedDict writes keys as generation 1 and returns their dictionary, which is read on demand,
// with the store.
func storedDict(t testing.TB, keys []Key, cache int64) (*dict, *memory) {
	t.Helper()
	store := newMemory()
	d, err := newDict(keys)
	must(t, err)
	c := content{keys: d.first(len(keys)), ascending: d.ascending(len(keys))}
	_, err = c.writeDict(store, 1)
	must(t, err)
	return openDict(t, keys, store, cache), store
}

// openDict returns the dictionary of keys, which is in the store, as it is read on demand.
func openDict(t testing.TB, keys []Key, store *memory, cache int64) *dict {
	t.Helper()
	stored, err := openKeys(store, (&Stored{memorySource{store}, cache}).cache(1), &Meta{Generation: 1, BaseNodes: int64(len(keys))})
	must(t, err)
	return stored.dict()
}

// keyLists returns lists of n keys: integers and strings, in key order and not.
func keyLists(n int) map[string][]Key {
	rng := rand.New(rand.NewPCG(1, 2))
	var ints, strs, mixed []Key
	for i := range n {
		ints = append(ints, Int(int64(i)*3-999))
		strs = append(strs, Str(fmt.Sprintf("%0*d", 1+i%40, i)))
		if mixed = append(mixed, Int(rng.Int64())); i%3 == 0 {
			mixed[i] = strs[i]
		}
	}
	sorted := slices.Clone(mixed)
	slices.SortFunc(sorted, Key.Compare)
	return map[string][]Key{"integers": ints, "strings": strs, "mixed": mixed, "sorted": sorted, "one": {Str("a")}, "none": nil}
}

// TestStoredDict verifies that a dictionary that is read on demand is the one in memory, whatever
// the cache holds and however many readers there are.
func TestStoredDict(t *testing.T) {
	t.Parallel()
	for name, keys := range keyLists(12_000) {
		for _, cache := range []int64{0, 30 << 10, 1 << 30} {
			t.Run(fmt.Sprint(name, cache), func(t *testing.T) {
				t.Parallel()
				d, _ := storedDict(t, keys, cache)
				var all sync.WaitGroup
				for reader := range 4 {
					all.Go(func() { compareDict(t, d, keys, rand.New(rand.NewPCG(uint64(reader), 1))) })
				}
				all.Wait()
				if b := d.stored.cache.Size(); b > cache+5000 {
					t.Errorf("the cache holds %d bytes, its budget is %d", b, cache)
				}
				bytes := d.loadedBytes()
				must(t, d.err(), d.Check(context.Background()), d.Load(context.Background()))
				want, _ := newDict(keys)
				if directory := bytes - want.bytes(); d.bytes() != bytes || directory < 0 || directory > 60+int64(len(keys)) {
					t.Errorf("%d bytes, loaded %d, want %d and few more", bytes, d.bytes(), want.bytes())
				}
				compareDict(t, d, keys, rand.New(rand.NewPCG(9, 1)))
				must(t, d.Check(context.Background()))
			})
		}
	}
}

func compareDict(t *testing.T, d *dict, keys []Key, rng *rand.Rand) {
	if d.len() != len(keys) {
		t.Errorf("%d keys, want %d", d.len(), len(keys))
	}
	for range min(len(keys), 2000) {
		id := ID(rng.IntN(len(keys)))
		if k := d.key(id); k != keys[id] {
			t.Errorf("key %v of %d, want %v", k, id, keys[id])
		}
		if got, ok := d.id(keys[id]); !ok || got != id {
			t.Errorf("id %d, %v of %v, want %d", got, ok, keys[id], id)
		}
		if got, ok := d.id(Int(rng.Int64N(99_999)*3 - 1_000)); ok {
			t.Errorf("id %d of no key", got)
		}
		if got, ok := d.id(Str(fmt.Sprint("!", rng.IntN(9999)))); ok {
			t.Errorf("id %d of no key", got)
		}
	}
}

// TestStoredDictDamage verifies that a block of keys which cannot be read is an error that stays.
func TestStoredDictDamage(t *testing.T) {
	t.Parallel()
	lost := errors.New("lost")
	for name, keys := range keyLists(6_000) {
		if len(keys) < 2 {
			continue
		}
		_, sound := storedDict(t, keys, 1<<20)
		for what, damage := range map[string]func(d *dict, store *memory){
			"block altered": func(d *dict, store *memory) { store.alter(makeKey(prefixDict, 1, d.stored.First[2]), 20) },
			"block missing": func(d *dict, store *memory) { delete(store.entries, string(makeKey(prefixDict, 1, d.stored.First[2]))) },
			"no block": func(d *dict, store *memory) {
				store.entries[string(makeKey(prefixDict, 1, d.stored.First[2]))] = block.WithChecksum([]byte("no block of keys"))
			},
			"fewer keys": func(d *dict, store *memory) {
				store.entries[string(makeKey(prefixDict, 1, d.stored.First[2]))] = block.WithChecksum([]byte{0, 2, 0, 0, 1, 0})
			},
			"error of disk": func(d *dict, _ *memory) { d.stored.cache.source = failingSource{lost} },
		} {
			for _, how := range []string{"read", "load", "check"} {
				store := sound.clone()
				d := openDict(t, keys, store, 1<<20)
				damage(d, store)
				var err error
				switch how {
				case "load":
					err = d.Load(context.Background())
				case "check":
					err = d.Check(context.Background())
				}
				for id := range ID(len(keys)) {
					d.key(id)
				}
				if how == "read" {
					err = d.err()
				}
				if !errors.Is(err, ErrCorrupt) && !errors.Is(err, lost) || d.err() == nil {
					t.Errorf("%s, %s, %s: %v, %v", name, what, how, err, d.err())
				}
			}
		}
	}
}

// TestStoredDictOrder verifies that a dictionary in key order that contradicts the one by id is
// found.
func TestStoredDictOrder(t *testing.T) {
	t.Parallel()
	keys := []Key{Int(5), Int(3), Int(9)}
	for name, entries := range map[string][]block.KeyEntry{
		"other ids":     {{Key: Int(3), ID: 0}, {Key: Int(5), ID: 1}, {Key: Int(9), ID: 2}},
		"a key less":    {{Key: Int(3), ID: 1}, {Key: Int(5), ID: 0}},
		"another key":   {{Key: Int(3), ID: 1}, {Key: Int(4), ID: 0}, {Key: Int(9), ID: 2}},
		"a key twice":   {{Key: Int(3), ID: 1}, {Key: Int(3), ID: 1}, {Key: Int(9), ID: 2}},
		"no order":      {{Key: Int(5), ID: 0}, {Key: Int(3), ID: 1}, {Key: Int(9), ID: 2}},
		"an id too far": {{Key: Int(3), ID: 1}, {Key: Int(5), ID: 77}, {Key: Int(9), ID: 2}},
	} {
		d, store := storedDict(t, keys, 1<<20)
		p := block.KeyPacker{WithIDs: true, Emit: func(_ block.KeyEntry, block []byte) error {
			return store.Set(makeKey[uint32](prefixKeyOrder, 1, 0), block)
		}}
		for _, k := range entries {
			must(t, p.Add(k))
		}
		must(t, p.Flush())
		wantCorrupt(t, name+": check", d.Check(context.Background()))
		wantCorrupt(t, name+": load", d.Load(context.Background()))
	}
}

// TestMergeKeys verifies that two ascending lists become one, and that an error ends it.
func TestMergeKeys(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfDistinct(genKey, func(k Key) Key { return k }).Draw(t, "keys")
		slices.SortFunc(all, Key.Compare)
		var lists [2][]block.KeyEntry
		for i, k := range all {
			side := rapid.IntRange(0, 1).Draw(t, "list")
			lists[side] = append(lists[side], block.KeyEntry{Key: k, ID: ID(i)})
		}
		fails := rapid.IntRange(-1, 1).Draw(t, "fails")
		list := func(side int) func(func(block.KeyEntry, error) bool) {
			return func(yield func(block.KeyEntry, error) bool) {
				for _, k := range lists[side] {
					if !yield(k, nil) {
						return
					}
				}
				if side == fails {
					yield(block.KeyEntry{}, broken)
				}
			}
		}
		var got []Key
		var last error
		for k, err := range mergeKeys(list(0), list(1)) {
			if last = err; err == nil {
				got = append(got, k.Key)
			}
		}
		if fails < 0 && (last != nil || !slices.Equal(got, all)) || fails >= 0 && last != broken {
			t.Fatalf("%v, %v; want %v", got, last, all)
		}
	})
}

// BenchmarkDict measures look-ups of random keys and ids: in memory, in cached blocks, and in
// blocks that must be read from a map and verified.
func BenchmarkDict(b *testing.B) {
	for _, name := range []string{"integers", "mixed"} {
		keys := keyLists(200_000)[name]
		for _, c := range []struct {
			how   string
			cache int64
		}{{"memory", 0}, {"cached", 1 << 30}, {"cold", 0}} {
			d, _ := storedDict(b, keys, c.cache)
			if c.how == "memory" {
				must(b, d.Load(b.Context()))
			}
			rng := rand.New(rand.NewPCG(1, 1))
			b.Run(name+"/Key/"+c.how, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					d.key(ID(rng.IntN(len(keys))))
				}
			})
			b.Run(name+"/ID/"+c.how, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					d.id(keys[rng.IntN(len(keys))])
				}
			})
		}
	}
}
