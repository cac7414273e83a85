package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kith/model"
)

// entry is a run stored on a shelf.
type entry interface {
	name() string         // file name, a function of all settings of the run
	whole() (bool, error) // whether its checksum is right
	current() error       // returns an error if the current models have other options
}

// shelf is a folder of runs, one file each.
type shelf[R any, P interface {
	*R
	entry
}] string

// records reads all runs, in the order of their names.
func (s shelf[R, P]) records() (all []*R, err error) {
	entries, err := os.ReadDir(string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") { // left by an interrupted write
			continue
		}
		r, err := s.record(e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, err
}

// record returns the run with a name, or nil if there is none. A file that was damaged, or was written by another
// version of the models, is an error.
func (s shelf[R, P]) record(name string) (*R, error) {
	r := new(R)
	err := readEntry(filepath.Join(string(s), name), P(r))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return r, nil
}

func (s shelf[R, P]) keep(r P) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(string(s), r.name()), append(b, '\n'))
}

func readEntry(name string, r entry) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	in := json.NewDecoder(bytes.NewReader(b))
	in.DisallowUnknownFields()
	if err := in.Decode(r); err != nil {
		return fmt.Errorf("%s: not a kept run, or damaged: %w", name, err)
	}
	if _, err := in.Token(); err != io.EOF {
		return fmt.Errorf("%s: damaged: there is more than one run", name)
	}
	whole, err := r.whole()
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case !whole:
		return fmt.Errorf("%s: damaged: its sum does not fit", name)
	case filepath.Base(name) != r.name():
		return fmt.Errorf("%s: holds the run %s", name, r.name())
	}
	if err := r.current(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// jsonSum returns a checksum of the JSON of a value, in which the keys of a map are sorted.
func jsonSum(v any) (string, error) {
	b, err := json.Marshal(v)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), err
}

// sameOptions returns an error if an option of the current model has another value than before, or if the model reads
// an option that did not exist before.
func sameOptions(had map[string]string, m *model.Model) error {
	now := resolved(m)
	for option, value := range had {
		if now[option] != value {
			return fmt.Errorf("of another version: %s was %q and is %q", option, value, now[option])
		}
	}
	for option, value := range now {
		if _, known := had[option]; !known && m.Reads(option) {
			return fmt.Errorf("of another version: there was no %s, which is %q", option, value)
		}
	}
	return nil
}
