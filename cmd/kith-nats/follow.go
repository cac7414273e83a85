package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/internal/serve"
	"kith/cmd/kith-nats/replica"
	"kith/db"
	"kith/query/web"
)

// follower are the flags of kith-nats follow.
type follower struct {
	connection
	serve.Flags
	database string
	memory   int64
}

func newFollow() *cobra.Command {
	var f follower
	cmd := &cobra.Command{
		Use:   "follow DIR",
		Short: "Keep a copy of a database that follows it",
		Long: `Follow makes a copy of a database in the directory DIR from its newest snapshot, and
applies the changes that kith-nats publish publishes. With --listen it answers over HTTP
statements that only read. If DIR is such a copy, follow continues it.

Ctrl-C and SIGTERM end it.`,
		Example: `  kith-nats follow copy.kith --nats nats://log:4222 --listen 127.0.0.1:7331`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			if f.Write {
				return errors.New("--write: a follower is only read; write to the database that it follows")
			}
			return cli.Args("DIR")(cmd, args)
		},
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error { return f.run(ctx, cmd, args[0]) }),
	}
	f.connection.add(cmd)
	f.Add(cmd, "")
	cmd.Flags().StringVar(&f.database, "database", "", "identity of the database (default: that of DIR, or the only one that is published)")
	cli.MemoryFlag(cmd.Flags(), &f.memory)
	return cmd
}

// snapshotWait is the time between two looks for the first snapshot.
const snapshotWait = time.Second

func (f *follower) run(ctx context.Context, cmd *cobra.Command, path string) error {
	o, err := f.Flags.Options()
	if err != nil {
		return err
	}
	log := logTo(cmd)
	n, js, err := f.dial(log)
	if err != nil {
		return err
	}
	defer n.Close()
	r, err := f.open(ctx, path, js, log)
	if err != nil {
		return err
	}
	ready := make(chan struct{})
	close(ready)
	err = together(ctx, cmd, ready, f.Listen, &handler{follower: r, options: o}, r.Run)
	return errors.Join(err, r.Close())
}

// open opens the copy. If there is no snapshot yet it waits for one.
func (f *follower) open(ctx context.Context, path string, js jetstream.JetStream, log *slog.Logger) (*replica.Follower, error) {
	o := replica.FollowOptions{Database: f.database, DB: &db.Options{Memory: cli.LimitMemory(f.memory), Logger: log}, Logger: log}
	for told := false; ; told = true {
		r, err := replica.Open(ctx, path, js, o)
		if !errors.Is(err, replica.ErrNoSnapshot) {
			return r, err
		}
		if !told {
			log.Warn("waiting for a snapshot", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(snapshotWait):
		}
	}
}

// handler answers requests from the copy of a follower, which may change.
type handler struct {
	follower *replica.Follower
	options  web.Options

	mu      sync.Mutex // protects following fields
	db      *db.DB     // the copy that handler answers from
	handler http.Handler
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h.follower.Use(r.Context(), func(ctx context.Context, g *db.DB) error {
		h.of(g).ServeHTTP(w, r.WithContext(ctx))
		return nil
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// of returns the handler of a copy.
func (h *handler) of(g *db.DB) http.Handler {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.db != g {
		h.db, h.handler = g, h.options.Handler(g)
	}
	return h.handler
}
