package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/query/web"
)

const (
	defaultListen  = "127.0.0.1:7331"
	headerTime     = 10 * time.Second // time for the headers of a request to arrive
	headerBytes    = 16 << 10         // size of the headers of a request
	idleTime       = 2 * time.Minute  // time to wait for the next request of a connection
	farewellTime   = 5 * time.Second  // time for running requests to finish at the end
	maxConnections = 1024
)

func newServe() *cobra.Command {
	var o web.Options
	listen, tokenFile, write, memory := defaultListen, "", false, int64(0)
	cmd := &cobra.Command{
		Use:   "serve DB",
		Short: "Show a database in a browser, and answer statements over HTTP",
		Long: `Serve shows a database on a page for browsers of this machine: statements, nodes with
their neighborhoods and predicted links, models, figures. It answers statements over HTTP,
those that only read: programs in any language ask it with a POST of JSON and get lines of
JSON, kith shell --attach asks it as if it had the database open. A program that embeds
kith does the same for its database with web.Handler. GET /openapi.json describes the
requests.

With --write, requests that have the token, as Authorization: Bearer TOKEN, may also
change nodes and edges, choose, reward, observe, and create, train and drop models. No
request accesses a file. The token is the line of a file that only its owner may access:

  ` + makeToken + `

--token-for-reads requires the token for everything that tells of the database.

Ctrl-C and SIGTERM end it.`,
		Example: `  kith serve social.kith
  kith serve social.kith --write --token-file token
  kith shell --attach http://127.0.0.1:7331 --token-file token
  curl -H 'Content-Type: application/json' -d '{"statement": "SHOW STATS"}' http://127.0.0.1:7331/query`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case tokenFile == "" && (write || o.TokenForReads):
				return fmt.Errorf("--write and --token-for-reads need --token-file; %s makes one", makeToken)
			case tokenFile != "" && !write && !o.TokenForReads:
				return errors.New("--token-file needs --write, --token-for-reads or both")
			}
			return cli.Args("DB")(cmd, args)
		},
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) (err error) {
			if tokenFile != "" {
				if o.Token, err = readToken(tokenFile); err != nil {
					return err
				}
			}
			return withExisting(args[0], limited(memory), write, func(g *db.DB) error {
				return serve(ctx, g, o, listen, func(url string) error {
					return writeLine(cmd.OutOrStdout(), "kith shell --attach "+url+"\n"+url+" in a browser")
				})
			})
		}),
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", listen, "address to listen at; port 0 means any free port")
	f.BoolVar(&write, "write", false, "allow requests that have the token to change the database")
	f.StringVar(&tokenFile, "token-file", "", "file of the token; its mode must be 0600")
	f.BoolVar(&o.TokenForReads, "token-for-reads", false, "require the token also for reading")
	memoryFlag(f, &memory)
	cli.Synonyms(cmd, "listen", "addr", "address", "bind", "host", "port", "http")
	cli.Synonyms(cmd, "token-file", "token", "auth", "password")
	return cmd
}

// serve answers requests at an address until ctx ends. It calls announce with its URL when it listens.
func serve(ctx context.Context, g *db.DB, o web.Options, address string, announce func(url string) error) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	g.Preload()
	if err := announce("http://" + l.Addr().String()); err != nil {
		return errors.Join(err, l.Close())
	}
	s := &http.Server{
		Handler: o.Handler(g), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ConnState: newConnections(maxConnections).note,
	}
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
