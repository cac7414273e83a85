package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/kith/internal/shell"
	"kith/db"
	"kith/query"
	"kith/query/web"
)

// The subcommands predict, why and train each run one statement, which their arguments and flags
// make, as kith shell -c would.

// clauses are the parts of a statement that flags give. "" and 0 mean none.
type clauses struct {
	relation, among, where, using, at, from string
	top, paths                              int
	budget                                  time.Duration
}

// verb implements a subcommand that runs a statement.
type verb struct {
	clauses
	parts  func(nodes []string) []string // parts of the statement
	shell  shell.Shell
	writes bool
	memory int64 // Options.Memory
}

// aboutNodes is the part of a description that says how nodes and rows are written.
const aboutNodes = `A node is written as kith load reads it: 7 is the integer, ann is text, and so is '7', in
quotes that the command line must leave ("'7'"). A negative number follows --.

Rows are a table on a terminal and JSON lines elsewhere; --mode changes that. If kith serve
has DB open, it answers.`

func newPredict() *cobra.Command {
	v := &verb{}
	v.parts = v.predict
	cmd := &cobra.Command{
		Use:   "predict DB NODE",
		Short: "Rank the links that may come next from a node",
		Long: `Predict runs PREDICT LINKS FOR NODE and writes its answer as kith shell does: source,
target, rank, score and the strongest reason. The database is only read.

` + aboutNodes,
		Example: `  kith predict social.kith ann --top 10
  kith predict social.kith 0 --among "NEIGHBORS(2)" --using adamic_adar --mode csv
  kith predict shop.kith ann --relation likes --among "LABEL post" --where "lang = 'en'"`,
	}
	f := cmd.Flags()
	f.IntVar(&v.top, "top", 0, "number of links (default 10)")
	f.StringVar(&v.relation, "relation", "", "`relation` of the links (default: all relations together)")
	f.StringVar(&v.where, "where", "", "condition that links must satisfy, as in a WHERE clause")
	f.StringVar(&v.at, "at", "", "`time` after which links are predicted, in seconds since 1970 or as 2006-01-02 (default: now)")
	return v.answers(cmd, "DB", "NODE")
}

func newWhy() *cobra.Command {
	v := &verb{}
	v.parts = v.why
	cmd := &cobra.Command{
		Use:   "why DB SOURCE TARGET",
		Short: "Explain the score of a link",
		Long: `Why runs WHY SOURCE -> TARGET and writes its answer as kith shell does. The database is
only read.

` + aboutNodes,
		Example: `  kith why social.kith ann dan
  kith why social.kith ann dan --paths 5
  kith why shop.kith ann cake --relation likes --mode json`,
	}
	f := cmd.Flags()
	f.StringVar(&v.relation, "relation", "", "`relation` of the link (default: all relations together)")
	f.IntVar(&v.paths, "paths", 0, "number of paths between the nodes to show")
	return v.answers(cmd, "DB", "SOURCE", "TARGET")
}

func newTrain() *cobra.Command {
	v := &verb{writes: true}
	v.parts = v.train
	cmd := &cobra.Command{
		Use:   "train DB",
		Short: "Fit a model to the edges or to the outcomes",
		Long: `Train runs TRAIN MODEL and writes its answer as kith shell does: the version that is
deployed, and how well it finds links that were left out. It makes the model default if
there is none.

A terminal shows the progress. Ctrl-C ends the training, and the model stays as it was. If
kith serve --write has DB open, it trains the model.`,
		Example: `  kith train social.kith
  kith train social.kith --using friends --budget 30s
  kith train social.kith --from log`,
	}
	f := cmd.Flags()
	f.StringVar(&v.using, "using", "default", "`name` of the model")
	f.StringVar(&v.relation, "relation", "", "`relation` of the edges to learn (default: all relations together)")
	f.StringVar(&v.from, "from", "", "what to learn from: edges or log (default edges)")
	f.DurationVar(&v.budget, "budget", 0, "time that the training should take, such as 30s (default: as long as it needs)")
	offered(cmd, "from", "edges", "log")
	cli.ProgressFlag(f, &v.shell.Progress)
	return v.command(cmd, "DB")
}

// answers completes a command whose statement names nodes.
func (v *verb) answers(cmd *cobra.Command, args ...string) *cobra.Command {
	f := cmd.Flags()
	f.StringVar(&v.among, "among", "", "candidates, as in an AMONG clause (default: as the statement has)")
	f.StringVar(&v.using, "using", "", "`name` of a model or heuristic (default: the model that answers)")
	return v.command(cmd, args...)
}

