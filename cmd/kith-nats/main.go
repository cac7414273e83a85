package main

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
)

func main() {
	os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "kith-nats SUBCOMMAND",
		Short: "Replicate kith databases through NATS JetStream",
		Long: `Kith-nats replicates a database to other machines. One process publishes each change of
the database to a stream of NATS JetStream, any number of others keep copies that follow
it, and all answer over HTTP.`,
		Example: `  kith-nats publish social.kith --nats nats://log:4222 --listen 127.0.0.1:7331
  kith-nats follow copy.kith --nats nats://log:4222 --listen 127.0.0.1:7331`,
	}
	return cli.Group(root, newPublish(), newFollow())
}

// connection are the flags of a connection to NATS.
type connection struct {
	url, creds string
}

func (c *connection) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.url, "nats", nats.DefaultURL, "URL of the NATS server, or several, separated by commas, of a cluster")
	f.StringVar(&c.creds, "creds", "", "file with the credentials of a NATS user")
	cli.Synonyms(cmd, "nats", "server", "url", "broker")
	cli.Synonyms(cmd, "creds", "credentials")
}

const (
	reconnectWait = time.Second
	natsTime      = 30 * time.Second // for the server to store a part of a snapshot
)

// dial connects to the server, and again whenever the connection is lost.
func (c *connection) dial(log *slog.Logger) (*nats.Conn, jetstream.JetStream, error) {
	options := []nats.Option{
		nats.Name("kith-nats"), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("the connection to the NATS server is lost", "err", err)
			}
		}),
		nats.ReconnectHandler(func(n *nats.Conn) { log.Info("connected again", "server", n.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("NATS", "err", err) }),
	}
	if c.creds != "" {
		options = append(options, nats.UserCredentials(c.creds))
	}
	n, err := nats.Connect(c.url, options...)
	if err != nil {
		return nil, nil, fmt.Errorf("--nats %s: %w", c.url, err)
	}
	js, err := jetstream.New(n, jetstream.WithDefaultTimeout(natsTime))
	if err != nil {
		n.Close()
		return nil, nil, err
	}
	return n, js, nil
}

// logTo returns a logger to the error output of a command.
func logTo(cmd *cobra.Command) *slog.Logger {
	return slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
}
