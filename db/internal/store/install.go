package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A repair works in a directory inside the damaged store. When that directory is complete, it gets
// another name, which decides that the repair has succeeded. Then its files replace the files of
// the store. The next open finishes what a kill interrupts there.

const (
	repairDraft = "REPAIR"   // directory of a repair that is not complete
	repairReady = "REPAIRED" // directory of files that replace the files of the store
	// removeList names the files of the store that are deleted. It is the last file in repairReady.
	removeList = "REPLACES"
	draftMark  = "-REWRITE" // suffix of the drafts of single files
)

// prepareInstall makes the repaired store in the directory path durable, and decides that it
// replaces the damaged one.
func prepareInstall(path string) error {
	draft := filepath.Join(path, repairDraft)
	repaired, err := fileNames(draft)
	if err != nil {
		return err
	}
	present, err := fileNames(path)
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, name := range present {
		if replaceable(name) && !slices.Contains(repaired, name) {
			fmt.Fprintln(&list, name)
		}
	}
	if err := writeSynced(filepath.Join(draft, removeList), []byte(list.String())); err != nil {
		return err
	}
	if err := syncAll(draft); err != nil {
		return err
	}
	if err := os.Rename(draft, filepath.Join(path, repairReady)); err != nil {
		return err
	}
	return syncDir(path)
}

// replaceable reports whether a repair may delete the file of a store.
func replaceable(name string) bool {
	number, _, _ := strings.Cut(name, ".")
	numbered := strings.Trim(number, "0123456789") == ""
	switch filepath.Ext(name) {
	case tableSuffix, logSuffix, valueSuffix, draftSuffix, filepath.Ext(asideSuffix):
		return numbered
	}
	return name != lockFile && isStoreFile(strings.TrimSuffix(name, draftMark))
}

// install moves the files of a complete repair, if there is one, to the store at path, which the
// caller has locked. It can be interrupted anywhere, and then be repeated. It calls step, which may
// be nil, after each change.
func install(path string, step func() error) error {
	ready := filepath.Join(path, repairReady)
	names, err := fileNames(ready)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	changed := func(err error) error {
		if err == nil && step != nil {
			err = step()
		}
		return err
	}
	for _, name := range names {
		if name == removeList {
			continue
		}
		if err := changed(replace(filepath.Join(ready, name), filepath.Join(path, name))); err != nil {
			return err
		}
	}
	list, err := os.ReadFile(filepath.Join(ready, removeList))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for name := range bytes.Lines(list) {
		name := strings.TrimSuffix(string(name), "\n")
		if err := changed(removeFile(filepath.Join(path, name))); err != nil {
			return err
		}
	}
	if err := syncDir(path); err != nil {
		return err
	}
	if err := changed(removeFile(filepath.Join(ready, removeList))); err != nil {
		return err
	}
	return errors.Join(os.Remove(ready), syncDir(path))
}

// replace renames a file. A directory in its place gets another name.
func replace(from, to string) error {
	if info, err := os.Lstat(to); err == nil && info.IsDir() {
		if err := os.Rename(to, to+leftOutSuffix); err != nil {
			return err
		}
	}
	return os.Rename(from, to)
}

// removeFile deletes a file, if it exists. A directory in its place gets another name.
func removeFile(name string) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return os.Rename(name, name+leftOutSuffix)
	}
	return os.Remove(name)
}
