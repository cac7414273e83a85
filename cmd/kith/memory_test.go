package main

import (
	"math"
	"runtime/debug"
	"testing"
)

// A lower GOMEMLIMIT takes precedence over --memory, down to the minimum that a database accepts.
func TestLimited(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	for _, c := range []struct {
		env                   string
		memory, limit, option int64
	}{
		{"", 0, math.MaxInt64, 0},
		{"100MiB", 0, math.MaxInt64, 0}, // the runtime has the limit, and db.Open reads it
		{"", 256 << 20, 256 << 20, 256 << 20},
		{"100MiB", 256 << 20, 100 << 20, 100 << 20},
		{"1GiB", 256 << 20, 256 << 20, 256 << 20},
		{"16MiB", 256 << 20, 16 << 20, 64 << 20},
		{"off", 256 << 20, 256 << 20, 256 << 20},
		{"", 1 << 20, 1 << 20, 1 << 20}, // db.Open refuses it
	} {
		t.Setenv("GOMEMLIMIT", c.env)
		debug.SetMemoryLimit(math.MaxInt64)
		o := limited(c.memory)
		if limit := debug.SetMemoryLimit(-1); o.Memory != c.option || limit != c.limit {
			t.Errorf("GOMEMLIMIT=%s --memory %d: limit %d, option %d, want %d, %d", c.env, c.memory, limit, o.Memory, c.limit, c.option)
		}
	}
}

// Every command that opens a database has the flag --memory.
func TestMemoryFlag(t *testing.T) {
	for _, name := range []string{"load", "shell", "serve", "check", "compact", "backup", "restore"} {
		cmd, _, err := newRoot().Find([]string{name})
		if err != nil || cmd.Flags().Lookup("memory") == nil {
			t.Errorf("kith %s has no flag --memory (%v)", name, err)
		}
	}
}
