// Package benchfmt writes lines in the benchmark format of Go,
// golang.org/design/14313-benchmark-format, which benchstat (golang.org/x/perf) reads.
package benchfmt

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// WriteHead writes the header of the lines of a package.
func WriteHead(w io.Writer, pkg string) error {
	_, err := fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: %s\n", runtime.GOOS, runtime.GOARCH, pkg)
	return err
}

// Line is a line of a benchmark: the times of its operations and further metrics.
type Line struct {
	Name string
	Took []time.Duration // time of each sample
	Per  int             // number of operations in a sample; 0 means 1

	metrics string
}

// New returns a line of a benchmark. Parameters have the form key=value.
func New(benchmark string, parameters ...string) *Line {
	return &Line{Name: strings.Join(append([]string{"Benchmark" + benchmark}, parameters...), "/")}
}

// Graph returns the parameter of a line that names a graph: the name of its file without
// extensions.
func Graph(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return "graph=" + strings.Join(strings.Fields(name), "_")
}

// Time adds a sample, the operation f.
func (l *Line) Time(f func() error) error {
	start := time.Now()
	err := f()
	l.Took = append(l.Took, time.Since(start))
	return err
}

// Add adds a metric to the line.
func (l *Line) Add(value float64, unit string) { l.metrics += "\t" + figure(value) + " " + unit }

// Write prints the line: the mean and the median time of an operation, then the added metrics.
func (l *Line) Write(w io.Writer) error {
	sum := time.Duration(0)
	for _, t := range l.Took {
		sum += t
	}
	operations := len(l.Took) * max(l.Per, 1)
	_, err := fmt.Fprintf(w, "%s\t%d\t%s ns/op\t%s median-ns/op%s\n", l.Name, operations,
		figure(float64(sum)/float64(operations)), figure(l.Quantile(0.5)), l.metrics)
	return err
}

// Quantile returns the q-quantile over the samples of the nanoseconds per operation.
func (l *Line) Quantile(q float64) float64 {
	s := slices.Sorted(slices.Values(l.Took))
	return float64(s[min(int(q*float64(len(s))), len(s)-1)]) / float64(max(l.Per, 1))
}

// figure formats a number with four digits, or as a whole number from 1000.
func figure(x float64) string {
	if x >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
