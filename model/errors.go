package model

import (
	"errors"
	"fmt"

	"kith/model/internal/graph"
)

// Errors to test for with errors.Is.
var (
	ErrOption = graph.ErrOption // an unknown policy, preset or option, or a value that it does not accept
	ErrInput  = graph.ErrInput  // an invalid node, feature vector, outcome or result of a Walker

	// ErrVersion is returned by Decode for a document of a version that this program does not read.
	ErrVersion = errors.New("model: document version")
)

// Errors that no other package tests for.
var (
	errCorrupt     = errors.New("model: corrupt document")
	errNotLearning = errors.New("model: policy does not learn")
)

// NameError is an ErrOption: the name of a policy, preset, option, explorer or estimator is
// unknown.
type NameError struct {
	Kind     string // policy, preset, option, explorer or estimator
	Name     string
	Accepted []string
}

func (e *NameError) Error() string {
	return fmt.Sprintf("unknown %s %q (accepted: %s)", e.Kind, e.Name, list(e.Accepted))
}

func (e *NameError) Unwrap() error { return ErrOption }

// optionError is any other ErrOption.
type optionError struct{ cause error }

func (e *optionError) Error() string   { return e.cause.Error() }
func (e *optionError) Unwrap() []error { return []error{ErrOption, e.cause} }

func optionf(format string, args ...any) error { return &optionError{fmt.Errorf(format, args...)} }

// VectorError is an ErrInput: a node's feature vector is longer than the model's feature length.
type VectorError struct {
	Node      ID
	Len, Want int
}

func (e *VectorError) Error() string {
	return fmt.Sprintf("%v: node %d has a feature vector of length %d, the model wants %d", ErrInput, e.Node, e.Len, e.Want)
}

func (e *VectorError) Unwrap() error { return ErrInput }
