package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/scale"
)

// scaleBench implements the subcommand bench scale.
type scaleBench struct {
	sizes   []int64 // numbers of edges to generate
	degree  int     // about the number of generated edges of a node
	memory  int64   // Options.Memory
	span    time.Duration
	dir     string
	keep    bool
	cluster scale.Cluster
	phase   string // measure it in this process, and print only the measurement
	stdout  io.Writer
	stderr  io.Writer
}

func newBenchScale() *cobra.Command {
	b := scaleBench{sizes: []int64{1e6, 4e6, 16e6}, cluster: defaultCluster()}
	cmd := &cobra.Command{
		Use:   "scale",
		Short: "Measure graphs of several sizes and extrapolate to 10^10 edges",
		Long: `Bench scale generates R-MAT graphs of several sizes, as prbench gen rmat does, and measures for
each what kith takes: disk, memory, and the time to load, check, open, train, answer, score,
back up, restore, commit and follow. Then it fits a law to each figure and prints a table
of these sizes and of 10^8, 10^9 and 10^10 edges. A figure with ~ before it is extrapolated;
the last column has the law, and the largest relative difference between it and a measured
size. "exact" means that there are no more sizes than the law has parameters.

Each phase is a process of its own, so its peak memory and its cold start are its own.
Times are for all cores of this machine; "score a source" is the time of one core. A cold
start is one whose files are not in the page cache; only on Linux is it cold.

With --dir, measurements are kept in DIR/scale.jsonl, and a size that this build has
measured with these settings is not measured again. A graph of 16M edges takes about four
minutes and 0.7 GB of disk on two cores, most of it for the training.`,
		Example: `  prbench bench scale --dir /var/tmp/scale
  prbench bench scale --edges 1M,4M,16M,64M --machines 100 --cores 32 --machine-memory 512G`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			return cmp.Or(cli.Least("edges", slices.Min(b.sizes), 1000), cli.Within("degree", b.degree, 1, 1000),
				cli.Least("time", b.span, time.Nanosecond), cli.Least("machines", b.cluster.Machines, 1),
				cli.Least("cores", b.cluster.Cores, 1))
		},
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			b.stdout, b.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if b.phase != "" {
				return b.measureHere(ctx)
			}
			if b.dir == "" {
				return cli.InTemporary("", func(dir string) error { b.dir = dir; return b.run(ctx) })
			}
			return b.run(ctx)
		}),
	}
	b.flags(cmd.Flags())
	return cmd
}

func (b *scaleBench) flags(f *pflag.FlagSet) {
	f.Func("edges", "numbers of edges to generate (default: 1M,4M,16M)", func(text string) (err error) {
		b.sizes, err = parseCounts(text)
		return err
	})
	f.IntVar(&b.degree, "degree", 12, "about the number of generated edges of a node; the number of nodes is a power of two")
	cli.MemoryFlag(f, &b.memory)
	f.DurationVar(&b.span, "time", 5*time.Second, "how long to measure each rate and each kind of answer, at most")
	f.StringVar(&b.dir, "dir", "", "directory of graphs and measurements (default: a temporary one)")
	f.BoolVar(&b.keep, "keep", false, "keep the databases in the directory")
	f.IntVar(&b.cluster.Machines, "machines", b.cluster.Machines, "number of machines that score all nodes")
	f.IntVar(&b.cluster.Cores, "cores", b.cluster.Cores, "number of cores of a machine")
	f.Func("machine-memory", "memory of a machine (default: 256G)", func(text string) (err error) {
		b.cluster.Memory, err = cli.ParseSize(text)
		return err
	})
	f.StringVar(&b.phase, "phase", "", "")
	_ = f.MarkHidden("phase") // the flag exists
}

// defaultCluster returns the machines of the table unless flags name others.
func defaultCluster() scale.Cluster {
	return scale.Cluster{Machines: 16, Cores: 16, Memory: 256 << 30}
}

// parseCounts parses numbers such as 1000000, 500K and 16M, with commas between them.
func parseCounts(text string) (all []int64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		digits, factor := part, int64(1)
		for i, unit := range []string{"K", "M", "G"} {
			if d, ok := strings.CutSuffix(strings.ToUpper(part), unit); ok {
				digits, factor = d, int64(math.Pow10(3*(i+1)))
			}
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/factor {
			return nil, fmt.Errorf("%q is no number of edges, such as 500K or 16M", part)
		}
		all = append(all, n*factor)
	}
	return all, nil
}

