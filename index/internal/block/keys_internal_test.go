package block

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// keyLists returns lists of n keys: integers and strings, in key order and not.
func keyLists(n int) (lists [][]KeyEntry) {
	for _, key := range []func(i int) Key{
		func(i int) Key { return Int(int64(i)*3 - 999) },
		func(i int) Key { return Str(fmt.Sprintf("%0*d", 1+i%40, i)) },
		func(i int) Key {
			if i%3 == 0 {
				return Str(fmt.Sprint(i))
			}
			return Int(int64(-i))
		},
	} {
		var keys []KeyEntry
		for i := range n {
			keys = append(keys, KeyEntry{key(i), ID(i)})
		}
		lists = append(lists, keys)
	}
	return lists
}

// packKeys returns the content of the blocks of keys, and their directory.
func packKeys(t testing.TB, keys []KeyEntry, withIDs bool) (blocks [][]byte, dir *KeyDirectory) {
	t.Helper()
	dir = new(KeyDirectory)
	var low []Key
	p := KeyPacker{WithIDs: withIDs, Emit: func(first KeyEntry, block []byte) error {
		blocks = append(blocks, slices.Clone(VerifyChecksum(block).B))
		dir.First, low = append(dir.First, first.ID), append(low, first.Key)
		return nil
	}}
	err := p.Pack(func(yield func(KeyEntry, error) bool) {
		for _, k := range keys {
			dir.Count(k.Key)
			yield(k, nil)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	dir.Low = ListOf(low)
	return blocks, dir
}

// TestKeyBlocks verifies that a key and an id are found in their blocks, and that a directory is
// decoded as it was.
func TestKeyBlocks(t *testing.T) {
	t.Parallel()
	for _, keys := range keyLists(5000) {
		blocks, dir := packKeys(t, keys, false)
		again, err := DecodeKeyDirectory(dir.Encode())
		if err != nil || !bytes.Equal(again.Encode(), dir.Encode()) || again.Bytes() != dir.Bytes() || len(blocks) < 2 {
			t.Errorf("%d blocks with the directory %+v, decoded %+v, %v", len(blocks), dir, again, err)
		}
		var got []KeyEntry
		for i, content := range blocks {
			b, err := (&Decoder{B: content}).KeyBlock(false)
			if err != nil {
				t.Fatal(err)
			}
			for k, err := range b.All(dir.First[i]) {
				if at, failed := b.At(int(k.ID - dir.First[i])); at != k.Key || err != nil || failed != nil {
					t.Fatalf("node %d has the keys %v and %v, %v, %v", k.ID, k.Key, at, err, failed)
				}
				got = append(got, k)
			}
		}
		if !slices.Equal(got, keys) {
			t.Errorf("%d keys, want %d", len(got), len(keys))
		}
		slices.SortFunc(keys, func(a, b KeyEntry) int { return a.Compare(b.Key) })
		blocks, _ = packKeys(t, keys, true)
		for i, k := range keys {
			var found int
			for _, content := range blocks {
				b, err := (&Decoder{B: content}).KeyBlock(true)
				if _, id, ok, failed := b.Find(k.Key); ok && id == k.ID && err == nil && failed == nil {
					found++
				}
			}
			if found != 1 {
				t.Fatalf("key %d, %v, is found %d times", i, k.Key, found)
			}
		}
	}
}

// TestKeyGroups verifies that a block with a group of too many or too few keys is refused at this
// group, and that All yields no key before it that At does not have at its place.
func TestKeyGroups(t *testing.T) {
	t.Parallel()
	for _, sizes := range [][]int{{keyGroup + 1}, {keyGroup + 1, 1}, {keyGroup - 1, 1}, {keyGroup, 1, 1}} {
		var content, starts []byte
		for _, n := range sizes {
			starts = binary.LittleEndian.AppendUint16(starts, uint16(len(content)))
			last := int64(0)
			for i := range n {
				content = AppendKey(content, Int(int64(i)), &last)
			}
		}
		content = binary.LittleEndian.AppendUint16(append(content, starts...), uint16(len(sizes)))
		b, err := (&Decoder{B: content}).KeyBlock(false)
		if err != nil {
			t.Fatal(err)
		}
		for k, failed := range b.All(0) {
			if err = failed; err == nil {
				if at, failed := b.At(int(k.ID)); at != k.Key || failed != nil {
					t.Errorf("groups of %v keys: key %d is %v, %v, want %v", sizes, k.ID, at, failed, k.Key)
				}
			}
		}
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("groups of %v keys: %v", sizes, err)
		}
	}
}

// TestReadKey verifies that ReadKey reads what AppendKey appends, and refuses what is too long or
// cut short.
func TestReadKey(t *testing.T) {
	t.Parallel()
	keys := []Key{Int(5), Str("é"), Int(-9), Str("longer")}
	var b, buffer []byte
	last := int64(0)
	for _, k := range keys {
		b = AppendKey(b, k, &last)
	}
	in := bufio.NewReader(bytes.NewReader(b))
	last = 0
	for _, want := range keys {
		if k, err := ReadKey(in, &last, &buffer); k != want || err != nil {
			t.Errorf("got %v, %v, want %v", k, err, want)
		}
	}
	if _, err := ReadKey(in, &last, &buffer); err == nil {
		t.Error("a key after the last one")
	}
	if _, err := ReadKey(bufio.NewReader(bytes.NewReader([]byte{keyStr, 0xff, 0x7f})), &last, &buffer); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a key that is too long: %v", err)
	}
}

func FuzzKeyBlock(f *testing.F) {
	for _, keys := range keyLists(100) {
		for _, withIDs := range []bool{false, true} {
			blocks, _ := packKeys(f, keys, withIDs)
			for _, b := range blocks {
				f.Add(b, withIDs)
			}
		}
	}
	f.Fuzz(func(t *testing.T, content []byte, withIDs bool) {
		b, err := (&Decoder{B: content}).KeyBlock(withIDs)
		n := 0
		for _, e := range []Key{Int(0), Str("b")} {
			if err == nil {
				_, _, _, err = b.Find(e)
			}
		}
		if err == nil {
			for k, failed := range b.All(0) {
				if err = failed; err == nil && !withIDs {
					if at, failed := b.At(n); failed != nil || at != k.Key {
						t.Fatalf("key %d is %v, %v, want %v", n, at, failed, k)
					}
				}
				n++
			}
		}
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

func FuzzKeyDirectory(f *testing.F) {
	for _, keys := range keyLists(5000) {
		_, dir := packKeys(f, keys, false)
		f.Add(dir.Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := DecodeKeyDirectory(b); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

func FuzzKeys(f *testing.F) {
	last := int64(0)
	f.Add(AppendKey(AppendKey(AppendKey(nil, Int(5), &last), Str("é"), &last), Int(-9), &last))
	f.Fuzz(func(t *testing.T, b []byte) {
		last, d := int64(0), &Decoder{B: b}
		for len(d.B) > 0 && d.Err == nil {
			if k := d.Key(&last); d.Err == nil && k.Valid() != nil {
				t.Fatal(k.Valid())
			}
		}
		if d.Err != nil && !errors.Is(d.Err, ErrCorrupt) {
			t.Fatal(d.Err)
		}
	})
}
