package db

import (
	"errors"
	"fmt"

	"kith/db/internal/feed"
	"kith/db/internal/store"
	"kith/db/words"
	"kith/index"
	"kith/model"
)

// Errors to test for with errors.Is.
var (
	// ErrNotFound is returned when a node, an edge or a label is not in the transaction's snapshot.
	ErrNotFound = store.ErrNotFound
	// ErrExists is returned when a node, an edge or a model to be added exists already.
	ErrExists = errors.New("db: exists already")
	// ErrClosed is returned by every use of a closed database.
	ErrClosed = store.ErrClosed
	// ErrReadOnly is returned by a write in a View, or to a database opened ReadOnly or as
	// Follower. Open returns it with ReadOnly for a database that was not closed, and without
	// ReadOnly for one that cannot be written to.
	ErrReadOnly = store.ErrReadOnly
	// ErrLocked is returned when another process, or this one, has the database open. The text
	// names the process and says how the database can be read nevertheless, or says that others
	// read it.
	ErrLocked = store.ErrLocked
	// ErrCorrupt is returned when stored data differs from the data that was written.
	ErrCorrupt = index.ErrCorrupt
	// ErrMismatch is returned when a directory is not a database, has another format, or was made
	// with other options.
	ErrMismatch = store.ErrMismatch
	// ErrNoModel is returned when a model or a version of it does not exist.
	ErrNoModel = errors.New("db: no such model")
	// ErrNoDecision is returned for the number of a decision that was never made.
	ErrNoDecision = errors.New("db: no such decision")
	// ErrExpired is returned for a decision that has expired.
	ErrExpired = errors.New("db: decision has expired")
	// ErrRewarded is returned for a reward of a decision that already has a different one.
	ErrRewarded = errors.New("db: decision has another reward")
	// ErrTooLarge is returned when something does not fit: one update into a commit, a graph into
	// memory.
	ErrTooLarge = store.ErrTooLarge
	// ErrFull is returned when the disk has too little space left for a write. Nothing has been
	// written, and writes are possible again when there is space.
	ErrFull = store.ErrFull
	// ErrRepeated is returned by a Load with NoRepeats for an edge that is repeated or exists
	// already.
	ErrRepeated = index.ErrRepeated
	// ErrLines is returned by a Load that met more malformed lines than MaxErrors.
	ErrLines = errors.New("db: malformed lines")
	// ErrForgotten is returned for changes that are not kept any more. The text has the version
	// after which changes are kept.
	ErrForgotten = errors.New("db: changes are forgotten")
	// ErrGap is returned for a change that does not follow the version of the database.
	ErrGap = feed.ErrGap
	// ErrInput is returned for an invalid argument: a key, a weight, a feature, a reward, an
	// option.
	ErrInput = errors.New("db: bad input")
)

// errReadOnly is returned by a write to a database opened ReadOnly.
var errReadOnly = fmt.Errorf("%w: the database is open for reading only", ErrReadOnly)

// errFollower is returned by a write to a follower.
var errFollower = fmt.Errorf("%w: the database follows another, and only Apply writes to it", ErrReadOnly)

// The kinds of things that an [Error] is about; kindInput stands for any other argument.
const (
	kindInput     = ""
	kindNode      = "node"
	kindEdge      = "edge"
	kindRelation  = "relation"
	kindLabel     = "label"
	kindProperty  = "property"
	kindModel     = "model"
	kindVersion   = "version"
	kindDecision  = "decision"
	kindPolicy    = "policy"
	kindPreset    = "preset"
	kindOption    = "option"
	kindExplorer  = "explorer"
	kindEstimator = "estimator"
	kindVariable  = "variable"
)

// Error is an error about something that the caller named or gave. errors.As finds it, and
// errors.Is finds Err in it. Its text says what is wrong, for the person who wrote the name,
// without the name of a package.
type Error struct {
	// Kind is node, edge, relation, label, property, model, version, decision, policy, preset,
	// option, explorer, estimator or variable, or "" for any other argument.
	Kind       string
	Name       string   // the name as given; a node is written as [Key.Literal] writes it
	Accepted   []string // the names that would have been accepted, if these are known
	DidYouMean string   // what Name probably means: one of Accepted, or for a node one that exists; "" means unknown
	Err        error    // the error that errors.Is finds: ErrNotFound, ErrNoModel, ErrInput ...
	cause      error    // the text, and the wrapped error
}

// Error returns what is wrong. It leaves out DidYouMean, except for a node.
func (e *Error) Error() string { return e.cause.Error() }

// Unwrap returns Err and the cause of the error.
func (e *Error) Unwrap() []error { return []error{e.Err, e.cause} }

// inputf returns an ErrInput with a message, which may wrap another error by %w.
func inputf(format string, args ...any) error {
	return &Error{Err: ErrInput, cause: fmt.Errorf(format, args...)}
}

// missing returns the error for a name that does not exist. err is its sentinel.
func missing(kind string, name string, accepted []string, err error, format string, args ...any) *Error {
	return &Error{
		Kind: kind, Name: name, Accepted: accepted, DidYouMean: words.Closest(name, accepted), Err: err, cause: fmt.Errorf(format, args...),
	}
}

// labelNumber returns the number of a label. It returns ErrNotFound for a label that does not
// exist, such as "".
func labelNumber(s *index.Snapshot, name string) (uint16, error) {
	n, ok := s.Meta.LabelNumber(name)
	if !ok || name == "" {
		return 0, missing(kindLabel, name, labelNames(s), ErrNotFound, "no label %q", name)
	}
	return n, nil
}

// labelNames returns the names of the labels.
func labelNames(s *index.Snapshot) (names []string) {
	for _, l := range s.Meta.Labels[1:] { // the first is "no label"
		names = append(names, l.Name)
	}
	return names
}

// optionError turns an error of package model about an option into an ErrInput.
func optionError(err error) error {
	if err == nil {
		return nil
	}
	if name := (*model.NameError)(nil); errors.As(err, &name) {
		return missing(name.Kind, name.Name, name.Accepted, ErrInput, "%w", err)
	}
	return inputf("%w", err)
}

// inputError marks an error of package index as ErrInput or ErrTooLarge.
func inputError(err error) error {
	if errors.Is(err, index.ErrTooLarge) {
		return &Error{Err: ErrTooLarge, cause: err}
	}
	return inputf("%w", err)
}

// given returns a parsed value, and marks the error of the parser as ErrInput.
func given[T any](v T, err error) (T, error) {
	if err != nil {
		err = inputf("%w", err)
	}
	return v, err
}
