package replica

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"kith/db"
)

// Publish writes the changes of a database, which must keep them (see db.Options.ChangeBytes), to
// its log until ctx ends, and returns the error of ctx. It makes the log if it does not exist. When
// the log server cannot be reached it tries again, without end, and continues after the last
// message that the log has; but it returns the error of its first attempt.
//
// Publish takes snapshots: at once if none joins the changes of the log, and after a number of
// bytes. A db.DB.Load, or changes that were forgotten before they were published, make a gap in the
// log, with a snapshot behind it.
//
// It returns ErrMismatch, of package db, if the log has changes that the database has not made: it
// is an older copy, or one that went another way. It returns ErrOther if another publisher writes
// to the log after it has begun.
func Publish(ctx context.Context, g *db.DB, js jetstream.JetStream, o Options) error {
	p, err := newPublisher(ctx, g, js, o)
	if err != nil {
		return err
	}
	o = p.options
	if o.Ready != nil {
		o.Ready()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer p.taking.Wait()
	defer cancel()
	for attempt := 1; ; attempt++ {
		began := time.Now()
		err := p.session(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, db.ErrForgotten):
			o.Logger.Warn("changes are forgotten, so followers begin again with a snapshot", "err", err)
			continue
		case isFinal(err), !p.started:
			return err
		}
		if time.Since(began) > patience {
			attempt = 1
		}
		o.Logger.Warn("publishing is interrupted", "err", err)
		if !retry(ctx, attempt) {
			return ctx.Err()
		}
		if again, err := makeLog(ctx, js, p.log.database, &o); err == nil { // if the server has lost it
			p.log = again
		}
	}
}

// patience is the time after which an error is the first one again.
const patience = time.Minute

// publisher is a call of Publish.
type publisher struct {
	db      *db.DB
	log     *changeLog
	options Options
	id      string
	started bool        // a session has read the log
	wrote   atomic.Bool // the log has a message of this publisher
	foreign uint64      // sequence of the last message that another publisher wrote before this one began
	schedule
}

// newPublisher makes the log of a database if it does not exist.
func newPublisher(ctx context.Context, g *db.DB, js jetstream.JetStream, o Options) (*publisher, error) {
	o, err := o.resolve(js.Conn().MaxPayload())
	if err != nil {
		return nil, err
	}
	s, err := g.Stats()
	if err != nil {
		return nil, err
	}
	l, err := makeLog(ctx, js, s.Database, &o)
	return &publisher{db: g, log: l, options: o, id: nuid.Next()}, err
}

// session publishes until something fails.
func (p *publisher) session(ctx context.Context) error {
	at, err := p.resume(ctx)
	if err != nil {
		return err
	}
	p.started = true
	return newSession(ctx, p, at).run()
}

// resume returns the position from which the database continues. If the log lacks a change that the
// database has forgotten, it continues after a snapshot.
func (p *publisher) resume(ctx context.Context) (position, error) {
	end, err := p.log.end(ctx)
	if err != nil {
		return end, err
	}
	if end.publisher == p.id {
		p.wrote.Store(true)
	} else if !p.wrote.Load() {
		p.foreign = end.sequence
	} else if end.publisher != "" && end.sequence > p.foreign {
		return end, fmt.Errorf("%w: database %s", ErrOther, p.log.database)
	}
	if end.contents != "" {
		joined, err := p.continues(ctx, end.version, end.contents)
		if err != nil {
			return end, err
		}
		if joined {
			return end, p.measure(ctx, end)
		}
	}
	return p.start(ctx, end.sequence)
}

// start takes a snapshot and writes a message that the log continues after it. It waits for the
// snapshot in the background, because two at a time would write into one slot.
func (p *publisher) start(ctx context.Context, last uint64) (position, error) {
	p.taking.Wait()
	s, err := p.takeSnapshot(ctx)
	if err != nil {
		return position{}, err
	}
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	m := startAfter(s, p.id, subjectOf(p.log.database))
	ack, err := p.log.js.PublishMsg(call, m, jetstream.WithExpectLastSequence(last))
	if err != nil {
		return position{}, fmt.Errorf("the start of the log: %w", logError(err))
	}
	p.wrote.Store(true)
	return position{version: s.version, contents: s.contents, sequence: ack.Sequence}, nil
}

// continues reports whether the database can continue a log that has made a version: false if it
// has forgotten the change after it. It returns ErrMismatch if the database has not made that
// version.
func (p *publisher) continues(ctx context.Context, version uint64, contents string) (ok bool, err error) {
	err = p.db.View(ctx, func(tx *db.Tx) error {
		s := tx.Stats()
		now, before := s.Version, s.Contents
		if version > now {
			return fmt.Errorf("%w: the log has version %d of database %s, and the database is at version %d: it is an older copy",
				db.ErrMismatch, version, p.log.database, now)
		}
		if version < now {
			for c, err := range tx.Changes(version) {
				if errors.Is(err, db.ErrForgotten) {
					return nil
				}
				if err != nil {
					return err
				}
				before = c.Before
				break
			}
		}
		if before != contents {
			return fmt.Errorf("%w: the database went another way than the log of database %s up to version %d", db.ErrMismatch, p.log.database, version)
		}
		ok = true
		return nil
	})
	return ok, err
}
