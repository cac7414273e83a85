package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// WriteFile replaces a file completely or not at all: it writes a temporary file in the same directory, syncs it and
// renames it.
func WriteFile(name string, write func(io.Writer) error) (err error) {
	dir, base := filepath.Split(name)
	dir = filepath.Clean(dir)
	f, err := os.CreateTemp(dir, "."+base+".*.partial")
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}

// syncDir syncs a directory, on systems that support it.
func syncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// WriteLine writes a text and a line feed.
func WriteLine(w io.Writer, text string) error {
	_, err := io.WriteString(w, text+"\n")
	return err
}