// setting returns what the measurements depend on.
func (b *scaleBench) setting() scale.Setting {
	return scale.Setting{Build: built(), Cores: runtime.GOMAXPROCS(0), Memory: b.memory, Degree: b.degree}
}

// built identifies this build: its revision, if it is known, the Go version and the platform.
func built() string {
	parts := []string{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		parts = append([]string{cli.Revision(info)}, parts...)
	}
	return strings.Join(parts, ", ")
}

// resultsName is the name of the file of measurements.
const resultsName = "scale.jsonl"

// run measures what has not been measured, and prints the table.
func (b *scaleBench) run(ctx context.Context) error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	results, err := scale.Open(filepath.Join(b.dir, resultsName))
	if err != nil {
		return err
	}
	for _, n := range b.sizes {
		if err := b.size(ctx, results, n); err != nil {
			return fmt.Errorf("%d edges: %w", n, err)
		}
	}
	return scale.NewTable(results.Of(b.setting()), b.cluster).Write(b.stdout, "")
}

// size measures the phases of a graph that have not been measured. Later phases need what earlier
// ones have written, so without the database all are measured again.
func (b *scaleBench) size(ctx context.Context, results *scale.Results, n int64) error {
	measured := func(p scalePhase) bool { return results.Has(b.setting(), n, p.name) }
	missing := slices.DeleteFunc(scalePhases(), measured)
	if len(missing) > 0 && cli.MissingOrEmpty(b.graph(n).database()) {
		missing = scalePhases()
	}
	for _, p := range missing {
		began := time.Now()
		m, err := b.measure(ctx, p.name, n)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := results.Add(m); err != nil {
			return err
		}
		fmt.Fprintf(b.stderr, "%d edges: %s: %.1f s\n", n, p.name, time.Since(began).Seconds())
	}
	if b.keep {
		return nil
	}
	return os.RemoveAll(b.graph(n).database())
}

// measure measures a phase in a separate process.
func (b *scaleBench) measure(ctx context.Context, phase string, n int64) (m scale.Measurement, err error) {
	program, err := os.Executable()
	if err != nil {
		return m, err
	}
	cmd := exec.CommandContext(ctx, program, "bench", "scale", "--phase", phase, "--edges", strconv.FormatInt(n, 10),
		"--degree", strconv.Itoa(b.degree), "--memory", strconv.FormatInt(b.memory, 10), "--time", b.span.String(), "--dir", b.dir)
	var out bytes.Buffer
	if err := runSelf(cmd, &out); err != nil {
		return m, cmp.Or(ctx.Err(), err)
	}
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		return m, err
	}
	m.Setting = b.setting()
	m.Figures[scale.CPU] = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return m, nil
}

// measureHere measures a phase in this process and prints the measurement.
func (b *scaleBench) measureHere(ctx context.Context) error {
	i := slices.IndexFunc(scalePhases(), func(p scalePhase) bool { return p.name == b.phase })
	if i < 0 {
		return fmt.Errorf("no phase %q", b.phase)
	}
	g := b.graph(b.sizes[0])
	m := scale.Measurement{Asked: g.asked, Phase: b.phase, Figures: g.figures}
	err := scalePhases()[i].measure(g, ctx)
	if err == nil {
		m.Edges, err = g.edges()
	}
	if err == nil && m.Edges == 0 {
		err = errors.New("no graph to measure: there is no edge")
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(b.stdout).Encode(m)
}

// graph returns the graph of a size.
func (b *scaleBench) graph(n int64) *scaleGraph {
	ids := uint64(max(n/int64(b.degree), 2))
	return &scaleGraph{
		asked: n, memory: b.memory, span: b.span, figures: map[string]float64{},
		path:  filepath.Join(b.dir, fmt.Sprintf("rmat-%d-%d", n, b.degree)),
		scale: bits.Len64(ids*2/3*2) - 1, // log2, rounded: k for 3/4 of 2^k and more
	}
}
