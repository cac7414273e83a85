package words

import "testing"

func TestSimilar(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want int // number of errors
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"ab", "ab", 0}, {"ab", "ba", 1},
		{"abc", "ac", 1}, {"abc", "axc", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3},
	}
	for _, tt := range tests {
		for n := range 5 {
			if got := similar(tt.a, tt.b, n); got != (n >= tt.want) || got != similar(tt.b, tt.a, n) {
				t.Errorf("%q, %q: at most %d errors: %t, want %d errors", tt.a, tt.b, n, got, tt.want)
			}
		}
	}
}
