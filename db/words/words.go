// Package words has what messages to people need: plain texts of errors, numbers with their nouns, and the name that was
// probably meant.
package words

import (
	"fmt"
	"regexp"
)

// Plain returns the text of an error without the names of packages, which mean nothing to the person who reads it, and
// without "bad input".
func Plain(err error) string {
	packages := regexp.MustCompile(`(^|: |\n)((db|index|model|edgelist|trial): (bad (input|option): )?)+`)
	return packages.ReplaceAllString(err.Error(), "$1")
}

// Count returns a number with its noun: "1 edge" or "2 edges".
func Count[N int | int64 | uint64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Closest returns the one of names that name is probably a misspelling of, or "". It accepts one error
// in three letters, and at most two errors.
func Closest(name string, names []string) string {
	const longest = 32 // longer names are not searched
	if len(name) > longest {
		return ""
	}
	best, fewest := "", 3
	for _, n := range names {
		if len(n) > longest {
			continue
		}
		if d := distance(name, n); 3*d <= max(len(name), len(n)) && d < fewest {
			best, fewest = n, d
		}
	}
	return best
}

// distance returns the number of insertions, deletions, substitutions and transpositions of adjacent letters that turn
// a into b, where no letter is edited twice (optimal string alignment).
func distance(a, b string) int {
	var before, above []int // the two previous rows
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row = above, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
