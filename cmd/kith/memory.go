package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"

	"kith/db"
)

// memoryFlag adds the flag --memory, the number of bytes that a database may use.
func memoryFlag(f *pflag.FlagSet, memory *int64) {
	f.Func("memory", "bytes the database may take, such as 512M or 2G (default: a quarter of the machine's); a lower GOMEMLIMIT wins", func(text string) (err error) {
		*memory, err = parseSize(text)
		return err
	})
}

// leastMemory is the smallest Options.Memory.
const leastMemory = 64 << 20

// limited returns options with a memory limit in bytes, and limits the process to it. 0 means the default. A lower
// GOMEMLIMIT takes precedence.
func limited(memory int64) *db.Options {
	if memory == 0 {
		return &db.Options{}
	}
	limit := memory
	if set, err := parseSize(os.Getenv("GOMEMLIMIT")); err == nil {
		limit = min(limit, set)
	}
	debug.SetMemoryLimit(limit)
	return &db.Options{Memory: max(limit, min(memory, leastMemory))}
}
