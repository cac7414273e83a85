package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/query/web"
)

const (
	defaultListen = "127.0.0.1:7331"
	headerTime    = 10 * time.Second // time for the headers of a request to arrive
	idleTime      = 2 * time.Minute  // time to wait for the next request of a connection
	farewellTime  = 5 * time.Second  // time for running requests to finish at the end
)

func newServe() *cobra.Command {
	listen, memory := defaultListen, int64(0)
	cmd := &cobra.Command{
		Use:   "serve DB",
		Short: "Answer statements that read, over HTTP",
		Long: `Serve answers statements over HTTP, to this machine alone: those that only read. Programs
in any language ask it with a POST of JSON and get lines of JSON, kith shell --attach
asks it as if it had the database open. A program that embeds kith does the same for its
database with web.Handler.

Ctrl-C and SIGTERM end it.`,
		Example: `  kith serve social.kith
  kith shell --attach http://127.0.0.1:7331
  curl -H 'Content-Type: application/json' -d '{"statement": "SHOW STATS"}' http://127.0.0.1:7331/query`,
		Args: cli.Args("DB"),
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return withReadOnly(args[0], limited(memory), func(g *db.DB) error {
				return serve(ctx, g, listen, func(url string) error {
					return writeLine(cmd.OutOrStdout(), "kith shell --attach "+url)
				})
			})
		}),
	}
	cmd.Flags().StringVar(&listen, "listen", listen, "address to listen at; port 0 means any free port")
	memoryFlag(cmd.Flags(), &memory)
	cli.Synonyms(cmd, "listen", "addr", "address", "bind", "host", "port", "http")
	return cmd
}

// serve answers requests at an address until ctx ends. It calls announce with its URL when it listens.
func serve(ctx context.Context, g *db.DB, address string, announce func(url string) error) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	if err := announce("http://" + l.Addr().String()); err != nil {
		return errors.Join(err, l.Close())
	}
	s := &http.Server{Handler: web.Handler(g), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	farewell, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
	defer cancel()
	if err := s.Shutdown(farewell); err != nil {
		return s.Close() // close the remaining connections, which ends their statements
	}
	return nil
}
