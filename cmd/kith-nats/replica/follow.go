package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"kith/db"
)

const (
	maxApplied    = 512         // changes that are applied together, and share a sync
	maxReceived   = 16          // messages that are received and not yet applied
	bytesReceived = 8 << 20     // of messages that the client holds, and of messages that are applied together
	pollTime      = time.Second // between two looks at the end of the log
)

// Status says how far a follower is.
type Status struct {
	Version   uint64    `json:"version"`         // of the copy
	Published uint64    `json:"published"`       // newest version of the log that is known
	Behind    uint64    `json:"behind"`          // number of versions between
	Current   time.Time `json:"current"`         // when the copy was last known to have the newest version; zero means never
	Connected bool      `json:"connected"`       // whether the log server answers
	Restored  int       `json:"restored"`        // number of snapshots that took the place of the copy since Open
	Error     string    `json:"error,omitempty"` // why the follower waits, if it does
}

// progress is the Status of a follower as it changes, apart from Behind.
type progress struct {
	mu sync.Mutex // protects following fields
	Status
}

// Status returns how far the follower is.
func (f *Follower) Status() Status {
	p := &f.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.Status
	s.Published = max(s.Published, s.Version)
	s.Behind = s.Published - s.Version
	return s
}

// note changes the progress.
func (p *progress) note(change func(*Status)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.Status)
	if p.Connected && p.Version >= p.Published {
		p.Current = time.Now()
	}
}

// Run applies the changes of the log until ctx ends, and returns its error. When the log server
// cannot be reached it tries again, without end. When the log lacks the change that comes next, it
// waits for a snapshot after that change, restores it in a directory next to the copy, and
// exchanges the two.
//
// It returns ErrMismatch, of package db, for a change that does not make here what it made in the
// published database, which is so if the two run different versions of kith and the newest snapshot
// does not help; and an error for a damaged message that is followed by no snapshot.
func (f *Follower) Run(ctx context.Context) error {
	var refused uint64 // version that the last refused change would have made
	for attempt := 1; ; attempt++ {
		began := time.Now()
		err := f.session(ctx)
		var bad *refusal
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &bad) && bad.version <= refused:
			return err
		case errors.As(err, &bad):
			refused = bad.version
			f.log.logger.Warn("a change is refused, so the copy begins again with a snapshot", "err", err)
			err = f.renew(ctx, 0)
		case errors.Is(err, errFallen):
			_, version, _ := f.identity()
			err = f.renew(ctx, version)
		}
		if f.copy == nil { // a snapshot should have taken its place, and could not be opened
			return err
		}
		if isFinal(err) {
			return err
		}
		if err == nil {
			f.progress.note(func(s *Status) { s.Error = "" })
			continue
		}
		f.progress.note(func(s *Status) { s.Error = err.Error() })
		if time.Since(began) > patience {
			attempt = 1
		}
		f.log.logger.Warn("following is interrupted", "err", err)
		if !retry(ctx, attempt) {
			return ctx.Err()
		}
	}
}

// renew puts a snapshot that is later than a version in the place of the copy.
func (f *Follower) renew(ctx context.Context, after uint64) error {
	next := f.path + ".next"
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	if err := f.restore(ctx, next, after); err != nil {
		return err
	}
	if err := f.exchange(); err != nil {
		return err
	}
	_, version, err := f.identity()
	f.progress.note(func(s *Status) { s.Version, s.Restored = version, s.Restored+1 })
	return err
}

// errFallen means that the log lacks the change that comes next.
var errFallen = errors.New("replica: the log lacks the next change")

// refusal is the error of a change that cannot be applied.
type refusal struct {
	version uint64 // that the change makes, or an earlier one
	error
}

func (r *refusal) Unwrap() error { return r.error }

// received is a message of the log, or an error.
type received struct {
	header
	sequence uint64
	data     []byte
	err      error
}

// session applies changes until something fails.
func (f *Follower) session(ctx context.Context) error {
	_, version, err := f.identity()
	if err != nil {
		return err
	}
	sequence, at, err := f.log.find(ctx, version+1)
	if err != nil {
		return err
	}
	if at == fallen || at == nothing && f.snapshotAfter(ctx, version) {
		return errFallen
	}
	if at == ahead {
		f.log.logger.Warn("the log ends before the version of the copy", "version", version)
	}
	made := f.log.stream.CachedInfo().Created
	ctx, fail := context.WithCancelCause(ctx)
	messages := make(chan received, maxReceived)
	var all sync.WaitGroup
	all.Go(func() { fail(f.receive(ctx, sequence, messages)) })
	all.Go(func() { fail(f.poll(ctx, made)) })
	all.Go(func() { fail(f.apply(ctx, version, messages)) })
	all.Wait()
	return context.Cause(ctx)
}