// command completes a command with the flags of all verbs.
func (v *verb) command(cmd *cobra.Command, args ...string) *cobra.Command {
	v.shell.ModeFlag(cmd.Flags())
	cli.MemoryFlag(cmd.Flags(), &v.memory)
	cli.Synonyms(cmd, "using", "model", "policy")
	cli.Synonyms(cmd, "mode", "format", "output", "json", "csv", "table")
	cmd.Args = func(cmd *cobra.Command, given []string) error {
		if err := cli.Args(args...)(cmd, given); err != nil {
			return err
		}
		_, err := v.statement(given[1:])
		return err
	}
	cmd.RunE = cli.Action(func(cmd *cobra.Command, given []string) error {
		v.shell.Stdin, v.shell.Stdout, v.shell.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
		v.shell.Statement, _ = v.statement(given[1:]) // Args has checked it
		return v.run(cmd.Context(), given[0])
	})
	return cmd
}

// answerHeap is somewhat more than the number of bytes that an answer allocates in a cold process.
const answerHeap = 64 << 20

// run runs the statement.
func (v *verb) run(ctx context.Context, path string) error {
	o := limited(v.memory)
	if !v.writes {
		defer cli.ReserveHeap(answerHeap)()
	}
	err := withExisting(path, o, v.writes, func(g *db.DB) error {
		return v.shell.Local(ctx, g, path, !v.writes)
	})
	return orAttached(path, err, func(client *web.Client) error {
		return v.shell.Attached(ctx, client, path, !v.writes)
	})
}

// statement returns the statement about nodes. It returns an error for text that is no node, and
// for a negative number.
func (v *verb) statement(nodes []string) (string, error) {
	keys := make([]string, len(nodes))
	for i, text := range nodes {
		var err error
		if keys[i], err = literal(text); err != nil {
			return "", err
		}
	}
	for flag, n := range map[string]int{"top": v.top, "paths": v.paths, "budget": int(v.budget)} {
		if err := cli.Least(flag, n, 0); err != nil {
			return "", err
		}
	}
	return strings.Join(v.parts(keys), " "), nil
}

// literal returns a node, or a time, as statements write it.
func literal(text string) (string, error) {
	var k db.Key
	err := k.UnmarshalText([]byte(text))
	return k.Literal(), err
}

// predict returns the parts of the statement PREDICT LINKS.
func (v *verb) predict(keys []string) []string {
	parts := []string{"PREDICT LINKS"}
	if v.relation != "" {
		parts = append(parts, query.Name(v.relation))
	}
	parts = append(parts, "FOR", keys[0])
	if v.at != "" {
		at, _ := literal(v.at) // of text that is no time, the statement says so
		parts = append(parts, "AT", at)
	}
	parts = append(parts, v.question()...)
	if v.top > 0 {
		parts = append(parts, fmt.Sprint("TOP ", v.top))
	}
	return parts
}

// why returns the parts of the statement WHY.
func (v *verb) why(keys []string) []string {
	arrow := "->"
	if v.relation != "" {
		arrow = "-[" + query.Name(v.relation) + "]->"
	}
	parts := append([]string{"WHY", keys[0], arrow, keys[1]}, v.question()...)
	if v.paths > 0 {
		parts = append(parts, fmt.Sprint("PATHS ", v.paths))
	}
	return parts
}

// train returns the parts of the statement TRAIN MODEL.
func (v *verb) train([]string) []string {
	parts := []string{"TRAIN MODEL", query.Name(v.using)}
	if v.from != "" {
		parts = append(parts, "FROM", strings.ToUpper(v.from))
	}
	if v.relation != "" {
		parts = append(parts, "VIA", query.Name(v.relation))
	}
	if v.budget > 0 {
		parts = append(parts, fmt.Sprintf("WITH (budget = '%v')", v.budget))
	}
	return parts
}

// question returns the clauses that PREDICT and WHY have in common.
func (v *verb) question() (parts []string) {
	if v.among != "" {
		parts = append(parts, "AMONG", v.among)
	}
	if v.using != "" {
		parts = append(parts, "USING", query.Name(v.using))
	}
	if v.where != "" {
		parts = append(parts, "WHERE", v.where)
	}
	return parts
}
