package replica

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// schedule says when a publisher takes snapshots. The newest snapshot must join the log: the log
// must have all changes that come after it, which it has if the messages since then take less than
// the stream keeps.
type schedule struct {
	taking sync.WaitGroup

	mu       sync.Mutex // protects following fields
	sent     int64      // bytes of all messages
	joined   int64      // value of sent when the newest snapshot began; the changes after it come from there on
	underway chan struct{}
	failed   time.Time // when the last snapshot failed
}

// takeSnapshot takes a snapshot.
func (p *publisher) takeSnapshot(ctx context.Context) (snapshot, error) {
	p.mu.Lock()
	began := p.sent
	p.mu.Unlock()
	if err := p.log.removeRemains(ctx); err != nil {
		return snapshot{}, err
	}
	s, err := p.log.takeSnapshot(ctx, p.db, p.options.MessageBytes)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.joined = began
	}
	return s, err
}

// measure finds out how many bytes the newest snapshot is behind the end of the log. If that is too
// far, it begins another one.
func (p *publisher) measure(ctx context.Context, end position) error {
	all, err := p.log.listSnapshots(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.underway != nil {
		return nil
	}
	behind := p.options.StreamBytes // without a snapshot, or if it does not join the log: more than allowed
	switch {
	case len(all) == 0:
	case all[0].version >= end.version:
		behind = 0
	default:
		sequence, at, err := p.log.find(ctx, all[0].version+1)
		if err != nil {
			return err
		}
		if state := p.log.stream.CachedInfo().State; at == inLog {
			behind = int64(float64(state.Bytes) * float64(end.sequence-sequence+1) / float64(state.Msgs))
		}
	}
	p.joined = p.sent - behind
	if behind > p.options.SnapshotBytes {
		p.beginSnapshot(ctx)
	}
	return nil
}

// hasSnapshot returns an error if there is no snapshot, and none is being taken.
func (p *publisher) hasSnapshot(ctx context.Context) error {
	p.mu.Lock()
	underway := p.underway != nil
	p.mu.Unlock()
	all, err := p.log.listSnapshots(ctx)
	if err == nil && len(all) == 0 && !underway {
		err = fmt.Errorf("%w: the store has no snapshot", ErrNoSnapshot)
	}
	return err
}

// makeRoom counts bytes that are sent next. It begins a snapshot in the background after
// SnapshotBytes, and waits for it if the stream may lose a change after the snapshot before.
func (s *session) makeRoom(bytes int64) error {
	for {
		s.mu.Lock()
		behind := s.sent + bytes - s.joined
		if behind > s.options.SnapshotBytes && s.underway == nil && time.Since(s.failed) > callTime {
			s.beginSnapshot(s.outer)
		}
		wait := s.underway
		if behind < s.options.StreamBytes/4*3 {
			s.sent += bytes
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
		if wait == nil {
			if !retry(s.ctx, 2) {
				return s.ctx.Err()
			}
			continue
		}
		select {
		case <-wait:
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
}

// beginSnapshot takes a snapshot in the background. The caller holds mu.
func (p *publisher) beginSnapshot(ctx context.Context) {
	ended := make(chan struct{})
	p.underway = ended
	p.taking.Go(func() {
		_, err := p.takeSnapshot(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.underway = nil
		close(ended)
		if err != nil && ctx.Err() == nil {
			p.failed = time.Now()
			p.options.Logger.Warn("no snapshot", "err", err)
		}
	})
}
