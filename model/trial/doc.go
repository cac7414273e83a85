// Package trial compares policies by playing them: test first, then train, on the same draws.
package trial
