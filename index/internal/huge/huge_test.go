package huge

import (
	"slices"
	"testing"
	"unsafe"
)

func TestSlices(t *testing.T) {
	t.Parallel()
	type element struct {
		a int64
		b byte
	}
	for _, n := range []int{0, 1, 1000, 300_000, 1_000_000} {
		s := Make[element](n)
		if len(s) != n || cap(s) != n || slices.ContainsFunc(s, func(e element) bool { return e != element{} }) {
			t.Fatalf("%d elements: length %d, capacity %d, or not zero", n, len(s), cap(s))
		}
		for i := range s {
			s[i] = element{int64(i), 1}
		}
		grown := append(Grow(s), element{-1, 2})
		if len(grown) != n+1 || grown[n] != (element{-1, 2}) || !slices.Equal(grown[:n], s) {
			t.Errorf("%d elements have changed by growing", n)
		}
		if room := append(Grow(grown[:n]), element{}); n > 0 && unsafe.SliceData(room) != unsafe.SliceData(grown) {
			t.Errorf("a slice of %d elements with room was copied", n)
		}
	}
}

// TestDirty verifies that elements with pointers are clear, which the garbage collector needs, and
// that others have their length.
func TestDirty(t *testing.T) {
	t.Parallel()
	type pointers struct{ s []string }
	const n = 300_000
	for range 3 { // later ones may get memory that was in use
		numbers := Dirty[struct{ a, b uint32 }](n)
		if len(numbers) != n {
			t.Fatalf("%d elements, want %d", len(numbers), n)
		}
		for i := range numbers {
			numbers[i].b = 1 << 31
		}
		if s := Dirty[pointers](n); slices.ContainsFunc(s, func(e pointers) bool { return e.s != nil }) {
			t.Fatal("elements with pointers are not clear")
		}
	}
}

func TestAligned(t *testing.T) {
	t.Parallel()
	b := make([]byte, 9<<20)
	for _, from := range []int{0, 1, 4096, pageSize - 1} {
		for _, to := range []int{from, from + 10, from + pageSize, from + 2*pageSize, len(b)} {
			got := aligned(b[from:to])
			at := uintptr(unsafe.Pointer(unsafe.SliceData(got)))
			first := uintptr(unsafe.Pointer(&b[from]))
			last := first + uintptr(to-from)
			switch {
			case len(got)%pageSize != 0, to-from >= 2*pageSize && len(got) == 0:
				t.Errorf("bytes %d to %d: %d bytes", from, to, len(got))
			case len(got) > 0 && (at%pageSize != 0 || at < first || at+uintptr(len(got)) > last):
				t.Errorf("bytes %d to %d: %d bytes from %d on", from, to, len(got), at-first)
			}
		}
	}
}
