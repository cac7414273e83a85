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
	of, to := &c.values, &c.spread
	if len(of.Ints)+len(of.Numbers)+len(of.Strings) == n {
		c.vector = edgelist.Vector(*of)
		return
	}
	to.Null = to.Null[:0]
	for _, level := range c.room.definitions {
		to.Null = append(to.Null, int(level) < c.definition)
	}
	to.Ints = spread(to.Ints, of.Ints, to.Null)
	to.Numbers = spread(to.Numbers, of.Numbers, to.Null)
	to.Strings = spread(to.Strings, of.Strings, to.Null)
	c.vector = edgelist.Vector(*to)
}

// spread copies values to the places that are not null, and zero values to the others.
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

// appendLists continues the row that the last page began, and adds rows. The last row is complete
// if the next page begins another row, or if there is no next page.
func (c *chunk) appendLists(n int) {
	v := &c.vector
	done := 0
	if c.rows > 0 {
		done = v.Ends[c.rows-1]
	}
	texts := c.Type == edgelist.Strings
	if texts {
		v.Strings, v.Null = slices.Delete(v.Strings, 0, done), slices.Delete(v.Null, 0, c.rows)
	} else {
		v.Numbers = slices.Delete(v.Numbers, 0, done)
	}
	v.Ends = v.Ends[:0]
	next := 0
	for i := range n {
		level := c.definition
		if c.definition > 0 {
			level = int(c.room.definitions[i])
		}
		if len(c.room.repetitions) == 0 || c.room.repetitions[i] == 0 {
			if c.open {
				v.Ends = append(v.Ends, max(len(v.Numbers), len(v.Strings)))
			}
			c.open = true
			if texts {
				v.Null = append(v.Null, level < c.list-1)
			}
		}
		switch {
		case level == c.definition && texts:
			v.Strings = append(v.Strings, c.values.Strings[next])
			next++
		case level >= c.list && texts: // a null in the list, which is left out
		case level == c.definition:
			v.Numbers = append(v.Numbers, c.values.number(next))
			next++
		case level >= c.list: // a null in the list
			v.Numbers = append(v.Numbers, math.NaN())
		}
	}
	if c.unread == 0 && c.open {
		v.Ends, c.open = append(v.Ends, max(len(v.Numbers), len(v.Strings))), false
	}
	c.rows, c.taken = len(v.Ends), 0
}

// number returns a value as a number.
func (v *values) number(i int) float64 {
	if len(v.Ints) > 0 {
		return float64(v.Ints[i])
	}
	return v.Numbers[i]
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
		if c.Type == edgelist.Strings {
			return edgelist.Vector{Strings: v.Strings[first:v.Ends[to-1]], Ends: c.ends, Null: v.Null[from:to]}
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
