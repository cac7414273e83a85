package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kith/cmd/internal/cli"
	"kith/cmd/internal/serve"
	"kith/cmd/kith-nats/replica"
	"kith/db"
)

const defaultChangeBytes = 256 << 20

// publisher are the flags of kith-nats publish.
type publisher struct {
	connection
	serve.Flags
	options             replica.Options
	memory, changeBytes int64
}

func newPublish() *cobra.Command {
	var p publisher
	cmd := &cobra.Command{
		Use:   "publish DB",
		Short: "Publish the changes of a database",
		Long: `Publish opens a database for writing, and publishes each change to a stream of NATS
JetStream, from which kith-nats follow makes copies. It puts snapshots into an object
store. With --listen it answers over HTTP as kith serve does, because only one process
opens a database for writing.

Ctrl-C and SIGTERM end it. It continues where it ended.`,
		Example: `  kith-nats publish social.kith --nats nats://log:4222
  kith-nats publish social.kith --listen 127.0.0.1:7331 --write --token-file token`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := p.Check(); err != nil {
				return err
			}
			return cli.Args("DB")(cmd, args)
		},
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error { return p.run(ctx, cmd, args[0]) }),
	}
	p.connection.add(cmd)
	p.Add(cmd, "")
	f := cmd.Flags()
	f.IntVar(&p.options.Replicas, "replicas", 0, "number of servers of a JetStream cluster that store the log (default: as before, or 1)")
	size(f, &p.options.StreamBytes, "stream-bytes", "size of the stream; beyond it the oldest changes fall off (default 1G)")
	size(f, &p.options.SnapshotBytes, "snapshot-bytes", "bytes of changes after which a snapshot is taken (default: a quarter of --stream-bytes)")
	size(f, &p.changeBytes, "change-bytes", "bytes of changes that the database keeps for times without a NATS server (default: as before, or 256M)")
	cli.MemoryFlag(f, &p.memory)
	return cmd
}

// size adds a flag of a number of bytes.
func size(f *pflag.FlagSet, value *int64, name, usage string) {
	f.Func(name, usage, func(text string) (err error) {
		*value, err = cli.ParseSize(text)
		return err
	})
}

func (p *publisher) run(ctx context.Context, cmd *cobra.Command, path string) error {
	if err := cli.Within("replicas", p.options.Replicas, 0, 5); err != nil {
		return err
	}
	o, err := p.Flags.Options()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%w; 'kith load' makes a database", err)
	}
	p.options.Logger = logTo(cmd)
	n, js, err := p.dial(p.options.Logger)
	if err != nil {
		return err
	}
	defer n.Close()
	g, err := p.open(path)
	if err != nil {
		return err
	}
	ready := make(chan struct{})
	p.options.Ready = func() { close(ready) }
	err = together(ctx, cmd, ready, p.Listen, o.Handler(g), func(ctx context.Context) error {
		return replica.Publish(ctx, g, js, p.options)
	})
	return errors.Join(err, g.Close())
}

// open opens the database so that it keeps changes.
func (p *publisher) open(path string) (*db.DB, error) {
	o := db.Options{Memory: cli.LimitMemory(p.memory), ChangeBytes: p.changeBytes, Logger: p.options.Logger}
	g, err := db.Open(path, &o)
	if err != nil || p.changeBytes != 0 {
		return g, err
	}
	s, err := g.Stats()
	if err == nil && s.Changes.Limit > 0 {
		return g, nil
	}
	if err := errors.Join(err, g.Close()); err != nil {
		return nil, err
	}
	o.ChangeBytes = defaultChangeBytes
	return db.Open(path, &o)
}

// together runs work and, with an address, a server, until one fails or ctx ends, which is no
// error. The server starts once ready is closed, so a follower that can reach the server can also
// read the log.
func together(ctx context.Context, cmd *cobra.Command, ready <-chan struct{}, address string, h http.Handler, work func(context.Context) error) error {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() {
		if address == "" {
			served <- nil
			return
		}
		defer cancel()
		select {
		case <-ready:
		case <-ctx.Done():
			served <- nil
			return
		}
		served <- serve.Serve(ctx, h, address, func(url string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s in a browser\n", url)
			return err
		})
	}()
	err := work(ctx)
	cancel()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil
	}
	if err := errors.Join(err, <-served); err != nil || outer.Err() == nil {
		return err
	}
	return nil
}
