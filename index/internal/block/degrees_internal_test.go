package block

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// Degrees come back as they were, whether all are integers of 32 bits or not. A block that is cut
// short is an error.
func TestDegrees(t *testing.T) {
	t.Parallel()
	integer := rapid.SampledFrom([]float64{0, 1, 63, 64, 8191, 8192, 1<<32 - 1})
	other := rapid.SampledFrom([]float64{0, 7, 0.5, 1 << 32, 1e300})
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.SampledFrom([]*rapid.Generator[float64]{integer, other}).Draw(t, "kind"), 1, 300).Draw(t, "degrees")
		b := AppendDegrees(nil, want)
		got, err := (&Decoder{B: b}).Degrees()
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range append(want, 0, 0) {
			if got.At(ID(i)) != d {
				t.Fatalf("degree %d of %v is %v", i, want, got.At(ID(i)))
			}
		}
		if last := want[len(want)-1]; last > 63 || last == 0.5 {
			if _, err := (&Decoder{B: b[:len(b)-1]}).Degrees(); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("without the last byte: %v", err)
			}
		}
	})
	many := AppendDegrees(nil, make([]float64, DegreeBlock+1))
	if _, err := (&Decoder{B: many}).Degrees(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("too many degrees: %v", err)
	}
}
