package cli

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

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
