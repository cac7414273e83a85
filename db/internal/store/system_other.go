//go:build !linux

package store

import (
	"errors"
	"math"
	"os"
)

// freeBytes returns the maximum, because the free space is unknown on this system.
func freeBytes(string) (int64, error) { return math.MaxInt64, nil }

// usedBytes returns 0, because the space of a file is unknown on this system.
func usedBytes(string) int64 { return 0 }

// syncData makes the content of a file durable. It returns os.ErrClosed if the file is closed.
func syncData(f *os.File) error { return f.Sync() }

// bootID returns "": the identity of the system's present run is unknown.
func bootID() string { return "" }

// MachineMemory returns 0: the memory of the machine is unknown.
func MachineMemory() int64 { return 0 }

// allocate returns errors.ErrUnsupported: only the free space is checked on this system.
func allocate(*os.File, int64) error { return errors.ErrUnsupported }
