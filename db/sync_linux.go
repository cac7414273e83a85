package db

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes the content of a file durable, including what was written through a memory mapping.
func syncData(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Fdatasync(int(f.Fd())); err != nil {
		return &os.PathError{Op: "fdatasync", Path: name, Err: err}
	}
	return nil
}
