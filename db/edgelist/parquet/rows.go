package parquet

import (
	"math"
	"slices"

	"kith/db/edgelist"
)

// append makes rows of the decoded page of n values. All complete rows have been taken before.
func (c *chunk) append(n int) {
	if c.repeated {
		c.appendLists(n)
		return
	}
	c.rows, c.taken = n, 0
	v, of := &c.vector, &c.values
	if len(of.ints)+len(of.numbers)+len(of.texts) == n {
		*v = edgelist.Vector{Ints: of.ints, Numbers: of.numbers, Strings: of.texts}
		return
	}
	c.null = slices.Grow(c.null[:0], n)
	for _, level := range c.room.definitions {
		c.null = append(c.null, int(level) < c.definition)
	}
	c.spread.ints = spread(c.spread.ints, of.ints, c.null)
	c.spread.numbers = spread(c.spread.numbers, of.numbers, c.null)
	c.spread.texts = spread(c.spread.texts, of.texts, c.null)
	*v = edgelist.Vector{Ints: c.spread.ints, Numbers: c.spread.numbers, Strings: c.spread.texts, Null: c.null}
}

// spread copies values to the places of those that are not null, and zero values to the others.
func spread[T any](to, from []T, null []bool) []T {
	to = to[:0]
	for _, is := range null {
		var value T
		if !is && len(from) > 0 {
			value, from = from[0], from[1:]
		}
		to = append(to, value)
	}
	return to
}

// appendLists appends to the row of which the last page had a part, and adds rows. The last row is complete if the next
// page begins another one, or if there is no next page.
func (c *chunk) appendLists(n int) {
	v := &c.vector
	done := 0
	if c.rows > 0 {
		done = v.Ends[c.rows-1]
	}
	v.Numbers, v.Ends = slices.Delete(v.Numbers, 0, done), v.Ends[:0]
	next := 0
	for i := range n {
		level := c.definition
		if c.definition > 0 {
			level = int(c.room.definitions[i])
		}
		if len(c.room.repetitions) == 0 || c.room.repetitions[i] == 0 {
			if c.open {
				v.Ends = append(v.Ends, len(v.Numbers))
			}
			c.open = true
		}
		switch {
		case level == c.definition:
			v.Numbers = append(v.Numbers, c.values.number(next))
			next++
		case level >= c.list: // a null in the list
			v.Numbers = append(v.Numbers, math.NaN())
		}
	}
	if c.unread == 0 && c.open {
		v.Ends, c.open = append(v.Ends, len(v.Numbers)), false
	}
	c.rows, c.taken = len(v.Ends), 0
}

// number returns a value as a number.
func (v *values) number(i int) float64 {
	if len(v.ints) > 0 {
		return float64(v.ints[i])
	}
	return v.numbers[i]
}

// take returns the next n rows.
func (c *chunk) take(n int) (some edgelist.Vector) {
	from, to := c.taken, c.taken+n
	c.taken = to
	v := &c.vector
	if c.repeated {
		first := 0
		if from > 0 {
			first = v.Ends[from-1]
		}
		c.ends = c.ends[:0]
		for _, end := range v.Ends[from:to] {
			c.ends = append(c.ends, end-first)
		}
		return edgelist.Vector{Numbers: v.Numbers[first:v.Ends[to-1]], Ends: c.ends}
	}
	if v.Null != nil {
		some.Null = v.Null[from:to]
	}
	switch c.Type {
	case edgelist.String:
		some.Strings = v.Strings[from:to]
	case edgelist.Single, edgelist.Double:
		some.Numbers = v.Numbers[from:to]
	default:
		some.Ints = v.Ints[from:to]
	}
	return some
}
