package index

import "errors"

// Errors to test for with errors.Is.
var (
	// ErrCorrupt is returned when stored bytes are not what was written.
	ErrCorrupt = errors.New("index: corrupt")
	// ErrFormat is returned when the layout is of another version than this code reads.
	ErrFormat = errors.New("index: other format")
	// ErrTooLarge is returned when a graph has more nodes or edges than the layout can number.
	ErrTooLarge = errors.New("index: too large")
	// ErrWeight is returned for an edge weight that is no number from MinWeight to MaxWeight.
	ErrWeight = errors.New("index: weight is not a number from 2^-40 to 2^40")
	// ErrRepeated is returned for an edge that comes twice, or is there already, where that is refused.
	ErrRepeated = errors.New("index: repeated edge")
	// ErrFeatureLen is returned for a feature vector of another length than its label's.
	ErrFeatureLen = errors.New("index: wrong number of features")
)
