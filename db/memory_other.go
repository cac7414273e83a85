//go:build !linux

package db

// machineMemory returns the bytes of memory of the machine, 0 if it cannot tell.
func machineMemory() int64 { return 0 }
