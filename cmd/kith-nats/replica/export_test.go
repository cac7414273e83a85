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
	o, err := o.resolve(js.Conn().MaxPayload())
	if err != nil {
		return err
	}
	s, err := g.Stats()
	if err != nil {
		return err
	}
	p := &publisher{db: g, options: o, id: "one"}
	if p.log, err = makeLog(ctx, js, s.Database, &o); err != nil {
		return err
	}
	p.taking.Go(snapshot)
	defer p.taking.Wait()
	_, err = p.start(ctx, 0)
	return err
}
