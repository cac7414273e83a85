// Package word says in words what nodes are like, from the values of their properties.
//
// A value of a property has words. A bool and a string are a word each, a list is a word for each
// of its strings, and a string that is a text has a word for each of its words. A number or a time
// is in two of overlapping ranges that have about as many values each, so that close values share a
// word, or is a word itself if there are few different ones. Two nodes share a word if the name of
// the property is the same, too.
package word

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"kith/index/internal/column"
)

// Property finds the words of the values of a property.
type Property struct {
	Name    string
	kind    column.Kind
	seed    uint64
	whole   bool              // a string is a word
	text    bool              // a string has words
	common  map[string]bool   // words of most values, which are left out
	edges   []float64         // of numbers: the least values of all ranges but the first, ascending; nil: a number is a word
	between [2][ranges]string // names of the overlapping ranges
}

// cells is the number of parts of about as many values that numbers are divided into. A range
// consists of two cells.
const (
	cells  = 16
	ranges = cells/2 + 1
)

// fewNumbers is the largest number of different numbers that are words themselves.
const fewNumbers = 16

// Words that more than two thirds of the strings, texts or lists have are left out, as they tell
// little, unless there are fewer than fewValues of these.
const fewValues = 5

// New learns from a sample of the values of a property how to find words. of is the number of all
// values. It returns nil if the values tell nothing: there are none, or nearly all strings differ,
// as those that identify nodes do.
func New(name string, kind column.Kind, sample []column.Value, of int64) *Property {
	p := &Property{Name: name, kind: kind, seed: hash(hash(start, name), "\x00")}
	if len(sample) == 0 {
		return nil
	}
	switch kind {
	case column.String:
		if p.readStrings(sample, of); !p.whole && !p.text {
			return nil
		}
		p.readCommon(sample)
	case column.List:
		var all []string
		for _, v := range sample {
			all = append(all, v.List()...)
		}
		if !shared(all, of*int64(len(all))/int64(len(sample))) {
			return nil
		}
		p.readCommon(sample)
	case column.Int, column.Float, column.Time:
		p.readNumbers(sample)
	}
	return p
}

// shared reports whether a value is that of a tenth of another node, or more, on average. In a
// sample of m values of n, of which each is that of g nodes, about m²(g-1)/2n repeat an earlier
// one.
func shared(sample []string, of int64) bool {
	different := map[string]bool{}
	for _, s := range sample {
		different[s] = true
	}
	m, again := float64(len(sample)), float64(len(sample)-len(different))
	return again > 0 && 20*max(float64(of), m)*again >= m*m
}

// readStrings decides whether strings are words, and whether they are texts.
func (p *Property) readStrings(sample []column.Value, of int64) {
	var all []string
	fields := 0
	for _, v := range sample {
		all = append(all, v.Text())
		fields += len(strings.Fields(v.Text()))
	}
	p.whole, p.text = shared(all, of), fields > 2*len(all)
}

// readCommon finds the words that most values have.
func (p *Property) readCommon(sample []column.Value) {
	if len(sample) < fewValues {
		return
	}
	values := map[string]int{}
	for _, v := range sample {
		seen := map[string]bool{}
		p.Each(v, func(w string) { seen[w] = true })
		for w := range seen {
			values[w]++
		}
	}
	p.common = map[string]bool{}
	for w, n := range values {
		if 3*n > 2*len(sample) {
			p.common[w] = true
		}
	}
}

// words yields the words of a text in lower case.
func words(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if !yield(strings.ToLower(w)) {
				return
			}
		}
	}
}

// readNumbers divides numbers into ranges, unless there are few.
func (p *Property) readNumbers(sample []column.Value) {
	all := make([]float64, len(sample))
	for i, v := range sample {
		all[i] = p.number(v)
	}
	slices.Sort(all)
	different := slices.Compact(slices.Clone(all))
	if len(different) <= fewNumbers && 2*len(different) <= len(all) {
		return
	}
	for i := 1; i < cells; i++ {
		p.edges = append(p.edges, all[i*len(all)/cells])
	}
	for shift := range p.between {
		for i := range p.between[shift] {
			p.between[shift][i] = p.rangeName(2*i-shift, 2*i-shift+2)
		}
	}
}

// rangeName names the range of the cells from lo up to but not including hi.
func (p *Property) rangeName(lo, hi int) string {
	switch {
	case lo <= 0:
		return "below " + p.numberName(p.edges[min(hi, len(p.edges))-1])
	case hi >= cells:
		return "from " + p.numberName(p.edges[min(lo, len(p.edges))-1]) + " on"
	}
	return "from " + p.numberName(p.edges[lo-1]) + " to " + p.numberName(p.edges[hi-1])
}

// number returns the number that a value is.
func (p *Property) number(v column.Value) float64 {
	if p.kind == column.Float {
		return v.Float()
	}
	return float64(v.Int())
}

func (p *Property) numberName(x float64) string {
	if p.kind == column.Time {
		return time.UnixMicro(int64(x)).UTC().Format(time.DateOnly)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// Each calls f with the words of a value. A word may come several times.
func (p *Property) Each(v column.Value, f func(word string)) {
	if p.common != nil {
		all := f
		f = func(word string) {
			if !p.common[word] {
				all(word)
			}
		}
	}
	switch p.kind {
	case column.Bool:
		f(strconv.FormatBool(v.Int() == 1))
	case column.String:
		if p.whole {
			f(v.Text())
		}
		if p.text {
			for w := range words(v.Text()) {
				f(w)
			}
		}
	case column.List:
		for _, s := range v.List() {
			f(s)
		}
	default:
		p.eachRange(p.number(v), f)
	}
}

// eachRange calls f with the words of a number.
func (p *Property) eachRange(x float64, f func(word string)) {
	if p.edges == nil {
		f(p.numberName(x))
		return
	}
	cell, equal := slices.BinarySearch(p.edges, x)
	for equal && cell < len(p.edges) && p.edges[cell] == x {
		cell++
	}
	for shift := range p.between {
		f(p.between[shift][(cell+shift)/2])
	}
}

// Append appends the words of a value, as numbers below n. A word may come several times.
func (p *Property) Append(to []uint32, v column.Value, n int) []uint32 {
	p.Each(v, func(word string) { to = append(to, uint32(hash(p.seed, word)%uint64(n))) })
	return to
}

// start and prime are those of FNV-1a with 64 bits.
const (
	start = 14695981039346656037
	prime = 1099511628211
)

// hash continues a hash with a string.
func hash(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * prime
	}
	return h ^ h>>32
}
