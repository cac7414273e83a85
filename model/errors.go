package model

import (
	"errors"
	"fmt"
)

// Errors to test for with errors.Is.
var (
	// ErrOption is returned when a policy, a preset or an option has an unknown name or a value it does not accept.
	ErrOption = errors.New("model: bad option")

	// ErrInput is returned when a node, a feature vector, an outcome or a walk's answer cannot be used.
	ErrInput = errors.New("model: bad input")

	// ErrCorrupt is returned by Decode for bytes that are not a model document, or a damaged one.
	ErrCorrupt = errors.New("model: corrupt document")

	// ErrVersion is returned by Decode for a document of a version that this program does not read: newer, or too old.
	ErrVersion = errors.New("model: document version")

	// ErrNotLearning is returned when a policy that learns nothing is asked to train.
	ErrNotLearning = errors.New("model: policy does not learn")
)

// VectorError is an ErrInput: a node has a longer feature vector than the model was created for.
type VectorError struct {
	Node      ID
	Len, Want int
}

func (e *VectorError) Error() string {
	return fmt.Sprintf("%v: node %d has a feature vector of length %d, the model wants %d", ErrInput, e.Node, e.Len, e.Want)
}

// ClassError is an ErrInput: a candidate stands for no class of a model that has classes.
type ClassError struct{ Node ID }

func (e *ClassError) Error() string {
	return fmt.Sprintf("%v: node %d stands for no class of the model", ErrInput, e.Node)
}

// Unwrap returns ErrInput.
func (e *ClassError) Unwrap() error { return ErrInput }

// Unwrap returns ErrInput.
func (e *VectorError) Unwrap() error { return ErrInput }
