package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"kith/cmd/internal/score"
)

// scoreShard is the step that scores a shard into a temporary file, whose name no other attempt
// uses: an engine may repeat a shard or run it twice at a time. It emits its output with key 0.
type scoreShard struct{ Job job }

// Setup restores and opens the database, unless another step of the process has done it. There is
// no Teardown: the SDK's workers never call it (beam v2.77, exec.Plan.Down), and the copy serves
// until the process ends.
func (f *scoreShard) Setup(ctx context.Context) error {
	_, err := copies.get(ctx, f.Job.Source)
	return err
}

// ProcessElement scores a shard.
func (f *scoreShard) ProcessElement(ctx context.Context, shard int, emit func(int, part)) error {
	c, err := copies.get(ctx, f.Job.Source)
	if err != nil {
		return err
	}
	s, err := c.db.Stats()
	if err != nil {
		return err
	}
	p := part{Shard: shard, File: fmt.Sprintf("%s-%05d-%s", f.Job.Parts, shard, newID()), Memory: s.AnswerBytes}
	err = write(ctx, p.File, func(w io.Writer) error {
		done, err := f.score(ctx, c, shard, w)
		p.AnsweredBy = done.AnsweredBy
		beam.NewCounter("kith", "sources").Inc(ctx, done.Sources)
		beam.NewCounter("kith", "links").Inc(ctx, done.Links)
		return err
	})
	if err != nil {
		return fmt.Errorf("shard %d of %d: %w", shard, len(f.Job.Outputs), err)
	}
	emit(0, p)
	return nil
}

// score writes the links of a shard. Scoring uses all processors, so shards of one process wait for
// each other.
func (f *scoreShard) score(ctx context.Context, c *dbCopy, shard int, w io.Writer) (done score.Report, err error) {
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return done, ctx.Err()
	}
	format, err := score.FormatOf(f.Job.Outputs[shard])
	if err != nil {
		return done, err
	}
	to, err := score.NewWriter(ctx, c.db, w, format, shard == 0)
	if err != nil {
		return done, err
	}
	o := f.Job.Question
	o.Sources, o.Pairs, o.Shard, o.Shards = c.list(o.Sources), c.list(o.Pairs), shard, len(f.Job.Outputs)
	done, err = score.Run(ctx, c.db, o, to, nil)
	if err == nil {
		err = to.Close()
	}
	return done, err
}

// publish is the step that gives all outputs their names. It can be repeated.
type publish struct{ Job job }

// ProcessElement gets the outputs of all shards.
func (f *publish) ProcessElement(ctx context.Context, _ int, each func(*part) bool) error {
	parts := make([]*part, len(f.Job.Outputs))
	for p := new(part); each(p); p = new(part) {
		parts[p.Shard] = p
	}
	for shard, p := range parts {
		if p == nil {
			return fmt.Errorf("shard %d of %d is missing", shard, len(parts))
		}
		if first := parts[0]; p.Memory != first.Memory || p.AnsweredBy != first.AnsweredBy && p.AnsweredBy != "" && first.AnsweredBy != "" {
			return fmt.Errorf("the workers of shards 0 and %d answer differently: by %s with %d bytes and by %s with %d; --memory makes them alike",
				shard, first.AnsweredBy, first.Memory, p.AnsweredBy, p.Memory)
		}
	}
	for shard, p := range parts {
		if err := move(ctx, p.File, f.Job.Outputs[shard]); err != nil {
			return err
		}
	}
	if err := f.removeStale(ctx); err != nil {
		return err
	}
	return f.Job.removeParts(ctx)
}

// removeStale deletes what --force replaces and is not overwritten: outputs with another number of
// shards.
func (f *publish) removeStale(ctx context.Context) error {
	earlier, err := f.Job.earlier(ctx)
	if err != nil {
		return err
	}
	for _, name := range earlier {
		keeps := func(output string) bool { return path.Base(output) == path.Base(name) }
		if slices.ContainsFunc(f.Job.Outputs, keeps) {
			continue
		}
		if err := remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
