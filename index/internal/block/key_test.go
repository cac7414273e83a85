package block_test

import (
	"database/sql"
	"encoding"
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"kith/index/internal/block"
)

var (
	_ sql.Scanner              = (*block.Key)(nil)
	_ encoding.TextMarshaler   = block.Key{}
	_ encoding.TextUnmarshaler = (*block.Key)(nil)
)

// anyKey draws a valid key, often one whose text resembles another key.
func anyKey() *rapid.Generator[block.Key] {
	return rapid.OneOf(
		rapid.Map(rapid.Int64(), block.Int),
		rapid.Map(rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 1<<53 + 1, -1<<53 - 1, 0}), block.Int),
		rapid.Map(rapid.SampledFrom([]string{"42", "-0", "'", "''", "'42'", "null", "<a&b>", "\u2028", "1e3", " 7"}), block.Str),
		rapid.Map(rapid.StringN(1, 50, block.MaxKeyLen).Filter(func(s string) bool { return block.Str(s).Valid() == nil }), block.Str),
	)
}

func TestKeyRoundTrips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := anyKey().Draw(t, "key")
		b, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		var back block.Key
		if err := json.Unmarshal(b, &back); err != nil || back != k {
			t.Fatalf("%v is %s in JSON, which is %v (%v)", k, b, back, err)
		}
		if text, err := k.MarshalText(); err != nil || back.UnmarshalText(text) != nil || back != k {
			t.Fatalf("%v is %s in text, which is %v (%v)", k, text, back, err)
		}
		if err := back.Scan(k.Value()); err != nil || back != k {
			t.Fatalf("%v is scanned as %v (%v)", k, back, err)
		}
		of := map[block.Key]int{k: 1, block.Int(42): 2, block.Str("42"): 3}
		if b, err = json.Marshal(of); err != nil {
			t.Fatal(err)
		}
		var again map[string]int
		if err := json.Unmarshal(b, &again); err != nil || len(again) != len(of) {
			t.Fatalf("%v is %s in JSON, which is %v (%v)", of, b, again, err)
		}
		for text, n := range again {
			if err := back.UnmarshalText([]byte(text)); err != nil || of[back] != n {
				t.Fatalf("%v is %s in JSON, where %q is %v (%v)", of, b, text, back, err)
			}
		}
	})
}

func TestKeyInJSON(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal([]block.Key{block.Int(1<<53 + 1), block.Str("ann"), block.Str("42")})
	if want := `[9007199254740993,"ann","42"]`; err != nil || string(b) != want {
		t.Errorf("got %s (%v), want %s", b, err, want)
	}
	if b, err := json.Marshal(block.Str("")); err == nil {
		t.Errorf("the empty string is no key, and is written as %s", b)
	}
	for _, bad := range []string{`1.5`, `1e3`, `9223372036854775808`, `""`, `"\u0000"`, `null`, `true`, `{}`, `[1]`} {
		k := block.Int(7)
		if err := k.UnmarshalJSON([]byte(bad)); err == nil || k != block.Int(7) {
			t.Errorf("%s is read as %v (%v), want an error", bad, k, err)
		}
	}
}

func TestKeyRefuses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "'", "'a", "'a'b'", "'''", "''"} {
		k := block.Int(7)
		if err := k.UnmarshalText([]byte(bad)); err == nil || k != block.Int(7) {
			t.Errorf("text %q is read as %v, want an error", bad, k)
		}
	}
	for _, bad := range []any{nil, 1.5, "", []byte{}, true, int32(7)} {
		k := block.Int(7)
		if err := k.Scan(bad); err == nil || k != block.Int(7) {
			t.Errorf("%v (%T) is scanned as %v, want an error", bad, bad, k)
		}
	}
}
