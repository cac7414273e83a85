package cli

import (
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"
)

// MemoryFlag adds the flag --memory, the number of bytes that a database may use.
func MemoryFlag(f *pflag.FlagSet, memory *int64) {
	f.Func("memory", "bytes the database may take, such as 512M or 2G (default: a quarter of the machine's); a lower GOMEMLIMIT wins", func(text string) (err error) {
		*memory, err = ParseSize(text)
		return err
	})
}

// leastMemory is the smallest db.Options.Memory.
const leastMemory = 64 << 20

// LimitMemory limits the process to a number of bytes, and returns the db.Options.Memory that goes with it. 0 means the
// default. A lower GOMEMLIMIT takes precedence.
func LimitMemory(memory int64) int64 {
	if memory == 0 {
		return 0
	}
	limit := memory
	if set, err := ParseSize(os.Getenv("GOMEMLIMIT")); err == nil {
		limit = min(limit, set)
	}
	debug.SetMemoryLimit(limit)
	return max(limit, min(memory, leastMemory))
}
