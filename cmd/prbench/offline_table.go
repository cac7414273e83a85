package main

import (
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/stat"
)

// offlineResults holds all results of prbench offline.
type offlineResults struct {
	Dataset    string
	K          int  // K of the data set's own Hits@K
	ValidEdges bool // validation edges were input when the test part was ranked
	Runs       []offlineRun
}

// table returns a table with a row for each policy: means and standard deviations over splits and seeds, in percent.
func (r *offlineResults) table(policies []string) string {
	ks := []int{r.K}
	for _, k := range hitsAt() {
		if k != r.K {
			ks = append(ks, k)
		}
	}
	heading := []string{r.Dataset}
	for _, k := range ks {
		heading = append(heading, fmt.Sprintf("test Hits@%d", k), fmt.Sprintf("valid Hits@%d", k))
	}
	heading = append(heading, "test MRR", "test AUC", "validation edges input", "training s", "runs", fmt.Sprintf("paper Hits@%d", r.K))
	var rows [][]string
	for _, p := range policies {
		rows = append(rows, r.row(p, ks))
	}
	return markdown(heading, rows)
}

func (r *offlineResults) row(policy string, ks []int) []string {
	cells := []string{policy}
	add := func(scale float64, of func(offlineRun) float64) {
		cells = append(cells, r.spread(policy, scale, of))
	}
	for _, k := range ks {
		add(100, func(o offlineRun) float64 { return o.Test.Hits[k] })
		add(100, func(o offlineRun) float64 { return o.Valid.Hits[k] })
	}
	add(100, func(o offlineRun) float64 { return o.Test.MRR })
	add(100, func(o offlineRun) float64 { return o.Test.AUC })
	cells = append(cells, map[bool]string{true: "yes", false: "no"}[r.ValidEdges])
	add(1, func(o offlineRun) float64 { return o.Train })
	n := 0
	for _, o := range r.Runs {
		if o.Policy == policy {
			n++
		}
	}
	cells = append(cells, strconv.Itoa(n))
	b, _ := benchmarkOf(r.Dataset) // a data set without figures prints none
	if v, known := b.paper[policy]; known {
		return append(cells, fmt.Sprintf("%.2f", v))
	}
	return append(cells, "")
}

// spread returns the mean over a policy's runs, with the standard deviation if there are several.
func (r *offlineResults) spread(policy string, scale float64, of func(offlineRun) float64) string {
	var v []float64
	for _, o := range r.Runs {
		if o.Policy == policy {
			v = append(v, scale*of(o))
		}
	}
	mean, sd := stat.MeanStdDev(v, nil)
	if len(v) < 2 {
		return fmt.Sprintf("%.2f", mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", mean, sd)
}
