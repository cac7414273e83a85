package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"kith/db"
	"kith/db/edgelist"
)

// measure prints what loading the lists of edges would add, and the memory and disk space that the graph would need.
func (l *load) measure(ctx context.Context, path string, o *db.Options, list []input) error {
	o.ReadOnly = true
	if vacant(path) {
		path, o.ReadOnly, o.InMemory = "", false, true
	}
	return with(path, o, func(g *db.DB) error {
		for _, in := range list {
			if in.kind != edgelist.Edges {
				continue
			}
			var r *db.LoadReport
			err := l.list(ctx, in, func(list io.Reader, o db.LoadOptions) (_ *db.LoadReport, err error) {
				r, err = g.Measure(ctx, list, o)
				return r, err
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(l.stdout, "%s: nothing was loaded; the graph would take %s of memory, so --memory %s or more, and up to %s on disk\n",
				in.name, byteSize(r.Memory), byteSize(r.Required), byteSize(r.Disk))
			if err != nil {
				return err
			}
		}
		return nil
	})
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
		return 0, errors.New("a number of bytes is wanted, such as 512M or 2G")
	}
	return n << shift, nil
}
