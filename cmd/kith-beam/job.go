package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamregister "github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"kith/cmd/internal/score"
	"kith/db"
)

// job is what every worker of a job knows. Beam encodes it.
type job struct {
	ID       string // distinguishes the temporary files of this job
	Source   source
	Question score.Options
	Outputs  []string // URIs, one of each shard
	Earlier  []string // patterns of the outputs of earlier jobs, with any number of shards
	Parts    string   // prefix of the URIs of temporary files
}

// part is the output of a shard under a temporary name.
type part struct {
	Shard      int
	File       string
	AnsweredBy string
	Memory     int64 // Stats.AnswerBytes of the worker
}

// register tells Beam the types that it encodes. Without an init function it must be called before
// beam.Init.
func register() {
	beamregister.DoFn3x1[context.Context, int, func(int, part), error](&scoreShard{})
	beamregister.Emitter2[int, part]()
	beamregister.DoFn3x1[context.Context, int, func(*part) bool, error](&publish{})
	beamregister.Iter1[part]()
	beam.RegisterType(reflect.TypeFor[part]())
}

// newJob reads the headers of the backups and looks for earlier output, so that most mistakes are
// found before anything is submitted.
func newJob(ctx context.Context, o *options) (*job, error) {
	j := &job{ID: newID(), Question: o.question, Source: source{Scratch: o.scratch, Memory: o.memory}}
	j.Question.Now = time.Now()
	j.Parts = o.out + ".partial-" + j.ID
	if err := j.Source.find(ctx, o); err != nil {
		return nil, err
	}
	for shard := range o.shards {
		j.Outputs = append(j.Outputs, o.shardName(shard))
	}
	j.Earlier = []string{o.out, shardName(o.out, "?????", "?????")}
	earlier, err := j.earlier(ctx)
	if err == nil && len(earlier) > 0 && !o.force {
		err = fmt.Errorf("%s: %w; --force replaces it", earlier[0], fs.ErrExist)
	}
	return j, err
}

// earlier returns the outputs that are there.
func (j *job) earlier(ctx context.Context) (all []string, err error) {
	for _, pattern := range j.Earlier {
		found, err := list(ctx, pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// find sets the files that a worker reads, and the version of the database.
func (s *source) find(ctx context.Context, o *options) error {
	var backups []io.Reader
	for _, uri := range o.backups {
		f, err := find(ctx, uri)
		if err != nil {
			return fmt.Errorf("backup %w", err)
		}
		r, err := open(ctx, uri)
		if err != nil {
			return fmt.Errorf("backup %w", err)
		}
		defer r.Close() // read only
		s.Backups, backups = append(s.Backups, f), append(backups, r)
	}
	last, err := db.ReadBackup(ctx, backups...)
	if err != nil {
		return err
	}
	s.Version = last.Graph
	for _, uri := range []string{o.question.Sources, o.question.Pairs} {
		if uri == "" {
			continue
		}
		if s.List, err = find(ctx, uri); err != nil {
			return err
		}
	}
	return nil
}

// build adds the steps of the job to a pipeline. The step of publishing begins when all shards are
// scored. It gets the shards of successful attempts, each once, however often the
// engine has repeated a step.
func (j *job) build(s beam.Scope) {
	numbers := make([]int, len(j.Outputs))
	for i := range numbers {
		numbers[i] = i
	}
	shards := beam.Reshuffle(s, beam.CreateList(s, numbers)) // else one worker would get all
	parts := beam.ParDo(s.Scope("score"), &scoreShard{Job: *j}, shards)
	beam.ParDo0(s.Scope("publish"), &publish{Job: *j}, beam.GroupByKey(s, parts))
}

// removeParts deletes the temporary files of the job.
func (j *job) removeParts(ctx context.Context) error {
	found, err := list(ctx, j.Parts+"-*")
	for _, name := range found {
		err = errors.Join(err, remove(ctx, name))
	}
	return err
}
