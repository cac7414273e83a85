package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"kith/cmd/internal/cli"
)

// writeFile writes a file completely or not at all, and creates its folder.
func writeFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	err := cli.WriteFile(context.Background(), name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	return os.Chmod(name, 0o644)
}

// writeResults prints a table. If out is not empty, it also writes the figures as results.json and
// the table as table.md to this folder. If the playing ended with an error, it returns the error
// and prints nothing.
func writeResults(w io.Writer, out string, figures any, table string, played error) error {
	if out != "" {
		b, err := json.MarshalIndent(figures, "", "  ")
		if err == nil {
			err = writeFile(filepath.Join(out, "results.json"), append(b, '\n'))
		}
		if err == nil {
			err = writeFile(filepath.Join(out, "table.md"), []byte(table))
		}
		if err != nil {
			return errors.Join(played, err)
		}
	}
	if played != nil {
		return played
	}
	_, err := io.WriteString(w, table)
	return err
}

// markdown returns a Markdown table whose first column is aligned to the left and all others to the
// right.
func markdown(heading []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	line(heading)
	b.WriteString("|---|" + strings.Repeat("---:|", len(heading)-1) + "\n")
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// printRow prints a row of a table to standard error, as soon as it is known.
func printRow(cmd *cobra.Command, row []string) error {
	return cli.WriteLine(cmd.ErrOrStderr(), strings.Join(row, "  "))
}

// grouped divides items into groups with the same key, in the order of their first items.
func grouped[T any, K comparable](items []T, key func(T) K) (groups [][]T) {
	at := make(map[K]int)
	for _, item := range items {
		k := key(item)
		i, known := at[k]
		if !known {
			i = len(groups)
			at[k], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], item)
	}
	return groups
}

// spread is a mean with the sample standard deviation, which is 0 for a single value.
type spread struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}

func spreadOf[T any](items []T, value func(T) float64) (s spread) {
	var v []float64
	for _, item := range items {
		v = append(v, value(item))
	}
	s.Mean, s.SD = stat.MeanStdDev(v, nil)
	if len(v) < 2 {
		s.SD = 0
	}
	return s
}

// named is a row of a table that is searched by name.
type named interface{ title() string }

// namesOf returns the names of the rows of a table.
func namesOf[T named](table []T) (names []string) {
	for _, row := range table {
		names = append(names, row.title())
	}
	return names
}

// rowOf returns the row of a table with a name, and whether there is one.
func rowOf[T named](table []T, name string) (row T, ok bool) {
	i := slices.Index(namesOf(table), name)
	if i < 0 {
		return row, false
	}
	return table[i], true
}

// command completes a command without arguments. It reports what is wrong with the command line,
// then runs.
func command(c *cobra.Command, check func() error, run func(ctx context.Context, cmd *cobra.Command) error) *cobra.Command {
	c.Args = cobra.NoArgs
	c.PreRunE = func(*cobra.Command, []string) error { return check() }
	c.RunE = cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return run(ctx, cmd) })
	return c
}
