package replica

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"kith/db"
)

// Poll is what a follower does beside applying changes.
var Poll = (*Follower).poll

// StartDuring begins a log with a snapshot while a function runs in the place of the snapshot that
// is taken in the background.
func StartDuring(ctx context.Context, g *db.DB, js jetstream.JetStream, o Options, snapshot func()) error {
	p, err := newPublisher(ctx, g, js, o)
	if err != nil {
		return err
	}
	p.taking.Go(snapshot)
	defer p.taking.Wait()
	_, err = p.start(ctx, 0)
	return err
}
