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
	"runtime/debug"
	"strings"

	"kith/cmd/internal/cli"
	"kith/model"
)

// parameters determine the result of a run, and its name.
type parameters interface {
	name() string                 // file name of the run
	model() (*model.Model, error) // model of the run before it learns anything, or nil
}

// keptRun is the part of a stored run that does not depend on the experiment.
type keptRun[S parameters] struct {
	Settings S                 `json:"settings"`
	Resolved map[string]string `json:"resolved,omitempty"` // every option of the model
	Build    string            `json:"build,omitempty"`    // revision of the tool; "" means unknown
	Sum      string            `json:"sum"`                // checksum of all other fields of the run
}

func (k *keptRun[S]) name() string { return k.Settings.name() }

func (k *keptRun[S]) checksum() *string { return &k.Sum }

// describe fills the fields that say which version of the model and of the tool made the run.
func (k *keptRun[S]) describe() error {
	m, err := k.Settings.model()
	if err != nil {
		return err
	}
	if m != nil {
		k.Resolved = resolved(m)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		k.Build = cli.Revision(info)
	}
	return nil
}

// current returns an error if the model now has other options.
func (k *keptRun[S]) current() error {
	m, err := k.Settings.model()
	if err != nil {
		return fmt.Errorf("of another version: %w", err)
	}
	if m == nil {
		return nil
	}
	return sameOptions(k.Resolved, m)
}

// entry is a run of an experiment. It embeds a keptRun.
type entry interface {
	name() string
	checksum() *string
	describe() error
	current() error
}

// seal fills the fields of a completed run that say how it was made, and its checksum.
func seal(r entry) (err error) {
	if err := r.describe(); err != nil {
		return err
	}
	*r.checksum(), err = sumOf(r)
	return err
}

// sumOf returns the checksum of a run.
func sumOf(r entry) (string, error) {
	at := r.checksum()
	defer func(had string) { *at = had }(*at)
	*at = ""
	return jsonSum(r)
}

// jsonSum returns a checksum of the JSON of a value, in which the keys of a map are sorted.
func jsonSum(v any) (string, error) {
	b, err := json.Marshal(v)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), err
}

// runName returns the file name of a run: some of its parameters, and a checksum of all.
func runName(all parameters, some ...string) string {
	sum, err := jsonSum(all)
	if err != nil {
		panic("prbench: settings: " + err.Error())
	}
	return strings.Join(some, "-") + "-" + sum[:12] + ".json"
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

// record returns the run with a name, or nil if it is missing. A file that was damaged, or was written by another
// version of the models, is an error.
func (s shelf[R, P]) record(name string) (*R, error) {
	r := new(R)
	err := readEntry(filepath.Join(string(s), name), P(r))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
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
	sum, err := sumOf(r)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case sum != *r.checksum():
		return fmt.Errorf("%s: damaged: its checksum is wrong", name)
	case filepath.Base(name) != r.name():
		return fmt.Errorf("%s: holds the run %s", name, r.name())
	}
	if err := r.current(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
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
