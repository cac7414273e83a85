package index

import (
	"errors"

	"kith/index/internal/block"
)

// Errors to test for with errors.Is.
var (
	// ErrCorrupt is returned when stored bytes differ from those written.
	ErrCorrupt = block.ErrCorrupt
	// ErrMismatch is returned when stored data has another format.
	ErrMismatch = errors.New("index: mismatch")
	// ErrTooLarge is returned when a graph has more nodes or edges than the layout can number.
	ErrTooLarge = errors.New("index: too large")
	// ErrWeight is returned for an edge weight that is not a number from MinWeight to MaxWeight.
	ErrWeight = errors.New("index: weight is not a number from 2^-40 to 2^40")
	// ErrRepeated is returned for an edge that occurs twice or exists already, where repeats are
	// not allowed.
	ErrRepeated = errors.New("index: repeated edge")
	// ErrFeatureLen is returned for a feature vector whose length is not that of the label.
	ErrFeatureLen = errors.New("index: wrong number of features")
)
