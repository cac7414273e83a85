package db

import (
	"errors"
	"fmt"

	"kith/db/store"
	"kith/index"
)

// Errors to test for with errors.Is.
var (
	// ErrNotFound is returned when a node, an edge or a label is not in the transaction's snapshot.
	ErrNotFound = store.ErrNotFound
	// ErrExists is returned when a node or a model to be created exists already.
	ErrExists = errors.New("db: exists already")
	// ErrClosed is returned by every use of a closed database.
	ErrClosed = store.ErrClosed
	// ErrReadOnly is returned by a write in a View or to a database opened ReadOnly. Open returns it with ReadOnly for a
	// database that was not closed, and without ReadOnly for one that cannot be written to.
	ErrReadOnly = store.ErrReadOnly
	// ErrLocked is returned when another process, or this one, has the database open. The text names the process, and
	// says how the database can be read nevertheless.
	ErrLocked = store.ErrLocked
	// ErrCorrupt is returned when stored data differs from what was written.
	ErrCorrupt = index.ErrCorrupt
	// ErrMismatch is returned when a directory is not a database, has another format, or was made with other options.
	ErrMismatch = store.ErrMismatch
	// ErrNoModel is returned when a model does not exist.
	ErrNoModel = errors.New("db: no such model")
	// ErrNoDecision is returned for the number of a decision that was never made.
	ErrNoDecision = errors.New("db: no such decision")
	// ErrExpired is returned for a decision that has expired.
	ErrExpired = errors.New("db: decision has expired")
	// ErrRewarded is returned for a reward of a decision that already has a different one.
	ErrRewarded = errors.New("db: decision has another reward")
	// ErrTooLarge is returned when something does not fit: one update into a commit, a graph into memory.
	ErrTooLarge = store.ErrTooLarge
	// ErrFull is returned when the disk has too little space left for a write. Nothing has been written,
	// and writes are possible again when there is space.
	ErrFull = store.ErrFull
	// ErrRepeated is returned by a Load with NoRepeats for an edge that is repeated or exists already.
	ErrRepeated = index.ErrRepeated
	// ErrInput is returned for an invalid argument: a key, a weight, a feature, a reward, an option.
	ErrInput = errors.New("db: bad input")
)

// errReadOnly is returned by a write to a database opened ReadOnly.
var errReadOnly = fmt.Errorf("%w: the database is open for reading only", ErrReadOnly)