// snapshotAfter reports whether there is a snapshot that is later than a version.
func (f *Follower) snapshotAfter(ctx context.Context, version uint64) bool {
	all, err := f.log.listSnapshots(ctx)
	return err == nil && len(all) > 0 && all[0].version > version
}

// poll looks for the end of the log from time to time, so that Status tells it. It returns an error
// when the log server has been away or has lost messages, and when the log is another one than that
// made at a time, because then the place in the log must be found again.
func (f *Follower) poll(ctx context.Context, made time.Time) error {
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	away, last := error(nil), uint64(0)
	for {
		end, err := f.log.end(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && away != nil:
			return fmt.Errorf("the NATS server was away: %w", away)
		case err == nil && end.sequence < last:
			return errors.New("the log has lost messages")
		case err == nil && !end.made.Equal(made): // it may have as many messages as the log before
			return errors.New("the log was made again")
		case err != nil && away == nil:
			f.log.logger.Warn("the NATS server does not answer", "err", err)
		}
		away, last = err, max(last, end.sequence)
		f.progress.note(func(s *Status) {
			s.Connected, s.Published = err == nil, max(s.Published, end.version)
		})
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// receive receives the messages from a sequence on.
func (f *Follower) receive(ctx context.Context, sequence uint64, to chan<- received) error {
	c, err := f.log.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: sequence, MaxResetAttempts: 1,
	})
	if err != nil {
		return logError(err)
	}
	messages, err := c.Messages(jetstream.PullMaxBytes(bytesReceived))
	if err != nil {
		return logError(err)
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		next := received{data: m.Data()}
		about, err := m.Metadata()
		if err == nil {
			next.sequence = about.Sequence.Stream
			next.header, err = readHeader(m.Headers())
		}
		next.err = err
		select {
		case to <- next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// apply applies the changes of the messages, as many together as there are. version is the version
// of the copy.
func (f *Follower) apply(ctx context.Context, version uint64, from <-chan received) error {
	g := gatherer{from: from, version: version}
	for {
		changes, err := g.gather(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if applied := f.applyAll(ctx, changes); applied != nil {
			return applied
		}
		var bad *refusal
		if errors.As(err, &bad) {
			return &refusal{bad.version, fmt.Errorf("stream %s: %w", streamOf(f.log.database), err)}
		}
		if err != nil {
			return err
		}
	}
}

// gatherer gathers the changes of messages.
type gatherer struct {
	from    <-chan received
	version uint64 // that the changes so far make
	frames  assembler
}

// gather returns changes: it waits for the first, and takes the changes that are there already. The
// error is the error of the message after them.
func (g *gatherer) gather(ctx context.Context) (all []db.Change, err error) {
	for bytes := 0; len(all) < maxApplied && bytes < bytesReceived; {
		m, ok := receiveFrom(ctx, g.from, len(all) == 0)
		if !ok {
			return all, nil
		}
		if m.err == nil && m.first > g.version+1 {
			return all, errFallen
		}
		var changes []db.Change
		if m.err == nil {
			changes, m.err = g.frames.add(m.header, m.data)
		}
		if m.err != nil {
			return all, &refusal{max(m.first, g.version+1), fmt.Errorf("message %d: %w", m.sequence, m.err)}
		}
		all = append(all, changes...)
		bytes += len(m.data)
		if len(changes) > 0 {
			g.version = max(g.version, m.last)
		}
	}
	return all, nil
}

// receiveFrom receives a value. It returns false when ctx ends or, unless wait is set, when no
// value is there yet.
func receiveFrom[T any](ctx context.Context, from <-chan T, wait bool) (v T, ok bool) {
	if !wait {
		select {
		case v = <-from:
			return v, true
		default:
			return v, false
		}
	}
	select {
	case v = <-from:
		return v, true
	case <-ctx.Done():
		return v, false
	}
}

// applyAll applies changes and counts the version.
func (f *Follower) applyAll(ctx context.Context, changes []db.Change) error {
	if len(changes) == 0 {
		return nil
	}
	err := f.copy.Apply(ctx, changes...)
	_, now, bad := f.identity()
	if bad != nil {
		return bad
	}
	last := changes[len(changes)-1].Version
	f.progress.note(func(s *Status) {
		s.Version, s.Published, s.Error = now, max(s.Published, last), ""
	})
	switch {
	case errors.Is(err, db.ErrGap):
		return errFallen
	case errors.Is(err, db.ErrMismatch), errors.Is(err, db.ErrCorrupt), errors.Is(err, db.ErrTooLarge):
		return &refusal{now + 1, err}
	}
	return err
}
