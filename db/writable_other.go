//go:build !unix

package db

import "os"

// access returns an error if a file cannot be written to. It does not check directories.
func access(name string) error {
	if info, err := os.Stat(name); err != nil || info.IsDir() {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
