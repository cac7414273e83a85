package index

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// noise returns n bytes that are different for each seed.
func noise(seed, n int) []byte {
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// TestSplitIsAMap verifies that getSplit and scanSplit read the values that putSplit stored, in any
// order and over any earlier values.
func TestSplitIsAMap(t *testing.T) {
	t.Parallel()
	sizes := []int{0, 1, 12, maxPart - 1, maxPart, maxPart + 1, 2 * maxPart, 2*maxPart + 100}
	rapid.Check(t, func(t *rapid.T) {
		r, want := newMemory(), map[string][]byte{}
		for i := range rapid.IntRange(1, 6).Draw(t, "writes") {
			key := rapid.SampledFrom([]string{"wa", "wb", "wbb"}).Draw(t, "key")
			want[key] = noise(i, rapid.SampledFrom(sizes).Draw(t, "size"))
			if err := putSplit(r, []byte(key), want[key]); err != nil {
				t.Fatal(err)
			}
		}
		seen := 0
		for e, err := range scanSplit(r, prefixModel, nil) {
			seen++
			if v, ok := want[string(e.Key)]; err != nil || e.err != nil || !ok || !bytes.Equal(e.Value, v) {
				t.Fatalf("scan: %q has %d bytes, want %d; error %v, %v", e.Key, len(e.Value), len(v), err, e.err)
			}
		}
		if seen != len(want) {
			t.Fatalf("scan: %d values, want %d", seen, len(want))
		}
		for key, v := range want {
			got, ok, err := getSplit(r, []byte(key))
			if err != nil || !ok || !bytes.Equal(got, v) {
				t.Fatalf("get: %q has %d bytes, want %d; error %v", key, len(got), len(v), err)
			}
		}
		if _, ok, err := getSplit(r, []byte("wc")); ok || err != nil {
			t.Fatalf("get of nothing: %v, %v", ok, err)
		}
	})
}

func TestSplitDamage(t *testing.T) {
	t.Parallel()
	whole := newMemory()
	if err := putSplit(whole, []byte("w"), noise(1, 2*maxPart)); err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(m *memory){
		"first part missing":  func(m *memory) { delete(m.entries, "w\x00\x00") },
		"second part missing": func(m *memory) { delete(m.entries, "w\x00\x01") },
		"last part cut short": func(m *memory) { m.entries["w\x00\x01"] = m.entries["w\x00\x01"][:10] },
		"first part empty":    func(m *memory) { m.entries["w\x00\x00"] = nil },
		"a byte differs": func(m *memory) {
			b := bytes.Clone(m.entries["w\x00\x01"])
			b[100]++
			m.entries["w\x00\x01"] = b
		},
		"a length beyond all": func(m *memory) {
			b := bytes.Clone(m.entries["w\x00\x00"])
			b[7] = 0xff
			m.entries["w\x00\x00"] = b
		},
	} {
		m := whole.clone()
		damage(m)
		if _, ok, err := getSplit(m, []byte("w")); ok || name != "first part missing" && err == nil {
			t.Errorf("%s: get: %v, %v", name, ok, err)
		}
		var last error
		for v, err := range scanSplit(m, prefixModel, nil) {
			last = cmp.Or(err, v.err)
		}
		wantCorrupt(t, name+": scan", last)
	}
	short := newMemory()
	_ = short.Set([]byte("w"), nil)
	for v, err := range scanSplit(short, prefixModel, nil) {
		wantCorrupt(t, "a key too short for a part number", cmp.Or(err, v.err))
	}
}

func TestDeleteRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{"", "", "[]"},
		{"xb", "", "[xa]"},
		{"", "xb", "[xb xc]"},
		{"xb", "xc", "[xa xc]"},
	} {
		m := newMemory()
		for _, k := range []string{"w", "xa", "xb", "xc", "y"} {
			_ = m.Set([]byte(k), nil)
		}
		bound := func(s string) []byte {
			if s == "" {
				return nil
			}
			return []byte(s)
		}
		if err := deleteRange(m, m, []byte("x"), bound(c.from), bound(c.to)); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(m.keys('x')); got != c.want || len(m.keys('w')) != 1 || len(m.keys('y')) != 1 {
			t.Errorf("from %q to %q: %s is left, want %s", c.from, c.to, got, c.want)
		}
	}
}
