package main

import (
	"fmt"

	"kith/cmd/internal/cli"
	"kith/db"
)

// limited returns options with a memory limit in bytes, and limits the process to it.
func limited(memory int64) *db.Options {
	return &db.Options{Memory: cli.LimitMemory(memory)}
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
