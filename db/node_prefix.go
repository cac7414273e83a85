package db

import (
	"iter"
	"math"
	"strconv"
	"strings"

	"kith/index"
)

// NodesBeginning yields the keys of the nodes whose spelling, as [Key.String] returns it, begins with a text: 12 is the
// beginning of 12 and 120, 'an of 'ann'. Shorter numbers precede longer ones; otherwise the keys are in key order. It takes
// time for the keys that it yields, for deleted nodes between them, and for nodes that were added since the last compaction.
func (tx *Tx) NodesBeginning(text string) iter.Seq2[Key, error] {
	return func(yield func(Key, error) bool) {
		if tx.ended {
			yield(Key{}, ErrClosed)
			return
		}
		for _, r := range rangesOf(text) {
			for k, err := range tx.view().Keyed(r.low, r.within) {
				if !yield(k.Key, err) || err != nil {
					return
				}
			}
		}
	}
}

// keyRange are the keys from low on that are within. All of them follow each other.
type keyRange struct {
	low    Key
	within func(Key) bool
}

// rangesOf returns the ranges of keys whose spelling begins with a text.
func rangesOf(text string) []keyRange {
	switch {
	case text == "":
		return []keyRange{{index.Int(math.MinInt64), func(Key) bool { return true }}}
	case text[0] == '\'':
		return stringRanges(text[1:])
	}
	return integerRanges(text)
}

// stringRanges returns the ranges of strings whose spelling begins with a quote and text. If a single quote ends it, the
// next character may be the second one of a quote in a string, or none.
func stringRanges(text string) []keyRange {
	whole := strings.TrimRight(text, "'")
	quotes := len(text) - len(whole)
	if strings.Contains(strings.ReplaceAll(whole, "''", ""), "'") {
		return nil // a string has ended before the text does
	}
	begin := strings.ReplaceAll(whole, "''", "'") + strings.Repeat("'", quotes/2)
	if quotes%2 == 0 {
		return []keyRange{beginning(begin)}
	}
	exact := keyRange{index.Str(begin), func(k Key) bool { return k == index.Str(begin) }}
	return []keyRange{exact, beginning(begin + "'")}
}

// beginning is the range of the strings that begin with a text.
func beginning(text string) keyRange {
	return keyRange{index.Str(text), func(k Key) bool {
		s, isString := k.Str()
		return isString && strings.HasPrefix(s, text)
	}}
}

// integerRanges returns the ranges of integers whose digits begin with a text: for each number of digits one.
func integerRanges(text string) (all []keyRange) {
	digits, negative := strings.CutPrefix(text, "-")
	if negative && digits == "" {
		return []keyRange{between(math.MinInt64, -1)}
	}
	first, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || strconv.FormatUint(first, 10) != digits || negative && first == 0 {
		return nil
	}
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	for low, high := first, first; low <= limit; low, high = 10*low, 10*high+9 {
		if negative {
			all = append(all, between(-int64(min(high, limit)-1)-1, -int64(low-1)-1))
		} else {
			all = append(all, between(int64(low), int64(min(high, limit))))
		}
		if low == 0 || low > limit/10 {
			break
		}
	}
	return all
}

// between is the range of the integers from low to high.
func between(low, high int64) keyRange {
	return keyRange{index.Int(low), func(k Key) bool {
		i, isInt := k.Int()
		return isInt && i <= high
	}}
}
