package word_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kith/index/internal/column"
	"kith/index/internal/word"
)

// values makes values of n nodes.
func values(n int, value func(i int) any) (all []column.Value) {
	for i := range n {
		v, _ := column.Of(value(i))
		all = append(all, v)
	}
	return all
}

// wordsOf returns the words of a value of a property with the given values.
func wordsOf(t *testing.T, all []column.Value, v any) (found []string) {
	t.Helper()
	p := word.New("p", all[0].Kind(), all, int64(len(all)))
	if p == nil {
		return nil
	}
	value, _ := column.Of(v)
	p.Each(value, func(w string) { found = append(found, w) })
	if numbers := p.Append(nil, value, 1000); len(numbers) != len(found) || slices.Max(append(numbers, 0)) >= 1000 {
		t.Errorf("%v has the words %q as numbers %v", v, found, numbers)
	}
	return found
}

func TestWords(t *testing.T) {
	t.Parallel()
	color := func(i int) any { return []string{"red", "blue"}[i%2] }
	title := func(i int) any { return fmt.Sprintf("The Art of Go, part %d", i) }
	for _, c := range []struct {
		what  string
		value func(i int) any
		of    any
		want  []string
	}{
		{"a bool", func(i int) any { return i%3 == 0 }, true, []string{"true"}},
		{"a string that nodes share", color, "red", []string{"red"}},
		{"a new string", color, "green", []string{"green"}},
		{"keys", func(i int) any { return fmt.Sprint("https://x.org/", i) }, "https://x.org/1", nil},
		{"names", func(i int) any { return fmt.Sprintf("Ann%d Smith%d", i, i) }, "Ann1 Smith1", nil},
		{"texts, without the words of most", title, "The Joy of Go: 7 Ways", []string{"joy", "7", "ways"}},
		{"texts that nodes share", func(i int) any { return fmt.Sprintf("one of ten kinds, %d", i%10) }, "kinds of 7", []string{"kinds of 7", "7"}},
		{"lists, without what most have", func(i int) any { return []string{"go", fmt.Sprint("t", i%9)} }, []string{"go", "x"}, []string{"x"}},
		{"a string that most nodes have", func(i int) any { return []string{"en", "en", "en", "de"}[i%4] }, "en", nil},
		{"lists of keys", func(i int) any { return []string{fmt.Sprint(2 * i), fmt.Sprint(2*i + 1)} }, []string{"1"}, nil},
		{"few numbers", func(i int) any { return i % 5 }, 3, []string{"3"}},
		{"small numbers", func(i int) any { return i }, -1, []string{"below 12", "below 6"}},
		{"numbers", func(i int) any { return float64(i) }, 18.0, []string{"from 12 to 25", "from 18 to 31"}},
		{"large numbers", func(i int) any { return i }, 1000, []string{"from 87 on", "from 93 on"}},
	} {
		if got := wordsOf(t, values(100, c.value), c.of); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v has the words %q, want %q", c.what, c.of, got, c.want)
		}
	}
	if word.New("p", column.String, nil, 0) != nil {
		t.Error("a property without values has words")
	}
}

// Close numbers share a word, and those far apart do not, whatever the numbers are.
func TestRanges(t *testing.T) {
	t.Parallel()
	all := values(1600, func(i int) any { return float64(i*i) - 5000 })
	for i := 0; i+99 < len(all); i += 7 {
		a, b, c := wordsOf(t, all, all[i].Float()), wordsOf(t, all, all[i+99].Float()), wordsOf(t, all, all[(i+300)%1600].Float())
		if len(a) != 2 || !slices.ContainsFunc(a, func(w string) bool { return slices.Contains(b, w) }) {
			t.Fatalf("%v has the words %q, and %v %q", all[i].Float(), a, all[i+99].Float(), b)
		}
		if slices.ContainsFunc(a, func(w string) bool { return slices.Contains(c, w) }) {
			t.Fatalf("%v has the words %q, and %v %q", all[i].Float(), a, all[(i+300)%1600].Float(), c)
		}
	}
}

// A sample says as much as all values of whether strings identify nodes.
func TestSample(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, each := range []int{1, 2, 50} { // nodes with the same string
		const n = 1 << 20
		var sample []column.Value
		for i := 0; i < n; i += 256 {
			sample = append(sample, column.StringOf(fmt.Sprint("s", (i+rng.IntN(256))%(n/each))))
		}
		if p := word.New("p", column.String, sample, n); (p != nil) != (each > 1) {
			t.Errorf("%d nodes have the same string, and it has words: %v", each, p != nil)
		}
	}
}

// The words of properties are different even if the values are the same.
func TestNames(t *testing.T) {
	t.Parallel()
	all := values(10, func(i int) any { return strings.Repeat("x", i%2) })
	a, b := word.New("a", column.String, all, 10), word.New("b", column.String, all, 10)
	if x, y := a.Append(nil, all[1], 1<<14), b.Append(nil, all[1], 1<<14); cmp.Equal(x, y) {
		t.Errorf("the words of both properties are %v", x)
	}
}
