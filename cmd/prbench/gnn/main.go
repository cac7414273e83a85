package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/ogb"
)

func main() { os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// plan holds the options of the command line.
type plan struct {
	data, dataset, protocol, out string
	methods                      []string
	splits                       []int
	options, note                string
}

func newRoot() *cobra.Command {
	var p plan
	var names []string
	for _, m := range methods() {
		names = append(names, m.name)
	}
	c := &cobra.Command{
		Use:   "prbench-gnn --data DIR --out FILE",
		Short: "Train graph neural networks on the splits of prbench offline",
		Long: `Prbench-gnn trains graph neural networks that predict links, and ranks held-out links
with them. It appends a line of JSON to FILE for each metric of a run. Runs that are in FILE
already are not repeated, so an interrupted command can be repeated to continue.`,
		Example: `  prbench-gnn --data shared/data --dataset cora --method gcn,ncn --splits 0,1,2 --out gnn.jsonl`,
		Args:    cobra.NoArgs,
	}
	f := c.Flags()
	f.StringVar(&p.data, "data", "", "folder that holds the data sets")
	f.StringVar(&p.dataset, "dataset", "cora", "cora or citeseer")
	f.StringVar(&p.protocol, "protocol", "ogb", "ogb: Hits@100 on random splits; heart: MRR and Hits@10 among HeaRT's negatives")
	f.StringSliceVar(&p.methods, "method", names, "methods")
	f.IntSliceVar(&p.splits, "splits", []int{0, 1, 2}, "random splits, which are also the seeds")
	f.StringVar(&p.options, "options", "", "hyperparameters to replace, as a JSON object such as {\"Width\": 64}")
	f.StringVar(&p.note, "note", "", "text that describes --options in the results; runs with different notes are different runs")
	f.StringVar(&p.out, "out", "", "file of results")
	c.PreRunE = func(*cobra.Command, []string) error { return p.check() }
	c.RunE = cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return p.run(ctx, cmd) })
	return c
}

// check reports what is wrong with the command line before any file is read.
func (p *plan) check() error {
	if p.data == "" {
		return errors.New("--data DIR is missing")
	}
	if p.out == "" {
		return errors.New("--out FILE is missing")
	}
	if !slices.Contains([]string{"cora", "citeseer"}, p.dataset) {
		return fmt.Errorf("data set %q (accepted: cora, citeseer)", p.dataset)
	}
	if !slices.Contains([]string{"ogb", "heart"}, p.protocol) {
		return fmt.Errorf("protocol %q (accepted: ogb, heart)", p.protocol)
	}
	for _, name := range p.methods {
		if _, _, err := p.method(name); err != nil {
			return err
		}
	}
	for _, s := range p.splits {
		if s < 0 {
			return fmt.Errorf("split %d (accepted: 0, 1, ...)", s)
		}
	}
	return nil
}

// method returns a method and its hyperparameters.
func (p *plan) method(name string) (m method, o options, err error) {
	var names []string
	for _, m = range methods() {
		if m.name == name {
			m.note = cmp.Or(p.note, m.note)
			o, err = p.replaced(m.options(p.dataset))
			return m, o, err
		}
		names = append(names, m.name)
	}
	return m, o, fmt.Errorf("method %q (accepted: %s)", name, strings.Join(names, ", "))
}

// replaced returns hyperparameters with the values of --options.
func (p *plan) replaced(o options) (options, error) {
	if p.options == "" {
		return o, nil
	}
	d := json.NewDecoder(strings.NewReader(p.options))
	d.DisallowUnknownFields()
	err := d.Decode(&o)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return o, fmt.Errorf("--options %s: %w", p.options, err)
	}
	return o, nil
}

// run trains the methods whose results the file does not have, split by split, and writes the file
// after each.
func (p *plan) run(ctx context.Context, cmd *cobra.Command) error {
	known, err := ogb.ReadResults(p.out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, split := range p.splits {
		var d *data
		for _, name := range p.methods {
			m, o, err := p.method(name)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(known, func(r ogb.Result) bool {
				return r.Data == p.dataset && r.Protocol == p.protocol && r.Method == name && r.Note == m.note && r.Seed == split
			}) {
				continue
			}
			if d == nil {
				if d, err = readSplit(ctx, os.DirFS(p.data), p.dataset, p.protocol, split); err != nil {
					return fmt.Errorf("%s, %s, split %d: %w", p.data, p.dataset, split, err)
				}
			}
			rows, err := p.train(ctx, d, m, o, split)
			if err != nil {
				return err
			}
			known = append(known, rows...)
			if err := ogb.WriteResults(p.out, known); err != nil {
				return err
			}
			for _, r := range rows {
				fmt.Fprintf(cmd.OutOrStdout(), "%s %s %s %d: %s %.4f, validation %.4f, %d epochs, %.0f s\n",
					r.Data, r.Protocol, r.Method, r.Seed, r.Metric, r.Value, r.Valid, r.Epochs, r.Seconds)
			}
		}
	}
	return nil
}

// train trains a method on a split and returns a result for each metric.
func (p *plan) train(ctx context.Context, d *data, m method, o options, split int) (rows []ogb.Result, err error) {
	best, err := train(ctx, d, m.build, o, metrics(p.protocol)[0], uint64(split)+1)
	if err != nil {
		return nil, err
	}
	for _, metric := range metrics(p.protocol) {
		rows = append(rows, ogb.Result{
			Data: p.dataset, Protocol: p.protocol, Method: m.name, Seed: split, Metric: metric, Value: best.test[metric],
			Valid: best.valid[metric], Seconds: best.seconds, Epochs: best.epochs, Note: m.note,
		})
	}
	return rows, nil
}
