package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// writeHead writes what stands before all lines.
func writeHead(w io.Writer) error {
	return writeLine(w, fmt.Sprintf("goos: %s\ngoarch: %s\npkg: kith/cmd/kith", runtime.GOOS, runtime.GOARCH))
}

// benchLine is a line of a benchmark in the making: how long operations took, and what else is said
// of them. See golang.org/design/14313-benchmark-format.
type benchLine struct {
	name  string
	took  []time.Duration // a sample each
	per   int             // operations in a sample
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

// add says something more of the operations.
func (l *benchLine) add(value float64, unit string) {
	l.extra = append(l.extra, benchMetric{value, unit})
}

// write prints the line: mean and median time, then the rest.
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

// median is the nanoseconds an operation took, in the middle of the samples.
func (l *benchLine) median() float64 { return float64(median(l.took)) / float64(l.per) }

// quantile is the nanoseconds that the share q of the operations took at most.
func (l *benchLine) quantile(q float64) float64 {
	s := slices.Sorted(slices.Values(l.took))
	return float64(s[min(int(q*float64(len(s))), len(s)-1)]) / float64(l.per)
}

func median(took []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(took))
	return s[len(s)/2]
}

// figure writes a number with four digits, or as a whole number.
func figure(x float64) string {
	if x >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// decimal writes a number for a name, in which what follows a - would be taken for GOMAXPROCS.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
