package main

import (
	"context"
	"fmt"
	"io"
	"net"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/internal/serve"
	"kith/db"
	"kith/query/web"
)

const defaultListen = "127.0.0.1:7331"

func newServe() *cobra.Command {
	var flags serve.Flags
	memory := int64(0)
	cmd := &cobra.Command{
		Use:   "serve DB",
		Short: "Show a database in a browser, and answer statements over HTTP",
		Long: `Serve shows a database on a page for browsers of this machine: statements, nodes with
their neighborhoods and predicted links, models, figures. Over HTTP it answers statements
that only read: a program in any language sends a POST of JSON and gets lines of JSON, and
kith shell --attach runs statements as if it had the database open. POST /predict, /choose,
/reward, /observe, /why, /nodes and /edges need no statement: they take and return JSON
objects. GET /openapi.json describes the requests, and GET /openapi.json?keys=text does so
for clients that are generated from it. GET /changes sends what commits do as they become
durable, if the database keeps changes (kith changes --keep). A program that embeds kith
serves its own database with web.Handler.

With --write, requests that have the token, as Authorization: Bearer TOKEN, may also
change nodes and edges, choose, reward, observe, and create, train and drop models. No
request accesses a file. The token is the line of a file that only its owner may access:

  ` + serve.MakeToken + `

--token-for-reads requires the token for everything that tells of the database.

Pages of other sites get no answer, whatever they send. --allow-origin names one that may
ask: its scripts may read, and write with the token.

The body of a request must arrive within 5 seconds, a statement ends after 30 (with the
token, training and evaluating after 10 minutes). Clients take turns, by their addresses;
those with the token do not wait for others, and small statements do not wait for large
ones. What comes beyond that gets status 503 and may be sent again. Behind a proxy all
clients have its address, so let the proxy limit each of them.

While it runs, kith shell DB and the other commands that run statements ask it by themselves,
through a socket in the directory of the database (SOCKET, mode 0600) that only its own user
can open. They need no token and may do what the token allows: they may write if --write is
given, and otherwise only read.

Ctrl-C and SIGTERM end it.`,
		Example: `  kith serve social.kith
  kith serve social.kith --write --token-file token
  kith shell --attach http://127.0.0.1:7331 --token-file token
  curl -H 'Content-Type: application/json' -d '{"statement": "SHOW STATS"}' http://127.0.0.1:7331/query`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := flags.Check(); err != nil {
				return err
			}
			return cli.Args("DB")(cmd, args)
		},
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			o, err := flags.Options()
			if err != nil {
				return err
			}
			return withExisting(args[0], limited(memory), flags.Write, func(g *db.DB) error {
				return serveDatabase(ctx, g, o, flags.Listen, func(url string) error {
					return cli.WriteLine(cmd.OutOrStdout(), "kith shell --attach "+url+"\n"+url+" in a browser")
				}, socketIn(args[0], cmd.ErrOrStderr())...)
			})
		}),
	}
	flags.Add(cmd, defaultListen)
	cli.MemoryFlag(cmd.Flags(), &memory)
	return cmd
}

// socketIn returns the socket of a server in the directory of a database. If none can be made, it
// prints why and returns nothing.
func socketIn(dir string, stderr io.Writer) []net.Listener {
	l, err := serve.Listen(dir)
	if err != nil {
		cli.PrintError(stderr, "note", fmt.Errorf("kith shell needs --attach here: %w", err))
		return nil
	}
	return []net.Listener{l}
}

// serveDatabase answers requests at an address, and with the token at further listeners, until ctx
// ends. It calls announce with its URL when it listens.
func serveDatabase(ctx context.Context, g *db.DB, o web.Options, address string, announce func(url string) error, listeners ...net.Listener) error {
	return serve.Serve(ctx, serve.Trusting(o.Handler(g), o.Token), address, func(url string) error {
		g.Preload()
		return announce(url)
	}, listeners...)
}
