package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// writeHead writes the header of the benchmark format.
func writeHead(w io.Writer) error {
	return writeLine(w, fmt.Sprintf("goos: %s\ngoarch: %s\npkg: kith/cmd/kith", runtime.GOOS, runtime.GOARCH))
}

// benchLine is a line of a benchmark: the times of its operations and further metrics. See
// golang.org/design/14313-benchmark-format.
type benchLine struct {
	name  string
	took  []time.Duration // time of each sample
	per   int             // number of operations in a sample
	extra []benchMetric
}

type benchMetric struct {
	value float64
	unit  string
}

// time adds a sample of the operation f.
func (l *benchLine) time(f func() error) error {
	start := time.Now()
	err := f()
	l.took = append(l.took, time.Since(start))
	return err
}

// add adds a metric to the line.
func (l *benchLine) add(value float64, unit string) {
	l.extra = append(l.extra, benchMetric{value, unit})
}

// write prints the line: the mean and the median time, then the other metrics.
func (l *benchLine) write(w io.Writer) error {
	sum := time.Duration(0)
	for _, t := range l.took {
		sum += t
	}
	text := fmt.Sprintf("%s\t%d\t%s ns/op\t%s median-ns/op", l.name, len(l.took)*l.per,
		figure(float64(sum)/float64(len(l.took)*l.per)), figure(l.median()))
	for _, m := range l.extra {
		text += "\t" + figure(m.value) + " " + m.unit
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// median returns the median over the samples of the nanoseconds per operation.
func (l *benchLine) median() float64 { return float64(median(l.took)) / float64(l.per) }

// quantile returns the q-quantile over the samples of the nanoseconds per operation.
func (l *benchLine) quantile(q float64) float64 {
	s := slices.Sorted(slices.Values(l.took))
	return float64(s[min(int(q*float64(len(s))), len(s)-1)]) / float64(l.per)
}

func median(took []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(took))
	return s[len(s)/2]
}

// figure formats a number with four digits, or as a whole number from 1000.
func figure(x float64) string {
	if x >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// decimal formats a number for the name of a line without an exponent, because benchstat would take the digits after a
// "-" for GOMAXPROCS.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
