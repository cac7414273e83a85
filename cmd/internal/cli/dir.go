package cli

import (
	"errors"
	"io/fs"
	"os"
)

// InTemporary calls f with a new directory in parent, and deletes it.
func InTemporary(parent string, f func(dir string) error) error {
	dir, err := os.MkdirTemp(parent, "kith-*")
	if err != nil {
		return err
	}
	return errors.Join(f(dir), os.RemoveAll(dir))
}

// MissingOrEmpty reports whether path does not exist or is an empty directory, where opening would
// make a database.
func MissingOrEmpty(path string) bool {
	entries, err := os.ReadDir(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0
}

// DiskBytes returns the total size of the files in a directory.
func DiskBytes(path string) (sum int64, err error) {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return 0, err
		}
		sum += info.Size()
	}
	return sum, err
}
