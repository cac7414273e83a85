package cli

import (
	"errors"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

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

// LimitMemory limits the process to a number of bytes, and returns the db.Options.Memory that goes
// with it. 0 means the default. A lower GOMEMLIMIT takes precedence.
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

// ParseSize parses a number of bytes: 1048576, 1024K, 1M, 1MB and 1MiB are the same.
func ParseSize(text string) (int64, error) {
	digits := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(text), "B"), "I")
	shift := 0
	if i := len(digits) - 1; i >= 0 {
		if unit := strings.IndexByte("KMGT", digits[i]); unit >= 0 {
			digits, shift = digits[:i], 10*(unit+1)
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return 0, errors.New("must be a number of bytes, such as 512M or 2G")
	}
	return n << shift, nil
}
