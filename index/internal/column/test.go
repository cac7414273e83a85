package column

import (
	"math"
	"slices"
)

// Test selects values of one kind. The zero Test selects every value.
type Test struct {
	In  []Value // not nil: the values that are selected; of lists, those with one of the words
	Low Bound
	// High is the upper bound. Bounds are for values in order: all but lists.
	High Bound
}

// Bound is a lower or an upper bound. The zero Bound is none.
type Bound struct {
	Value // of the kind of the values
	Open  bool
}

// Matches reports whether a value passes the test.
func (t *Test) Matches(v Value) bool {
	switch {
	case v.kind == None:
		return false
	case t.In != nil && v.kind == List:
		return slices.ContainsFunc(t.In, func(w Value) bool { return slices.Contains(v.list, w.text) })
	case t.In != nil:
		return slices.ContainsFunc(t.In, v.Equal)
	}
	return t.Low.below(v) && t.High.above(v)
}

// below reports whether the lower bound lets a value pass.
func (b *Bound) below(v Value) bool {
	if b.kind == None {
		return true
	}
	c := v.Compare(b.Value)
	return b.kind == v.kind && (c > 0 || c == 0 && !b.Open)
}

// above reports whether the upper bound lets a value pass.
func (b *Bound) above(v Value) bool {
	if b.kind == None {
		return true
	}
	c := v.Compare(b.Value)
	return b.kind == v.kind && (c < 0 || c == 0 && !b.Open)
}

// On returns a function that reports whether node First+i of a column has a value that passes the
// test. It decides on each word of a column once.
func (t *Test) On(c *Column) func(i int) bool {
	var match func(i int) bool
	switch {
	case c.Kind == Int || c.Kind == Time:
		match = t.onNumbers(c)
	case c.Kind == Float:
		match = t.onFloats(c)
	default:
		match = t.onWords(c)
	}
	if c.has == nil {
		return match
	}
	return func(i int) bool { return c.Has(i) && match(i) }
}

// onWords tests the words of strings, and truth values.
func (t *Test) onWords(c *Column) func(i int) bool {
	if c.Kind == Bool {
		match := [2]bool{t.Matches(BoolOf(false)), t.Matches(BoolOf(true))}
		return func(i int) bool { return match[c.code[i]] }
	}
	match := make([]bool, len(c.words))
	for i, w := range c.words {
		v := StringOf(w)
		if c.Kind == List {
			v = Value{kind: List, list: c.words[i : i+1]}
		}
		match[i] = t.Matches(v)
	}
	if c.Kind == String {
		return func(i int) bool { return match[c.code[i]] }
	}
	if t.In == nil { // any list, also one without words
		return func(int) bool { return true }
	}
	return func(i int) bool {
		for _, w := range c.listed(i) {
			if match[w] {
				return true
			}
		}
		return false
	}
}

func (t *Test) onNumbers(c *Column) func(i int) bool {
	if t.In != nil {
		return func(i int) bool { return t.Matches(Value{kind: c.Kind, num: c.num[i]}) }
	}
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if t.Low.kind != None {
		if low = t.Low.num; t.Low.Open {
			if low == math.MaxInt64 {
				return nothing
			}
			low++
		}
	}
	if t.High.kind != None {
		if high = t.High.num; t.High.Open {
			if high == math.MinInt64 {
				return nothing
			}
			high--
		}
	}
	return func(i int) bool { x := c.num[i]; return low <= x && x <= high }
}

func (t *Test) onFloats(c *Column) func(i int) bool {
	if t.In != nil {
		return func(i int) bool { return t.Matches(FloatOf(c.float[i])) }
	}
	low, high := math.Inf(-1), math.Inf(1)
	if t.Low.kind != None {
		if low = t.Low.Float(); t.Low.Open {
			low = math.Nextafter(low, math.Inf(1))
		}
	}
	if t.High.kind != None {
		if high = t.High.Float(); t.High.Open {
			high = math.Nextafter(high, math.Inf(-1))
		}
	}
	return func(i int) bool { x := c.float[i]; return low <= x && x <= high }
}

func nothing(int) bool { return false }
