package store

import (
	"errors"

	"kith/index"
)

// Errors to test for with errors.Is. Package db exports them under the same names.
var (
	ErrNotFound = errors.New("db: not found")
	ErrClosed   = errors.New("db: closed")
	ErrReadOnly = errors.New("db: read only")
	ErrLocked   = errors.New("db: locked")
	ErrCorrupt  = index.ErrCorrupt
	ErrMismatch = index.ErrMismatch
	ErrTooLarge = errors.New("db: too large")
	ErrFull     = errors.New("db: disk full")
)
