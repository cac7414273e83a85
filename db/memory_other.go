//go:build !linux

package db

// machineMemory returns 0: the memory of the machine is unknown.
func machineMemory() int64 { return 0 }
