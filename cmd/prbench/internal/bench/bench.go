package bench

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/benchfmt"
)

// New returns the command prbench bench.
func New() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "bench BENCHMARK",
		Short: "Measure a part of kith on your own graphs",
		Long: `Bench measures a part of kith on graphs that you name, and prints lines as go test
-bench does, so that benchstat (golang.org/x/perf) compares two runs.`,
		Example: "  prbench bench load facebook_combined.txt\n  prbench bench predict --edges facebook_combined.txt\n  prbench bench commit\n  prbench bench open social.kith\n  prbench bench serve --kith ./kith",
	}, newBenchLoad(), newBenchCommit(), newBenchOpen(), newBenchPredict(), newBenchScale(), newBenchServe())
}

// benchmark writes the header of a benchmark, then calls f for each graph.
func benchmark(w io.Writer, graphs []string, f func(graph string) error) error {
	if err := benchfmt.WriteHead(w, "kith/cmd/prbench"); err != nil {
		return err
	}
	for _, g := range graphs {
		if err := f(g); err != nil {
			return err
		}
	}
	return nil
}

// inParallel times operations in several goroutines for a while, at least one in each. next
// prepares the i-th operation of a goroutine.
func inParallel(goroutines int, span time.Duration, next func(goroutine, i int) func() error) (took []time.Duration, err error) {
	end := time.Now().Add(span)
	lines, errs := make([]benchfmt.Line, goroutines), make([]error, goroutines)
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := 0; errs[g] == nil && (i == 0 || time.Now().Before(end)); i++ {
				errs[g] = lines[g].Time(next(g, i))
			}
		})
	}
	all.Wait()
	for _, l := range lines {
		took = append(took, l.Took...)
	}
	return took, errors.Join(errs...)
}
