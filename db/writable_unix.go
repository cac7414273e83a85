//go:build unix

package db

import "golang.org/x/sys/unix"

// access returns an error if a file or directory cannot be written to.
func access(name string) error { return unix.Access(name, unix.W_OK) }
