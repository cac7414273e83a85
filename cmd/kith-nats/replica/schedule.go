package replica

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// snapshots is when a publisher takes snapshots. The newest one must join the log: all changes that come after it must be
// there, which they are if the messages since take less than the stream keeps.
type snapshots struct {
	taking sync.WaitGroup

	mu       sync.Mutex // protects following fields
	sent     int64      // bytes of all messages
	joined   int64      // value of sent when the newest snapshot began; the changes after it come from there on
	underway chan struct{}
	failed   time.Time // when the last snapshot failed
}

// take takes a snapshot.
func (n *snapshots) take(ctx context.Context, p *publisher) (snapshot, error) {
	n.mu.Lock()
	began := n.sent
	n.mu.Unlock()
	if err := p.log.removeRemains(ctx); err != nil {
		return snapshot{}, err
	}
	s, err := p.log.takeSnapshot(ctx, p.db, p.options.MessageBytes)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		n.joined = began
	}
	return s, err
}

// measure finds out how far behind the end of the log the newest snapshot is, and takes another in the background if that is
// far.
func (n *snapshots) measure(ctx context.Context, p *publisher, end position) error {
	all, err := p.log.listSnapshots(ctx)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.underway != nil {
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
	n.joined = n.sent - behind
	if behind > p.options.SnapshotBytes {
		n.begin(ctx, p)
	}
	return nil
}

// lost returns an error if there is no snapshot, and none is being taken.
func (n *snapshots) lost(ctx context.Context, p *publisher) error {
	n.mu.Lock()
	underway := n.underway != nil
	n.mu.Unlock()
	all, err := p.log.listSnapshots(ctx)
	if err == nil && len(all) == 0 && !underway {
		err = fmt.Errorf("%w: the store has no snapshot", ErrNoSnapshot)
	}
	return err
}

// makeRoom counts bytes that are sent next. It begins a snapshot in the background after SnapshotBytes, and waits for it if the
// stream may lose a change after the snapshot before.
func (n *snapshots) makeRoom(outer, ctx context.Context, p *publisher, bytes int64) error {
	for {
		n.mu.Lock()
		behind := n.sent + bytes - n.joined
		if behind > p.options.SnapshotBytes && n.underway == nil && time.Since(n.failed) > callTime {
			n.begin(outer, p)
		}
		wait := n.underway
		if behind < p.options.StreamBytes/4*3 {
			n.sent += bytes
			n.mu.Unlock()
			return nil
		}
		n.mu.Unlock()
		if wait == nil {
			if !retry(ctx, 2) {
				return ctx.Err()
			}
			continue
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begin takes a snapshot in the background. The caller holds mu.
func (n *snapshots) begin(ctx context.Context, p *publisher) {
	ended := make(chan struct{})
	n.underway = ended
	n.taking.Go(func() {
		_, err := n.take(ctx, p)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.underway = nil
		close(ended)
		if err != nil && ctx.Err() == nil {
			n.failed = time.Now()
			p.options.Logger.Warn("no snapshot", "err", err)
		}
	})
}
