package column

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/index/internal/block"
)

// genValue draws a value of a kind.
func genValue(kind Kind) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		switch kind {
		case Bool:
			return BoolOf(rapid.Bool().Draw(t, "value"))
		case Int:
			return IntOf(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3, 300)).Draw(t, "value"))
		case Float:
			return FloatOf(rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1, 1), rapid.Just(12.5)).Draw(t, "value"))
		case Time:
			return TimeOf(rapid.OneOf(rapid.Int64Range(-62167219200e6, 253402300800e6-1), rapid.Int64Range(0, 9)).Draw(t, "value")) // years 0 to 9999
		case String:
			return StringOf(rapid.StringMatching("[a-c]{0,3}").Draw(t, "value"))
		}
		return ListOf(rapid.SliceOfN(rapid.StringMatching("[a-c]{1,2}"), 0, 4).Draw(t, "value"))
	})
}

func genKind(t *rapid.T) Kind { return Kind(rapid.IntRange(int(Bool), int(List)).Draw(t, "kind")) }

// TestBlocks verifies that columns have the values that were packed, that their tests agree with
// the values, and that damaged blocks give errors or other values, and no panic.
func TestBlocks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := map[block.ID]Value{}
		kind, id := genKind(t), block.ID(0)
		var blocks [][]byte
		p := Packer{Emit: func(property uint16, _ block.ID, b []byte) error {
			blocks = append(blocks, b)
			return nil
		}}
		for _, v := range rapid.SliceOfN(genValue(kind), 1, 20).Draw(t, "values") {
			id += block.ID(rapid.SampledFrom([]int{1, 1, 1, 2, 70, Span}).Draw(t, "step"))
			want[id] = v
			if err := p.Add(7, id, v); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		test := genTest(t, kind)
		got := map[block.ID]Value{}
		for _, b := range blocks {
			c, err := Decode(block.VerifyChecksum(b))
			if err != nil || c.Property != 7 || c.Kind != kind {
				t.Fatalf("%+v, %v", c, err)
			}
			match := test.On(&c)
			for i := range c.N {
				v := c.At(i)
				if c.Has(i) {
					got[c.First+block.ID(i)] = v
				}
				if match(i) != test.Matches(v) {
					t.Fatalf("%+v selects %v: %v", test, v, match(i))
				}
			}
			damage(t, b[4:])
		}
		if len(got) != len(want) {
			t.Fatalf("%d values, want %d", len(got), len(want))
		}
		for id, v := range want {
			if !got[id].Equal(v) || got[id].Compare(v) != 0 {
				t.Fatalf("node %d has %v, want %v", id, got[id], v)
			}
		}
	})
}

func genTest(t *rapid.T, kind Kind) Test {
	bound := func(name string) (b Bound) {
		if rapid.Bool().Draw(t, name) && kind != List {
			b = Bound{genValue(kind).Draw(t, name), rapid.Bool().Draw(t, "open")}
		}
		return b
	}
	test := Test{Low: bound("low"), High: bound("high")}
	if rapid.Bool().Draw(t, "in") {
		test = Test{In: rapid.SliceOfN(genValue(kind), 0, 3).Draw(t, "values")}
		if kind == List {
			test.In = []Value{StringOf("a"), StringOf("bb")}
		}
	}
	return test
}

// damage decodes a block with a byte that was changed, and reads all that it then has.
func damage(t *rapid.T, b []byte) {
	b = slices.Clone(b)
	b[rapid.IntRange(0, len(b)-1).Draw(t, "place")] ^= byte(rapid.IntRange(1, 255).Draw(t, "change"))
	c, err := Decode(&block.Decoder{B: b})
	if err != nil {
		return
	}
	for i := range c.N {
		_ = c.At(i)
	}
}

// TestValues verifies that a stored value is read back, and that each prefix of it is refused.
func TestValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(genKind(t)).Draw(t, "value")
		b := v.Append(nil)
		var got Value
		if err := got.UnmarshalBinary(b); err != nil || !got.Equal(v) {
			t.Fatalf("%v is read as %v, %v", v, got, err)
		}
		for n := range b {
			if err := got.UnmarshalBinary(b[:n]); err == nil {
				t.Fatalf("%d of %d bytes of %v are accepted", n, len(b), v)
			}
		}
	})
}

// TestCheck verifies which values are refused.
func TestCheck(t *testing.T) {
	t.Parallel()
	many := make([]string, MaxList+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for name, v := range map[string]Value{
		"NaN": FloatOf(math.NaN()), "infinity": FloatOf(math.Inf(-1)), "long": StringOf(string(make([]byte, MaxString+1))),
		"no UTF-8": StringOf("\xff"), "zero": StringOf("a\x00"), "many": ListOf(many), "empty": ListOf([]string{""}),
		"wide": ListOf([]string{string(slices.Repeat([]byte{'a'}, MaxString))}),
	} {
		if v.Check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, v := range []Value{ListOf(many[1:]), FloatOf(math.MaxFloat64), StringOf(""), ListOf(nil)} {
		if err := v.Check(); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
}
