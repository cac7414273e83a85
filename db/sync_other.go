//go:build !linux

package db

import "os"

// syncData makes the content of a file durable.
func syncData(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
