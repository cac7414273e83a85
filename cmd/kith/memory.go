package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"

	"kith/cmd/internal/cli"
	"kith/db"
)

// memoryFlag adds the flag --memory, the number of bytes that a database may use.
func memoryFlag(f *pflag.FlagSet, memory *int64) {
	f.Func("memory", "bytes the database may take, such as 512M or 2G (default: a quarter of the machine's); a lower GOMEMLIMIT wins", func(text string) (err error) {
		*memory, err = cli.ParseSize(text)
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
	if set, err := cli.ParseSize(os.Getenv("GOMEMLIMIT")); err == nil {
		limit = min(limit, set)
	}
	debug.SetMemoryLimit(limit)
	return &db.Options{Memory: max(limit, min(memory, leastMemory))}
}

// byteSize formats a number of bytes, rounded up.
func byteSize(n int64) string {
	unit := int64(1 << 10)
	for _, name := range []string{"K", "M"} {
		if n <= 9999*unit {
			return fmt.Sprintf("%d%s", (n+unit-1)/unit, name)
		}
		unit <<= 10
	}
	return fmt.Sprintf("%dG", (n+unit-1)/unit)
}
