package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

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

// parseSize parses a number of bytes: 1048576, 1024K, 1M, 1MB and 1MiB are the same.
func parseSize(text string) (int64, error) {
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
