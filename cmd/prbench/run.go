package main

import (
	"bytes"
	"context"
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
	"sync"

	"golang.org/x/sync/errgroup"

	"kith/cmd/internal/cli"
	"kith/model"
)

// parameters determine the result of a run, and its name.
type parameters interface {
	name() string                 // file name of the run
	model() (*model.Model, error) // model of the run before it learns anything, or nil
}

// run is a completed run as it is stored.
type run[S parameters, R any] struct {
	Settings S                 `json:"settings"`
	Resolved map[string]string `json:"resolved,omitempty"` // every option of the model
	Build    string            `json:"build,omitempty"`    // revision of the tool; "" means unknown
	Result   R                 `json:"result"`
	Sum      string            `json:"sum"` // checksum of all other fields
}

// newRun returns a completed run. It records which version of the model and of the tool made it.
func newRun[S parameters, R any](s S, result R) (*run[S, R], error) {
	r := &run[S, R]{Settings: s, Result: result}
	m, err := s.model()
	if err != nil {
		return nil, err
	}
	if m != nil {
		r.Resolved = resolved(m)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		r.Build = cli.Revision(info)
	}
	r.Sum, err = r.checksum()
	return r, err
}

// checksum returns the checksum of all fields except Sum.
func (r run[S, R]) checksum() (string, error) {
	r.Sum = ""
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

// current returns an error if the model now has other options, or reads an option that did not
// exist before.
func (r *run[S, R]) current() error {
	m, err := r.Settings.model()
	if err != nil {
		return fmt.Errorf("of another version: %w", err)
	}
	if m == nil {
		return nil
	}
	now := resolved(m)
	for option, value := range r.Resolved {
		if now[option] != value {
			return fmt.Errorf("of another version: %s was %q and is %q", option, value, now[option])
		}
	}
	for option, value := range now {
		if _, known := r.Resolved[option]; !known && m.Reads(option) {
			return fmt.Errorf("of another version: there was no %s, which is %q", option, value)
		}
	}
	return nil
}

// shelf is a folder of runs, one file each. "" is a shelf that keeps nothing.
type shelf[S parameters, R any] string

// runs reads all runs, in the order of their names. data returns the name and the checksum of the
// data of a run. Two data sets with the same name and different content are an error.
func (s shelf[S, R]) runs(data func(S) (name, sum string)) (all []*run[S, R], err error) {
	entries, err := os.ReadDir(string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	sums := make(map[string]string)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") { // left by an interrupted write
			continue
		}
		r, err := s.run(e.Name())
		if err != nil {
			return nil, err
		}
		name, sum := data(r.Settings)
		if other, known := sums[name]; known && other != sum {
			return nil, fmt.Errorf("runs of two data sets that are called %s: %s is one", name, e.Name())
		}
		sums[name] = sum
		all = append(all, r)
	}
	return all, err
}

// run returns the run with a name, or nil if it is missing. A file that was damaged, or was written
// by another version of the models, is an error.
func (s shelf[S, R]) run(name string) (*run[S, R], error) {
	if s == "" {
		return nil, nil
	}
	file := filepath.Join(string(s), name)
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r := new(run[S, R])
	if err == nil {
		err = r.parse(b)
	}
	if err == nil && r.Settings.name() != name {
		err = fmt.Errorf("holds the run %s", r.Settings.name())
	}
	if err == nil {
		err = r.current()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

func (r *run[S, R]) parse(b []byte) error {
	in := json.NewDecoder(bytes.NewReader(b))
	in.DisallowUnknownFields()
	if err := in.Decode(r); err != nil {
		return fmt.Errorf("not a kept run, or damaged: %w", err)
	}
	if _, err := in.Token(); err != io.EOF {
		return errors.New("damaged: there is more than one run")
	}
	if sum, err := r.checksum(); err != nil || sum != r.Sum {
		return errors.Join(errors.New("damaged: its checksum is wrong"), err)
	}
	return nil
}

func (s shelf[S, R]) keep(r *run[S, R]) error {
	b, err := json.Marshal(r)
	if s == "" || err != nil {
		return err
	}
	return writeFile(filepath.Join(string(s), r.Settings.name()), append(b, '\n'))
}

// job makes the runs of some settings.
type job[S parameters, R any] struct {
	what     string // description for the progress bar
	settings []S
	size     int // units of progress
	// play returns the results of the settings whose runs are missing.
	play func(ctx context.Context, missing []S, progress func(done int)) ([]R, error)
}

// tally counts runs.
type tally struct {
	all, kept int
	left      int // units of progress of the missing runs
}

// session plays jobs.
type session[S parameters, R any] struct {
	shelf   shelf[S, R]
	workers int                     // maximum number of concurrent jobs
	log     io.Writer               // for a progress bar or, if it is not a terminal, a line for each run that is kept
	line    func(*run[S, R]) string // returns this line
	tally   *tally                  // if not nil, runs are counted, not played

	mu          sync.Mutex // guards the fields below, and log
	bar         *cli.Bar
	runs        map[string]*run[S, R] // by name
	done, total int
}

// play plays the jobs whose runs are not on the shelf, and keeps their runs. It returns all runs of
// the jobs by name. The first error ends all jobs; the runs that were completed before are kept.
func (s *session[S, R]) play(ctx context.Context, jobs []job[S, R]) (map[string]*run[S, R], error) {
	s.runs, s.bar = make(map[string]*run[S, R]), cli.NewBar(s.log, false)
	defer s.bar.End()
	var missing []job[S, R]
	seen := make(map[string]bool)
	for _, j := range jobs {
		all := j.settings
		j.settings = nil
		for _, of := range all {
			name := of.name()
			if seen[name] {
				continue
			}
			seen[name] = true
			kept, err := s.shelf.run(name)
			if err != nil {
				return nil, err
			}
			if kept != nil {
				s.runs[name] = kept
			} else {
				j.settings = append(j.settings, of)
			}
		}
		if len(j.settings) > 0 {
			missing = append(missing, j)
			s.total += j.size
		}
	}
	if s.tally != nil {
		s.tally.all += len(seen)
		s.tally.kept += len(s.runs)
		s.tally.left += s.total
		return s.runs, nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.workers)
	for _, j := range missing {
		group.Go(func() error { return s.playJob(ctx, j) })
	}
	return s.runs, group.Wait()
}

// playJob plays a job and keeps its runs.
func (s *session[S, R]) playJob(ctx context.Context, j job[S, R]) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	before := 0
	progress := func(done int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done, before = s.done+done-before, done
		s.bar.Show(cli.State{What: j.what, Done: int64(s.done), Total: int64(s.total)})
	}
	results, err := j.play(ctx, j.settings, progress)
	if err != nil {
		return err
	}
	progress(j.size)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, result := range results {
		r, err := newRun(j.settings[i], result)
		if err == nil {
			err = s.shelf.keep(r)
		}
		if err != nil {
			return err
		}
		s.runs[r.Settings.name()] = r
		if s.shelf != "" && !cli.IsTerminal(s.log) {
			fmt.Fprintln(s.log, s.line(r))
		}
	}
	return nil
}
