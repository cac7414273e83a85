package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"

	"kith/db"
)

// memoryFlag adds --memory, the number of bytes that a database may take.
func memoryFlag(f *pflag.FlagSet, memory *int64) {
	f.Func("memory", "bytes the database may take, such as 512M or 2G (default: a quarter of the machine's); a lower GOMEMLIMIT wins", func(text string) (err error) {
		*memory, err = parseSize(text)
		return err
	})
}

// leastMemory is the smallest Options.Memory.
const leastMemory = 64 << 20

// limited returns options with so much memory, 0 being the default, and holds the process to it. Where GOMEMLIMIT is
// lower, that counts.
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
