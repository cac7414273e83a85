package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/db/words"
	"kith/query/web"
)

// changes implements the subcommand changes.
type changes struct {
	since          int64 // negative: before the oldest change that is kept
	follow         bool
	keep           int64  // Options.ChangeBytes
	attach         string // URL of a process that has the database open
	tokenFile      string // file of its token, or ""
	memory         int64  // Options.Memory
	stdout, stderr io.Writer
}

// minKeep is the least value of --keep. A smaller one is a number without its unit.
const minKeep = 1 << 20

func newChanges() *cobra.Command {
	c := changes{since: -1}
	cmd := &cobra.Command{
		Use:   "changes DB",
		Short: "Write what commits did, as lines of JSON",
		Long: `Changes writes what each commit after the version of --since did, a line of JSON each, in
order: nodes, edges, features, variables, observations, decisions and models. It ends with the present
version. A program that has read a line can go on after its version.

A database keeps changes from the time when --keep turns it on: the last ones, up to a size.
A kith load forgets them, because it is too large for a change. The size is stored in the
database, also in its backups, and applies to every program that writes to it.

With --attach there is no DB: kith serve, or another process that has the database open and
serves web.Handler, sends its changes. With --follow they come as they become durable, until
Ctrl-C.

The lines are for other systems: a search index, a cache, an audit. They do not suffice for
a copy that gives the same answers. kith-nats makes such a copy, and a Go program does with
db.Apply.

If kith serve --write has DB open, the command asks it.`,
		Example: `  kith changes social.kith --keep 256M
  kith changes social.kith --since 1041
  kith serve social.kith --write --token-file token
  kith changes --attach http://127.0.0.1:7331 --since 1041 --follow`,
		Args: c.checkArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("since") {
				return cli.Least("since", c.since, 0)
			}
			return nil
		},
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			c.stdout, c.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			switch {
			case c.attach != "":
				return c.ask(ctx)
			case c.keep != 0:
				return c.turn(args[0])
			}
			err := withReadOnly(args[0], limited(c.memory), func(g *db.DB) error {
				return c.write(ctx, func(context.Context) (db.Stats, error) { return g.Stats() }, g.Changes)
			})
			return orAttached(args[0], err, func(client *web.Client) error { return c.write(ctx, client.Stats, client.Changes) })
		}),
	}
	c.flags(cmd)
	return cmd
}

func (c *changes) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Int64Var(&c.since, "since", c.since, "version after which to begin (default: before the oldest change that is kept)")
	f.BoolVar(&c.follow, "follow", false, "wait for further changes, until Ctrl-C")
	f.Func("keep", "keep changes up to this size from now on, such as 256M, or none, and write nothing", func(text string) (err error) {
		c.keep, err = parseKeep(text)
		return err
	})
	f.StringVar(&c.attach, "attach", "", "read from the process that serves this URL")
	f.StringVar(&c.tokenFile, "token-file", "", "file of the token of --attach")
	f.Lookup("since").DefValue = "0" // not shown
	cli.MemoryFlag(f, &c.memory)
	for _, other := range []string{"since", "follow", "attach"} {
		cmd.MarkFlagsMutuallyExclusive("keep", other)
	}
	cmd.MarkFlagsMutuallyExclusive("attach", "memory")
}

// checkArgs returns an error unless there is either DB or --attach, with the flags that belong to
// it.
func (c *changes) checkArgs(cmd *cobra.Command, args []string) error {
	switch {
	case c.attach != "":
		return cli.Args()(cmd, args)
	case c.tokenFile != "":
		return errors.New("--token-file needs --attach")
	case c.follow:
		return errors.New("--follow needs --attach: while this process reads DB, no other can change it; kith serve DB can be followed")
	}
	return cli.Args("DB")(cmd, args)
}

// parseKeep parses a value of --keep.
func parseKeep(text string) (int64, error) {
	if text == "none" {
		return -1, nil
	}
	n, err := cli.ParseSize(text)
	if err == nil && n < minKeep {
		err = errors.New("must be at least 1M, or none")
	}
	return n, err
}

// turn sets how many changes a database keeps.
func (c *changes) turn(path string) error {
	o := limited(c.memory)
	o.ChangeBytes = c.keep
	return withExisting(path, o, true, func(g *db.DB) error {
		s, err := g.Stats()
		if err != nil {
			return err
		}
		text := "keeps no changes"
		if s.Changes.Limit > 0 {
			text = fmt.Sprintf("keeps up to %d bytes of changes, now %s after version %d", s.Changes.Limit, words.Count(s.Changes.Kept, "change"), s.Changes.After)
		}
		return cli.WriteLine(c.stdout, path+": "+text)
	})
}

// ask writes the changes of a database that another process has open.
func (c *changes) ask(ctx context.Context) error {
	client, err := dial(c.attach, c.tokenFile)
	if err != nil {
		return err
	}
	defer client.Close()
	return c.write(ctx, client.Stats, client.Changes)
}

// write writes the changes of a database.
func (c *changes) write(
	ctx context.Context, stats func(context.Context) (db.Stats, error), feed func(context.Context, uint64) iter.Seq2[db.Change, error],
) error {
	s, err := stats(ctx)
	if err != nil {
		return err
	}
	since, n := uint64(c.since), 0
	if c.since < 0 {
		since = s.Changes.After
	}
	if since == s.Version && s.Changes.Limit > 0 && !c.follow {
		return nil
	}
	out := bufio.NewWriter(c.stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for change, err := range feed(ctx, since) {
		if err == nil {
			err = enc.Encode(change)
		}
		if err == nil && c.follow {
			err = out.Flush()
		}
		switch {
		case err != nil && c.follow && ctx.Err() != nil:
			return nil
		case err != nil && n > 0:
			return errors.Join(fmt.Errorf("after version %d: %w", since, err), out.Flush())
		case err != nil:
			return err
		case !c.follow && change.Version >= s.Version:
			return out.Flush()
		}
		since, n = change.Version, n+1
	}
	return nil
}
