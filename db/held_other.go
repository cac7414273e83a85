//go:build !unix

package db

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// held reports whether a process has the database at path open for writing: nobody else can then open
// its lock file, which goes with the process.
func held(path string) bool {
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	f.Close()
	return false
}
