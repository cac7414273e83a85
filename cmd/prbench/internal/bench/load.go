package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/args"
	"kith/cmd/prbench/internal/benchfmt"
	"kith/db"
)

// loadBench implements the subcommand bench load.
type loadBench struct {
	dir      string // directory of the databases
	count    int
	directed bool
	memory   int64 // Options.Memory
	lineOnly bool  // measure in this process and print only the line
	stdout   io.Writer
}

func newBenchLoad() *cobra.Command {
	var b loadBench
	cmd := &cobra.Command{
		Use:   "load FILE...",
		Short: "Measure loading edge lists: edges per second, memory, bytes on disk",
		Long: `Bench load loads each file into a new database, which is deleted
afterwards. The time is from opening the database until it is closed and synced.

edges/s counts the lines of the list; disk-B/edge is the size of all files of the closed
database, keys included, per edge. peak-rss-B is the peak memory of the process, which
Linux reports, so each line is measured by a process of its own.`,
		Example: `  prbench bench load dblp-2010.edges.txt.gz
  prbench bench load --directed --dir /mnt/disk --memory 1G --count 5 cnr-2000.arcs.txt.gz`,
		Args:    cli.AtLeast("FILE"),
		PreRunE: func(*cobra.Command, []string) error { return cli.Least("count", b.count, 1) },
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			b.stdout = cmd.OutOrStdout()
			if b.lineOnly {
				return cli.InTemporary(b.dir, func(dir string) error { return b.line(ctx, args[0], dir) })
			}
			return b.run(ctx, args)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&b.dir, "dir", os.TempDir(), "directory of the databases, on the disk to measure")
	f.IntVar(&b.count, "count", 1, "number of loads of each file, one line each")
	f.BoolVar(&b.directed, "directed", false, "the graphs are directed")
	cli.MemoryFlag(f, &b.memory)
	f.BoolVar(&b.lineOnly, "line", false, "")
	_ = f.MarkHidden("line") // the flag exists
	return cmd
}

// run prints the lines of all files, each measured by a separate process.
func (b *loadBench) run(ctx context.Context, files []string) error {
	if err := args.Readable(files); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return benchmark(b.stdout, files, func(file string) error {
		for range b.count {
			cmd := exec.CommandContext(ctx, program, "bench", "load", "--line", "--dir", b.dir,
				"--directed="+strconv.FormatBool(b.directed), "--memory", strconv.FormatInt(b.memory, 10), "--", file)
			if err := runSelf(cmd, b.stdout); err != nil {
				return err
			}
		}
		return nil
	})
}

// runSelf runs cmd, which executes this program. The error has the text that the process wrote to
// standard error.
func runSelf(cmd *exec.Cmd, stdout io.Writer) error {
	var said strings.Builder
	cmd.Args[0] = os.Args[0]
	cmd.Stdout, cmd.Stderr = stdout, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the process removes its files
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if text := strings.TrimPrefix(strings.TrimSpace(said.String()), "prbench: "); err != nil && text != "" {
		return errors.New(text)
	}
	return err
}

// line loads a file into a new database and prints its line.
func (b *loadBench) line(ctx context.Context, file, path string) error {
	l := benchfmt.New("Load", benchfmt.Graph(file))
	o := limited(b.memory)
	if b.directed {
		o.Direction = db.Directed
	}
	var lines int64
	err := l.Time(func() (err error) {
		lines, err = load(ctx, path, file, o)
		return err
	})
	if err != nil {
		return err
	}
	peak, known := peakRSS("self")
	l.Add(float64(lines)/l.Took[0].Seconds(), "edges/s")
	if known {
		l.Add(float64(peak), "peak-rss-B")
	}
	if err := addSize(path, l); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return l.Write(b.stdout)
}

// addSize adds the size of the database to the line.
func addSize(path string, l *benchfmt.Line) error {
	bytes, err := cli.DiskBytes(path)
	if err != nil {
		return err
	}
	return withReadOnly(path, &db.Options{}, func(g *db.DB) error {
		s, err := g.Stats()
		if err == nil && s.Edges == 0 {
			err = errors.New("no graph to measure: there is no edge")
		}
		l.Add(float64(s.Nodes), "nodes")
		l.Add(float64(s.Edges), "edges")
		l.Add(float64(bytes)/float64(s.Edges), "disk-B/edge")
		return err
	})
}

// peakRSS returns the peak memory of a process, by its number or "self", in bytes, and whether the
// system reports it.
func peakRSS(process string) (int64, bool) {
	status, err := os.ReadFile("/proc/" + process + "/status")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb << 10, err == nil
		}
	}
	return 0, false
}
