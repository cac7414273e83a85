package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/db/edgelist"
)

// load is the work of the subcommand load.
type load struct {
	directed bool
	options  db.LoadOptions
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
}

func newLoad() *cobra.Command {
	var l load
	cmd := &cobra.Command{
		Use:   "load DB FILE...",
		Short: "Add edge lists to a database, made if need be",
		Long: `Load adds the edges of files to a database, which is made if there is none. A file
has an edge a line, two keys between blanks and perhaps a weight or a time, as the
SNAP collection writes it; plain or gzip. The file - is standard input.

A file is loaded whole or not at all.`,
		Example: `  kith load social.kith facebook_combined.txt
  kith load wiki.kith --directed wiki-Vote.txt
  kith load messages.kith --columns src,dst,time CollegeMsg.txt.gz
  generate | kith load big.kith --max-errors 100 -`,
		Args: cobra.MinimumNArgs(2),
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			l.stdin, l.stdout, l.stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			ctx, stop := cli.Interruptible(cmd.Context())
			defer stop()
			return l.run(ctx, args[0], args[1:])
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&l.directed, "directed", false, "make the graph directed; one that exists must be")
	f.Func("format", "what the files are: snap (default)", func(name string) error {
		if name != "snap" {
			return fmt.Errorf("accepted: snap")
		}
		return nil
	})
	f.Func("columns", "what the columns are: src,dst or src,dst,weight or src,dst,time (default: told from the data)", func(text string) (err error) {
		l.options.Columns, err = edgelist.ParseColumns(text)
		return err
	})
	f.IntVar(&l.options.MaxErrors, "max-errors", 0, "malformed lines of a file to skip before giving it up; -1: any number")
	return cmd
}

// run loads the files in turn. It leaves no database behind that it made for nothing.
func (l *load) run(ctx context.Context, path string, files []string) error {
	if err := readable(files); err != nil {
		return err
	}
	o := &db.Options{}
	if l.directed {
		o.Direction = db.Directed
	}
	_, err := os.Lstat(path)
	made, loaded := errors.Is(err, os.ErrNotExist), 0
	err = with(path, o, func(g *db.DB) error {
		for _, file := range files {
			if err := l.file(ctx, g, file); err != nil {
				return err
			}
			loaded++
		}
		return nil
	})
	if made && loaded == 0 && err != nil {
		return errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// readable looks at all files before anything is done.
func readable(files []string) error {
	for _, file := range files {
		if file == "-" {
			continue
		}
		info, err := os.Stat(file)
		if err == nil && info.IsDir() {
			err = fmt.Errorf("%s is a directory", file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file loads one file.
func (l *load) file(ctx context.Context, g *db.DB, name string) error {
	if name == "-" {
		in := waiting(ctx, l.stdin)
		defer in.Close() // never fails
		return l.list(ctx, g, "stdin", in, 0)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	size := int64(0)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return l.list(ctx, g, filepath.Base(name), f, size)
}

// list loads one edge list of so many bytes, 0 if that is not known, and says what came of it.
func (l *load) list(ctx context.Context, g *db.DB, name string, r io.Reader, size int64) error {
	began, bar := time.Now(), cli.NewBar(l.stderr)
	report, err := g.Load(ctx, &meter{r: r, tell: func(read int64) {
		bar.Show(name, progress.UnitsBytes, read, size)
	}}, l.options)
	bar.End()
	l.malformed(name, report)
	switch {
	case errors.Is(err, db.ErrLines):
		return fmt.Errorf("%s: not loaded for its malformed lines; --max-errors N skips up to N", name)
	case err != nil:
		return fmt.Errorf("%s: not loaded: %w", name, err)
	}
	_, err = fmt.Fprintf(l.stdout, "%s: %s, %.2f s\n", name, summary(report), time.Since(began).Seconds())
	return err
}

// waiting reads r until ctx ends, also where r lets it wait for more. A read of r that is under way
// when it is closed goes on in vain.
func waiting(ctx context.Context, r io.Reader) *io.PipeReader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	return out
}

// malformed shows the first malformed lines.
func (l *load) malformed(name string, r *db.LoadReport) {
	if r == nil {
		return
	}
	for _, err := range r.Errors {
		var line *edgelist.LineError
		if errors.As(err, &line) {
			fmt.Fprintf(l.stderr, "kith: %s:%d: %s: %q\n", name, line.Line, line.Msg, line.Text)
		}
	}
}

// summary says in one line what a load did.
func summary(r *db.LoadReport) string {
	s := fmt.Sprintf("%d lines, %d nodes, %s, %d repeated", r.Lines, r.Nodes, edges(r.Edges, r.Loops), r.Repeated)
	if r.Skipped > 0 {
		s += fmt.Sprintf(", %d malformed lines skipped", r.Skipped)
	}
	return fmt.Sprintf("%s, columns %v", s, r.Columns)
}

// meter tells how much has been read through it.
type meter struct {
	r    io.Reader
	read int64
	tell func(read int64)
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.read += int64(n)
	m.tell(m.read)
	return n, err
}
