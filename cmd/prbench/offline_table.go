package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"kith/cmd/prbench/internal/ogb"
)

// offlineReport summarizes the kept runs for results.json.
type offlineReport struct {
	Tables []*offlineTable `json:"tables"`
}

// offlineTable holds results that are comparable: the policies on the splits of a data set with the
// same negatives.
type offlineTable struct {
	offlineQuestion
	Rows []offlineRow `json:"rows"`
}

// offlineQuestion is what the policies of a table were asked.
type offlineQuestion struct {
	Data       string `json:"data"`
	Negatives  string `json:"negatives"`
	ValidEdges bool   `json:"valid_edges"` // validation edges were input when the test part was ranked
}

// offlineRow is the result of a player over splits and seeds.
type offlineRow struct {
	Policy string        `json:"policy"`
	Title  string        `json:"title"`
	Runs   []*offlineRun `json:"runs"`
}

// newOfflineReport sorts runs into tables.
func newOfflineReport(runs []*offlineRun) *offlineReport {
	order := policyOrder()
	slices.SortStableFunc(runs, func(a, b *offlineRun) int {
		s, t := a.Settings, b.Settings
		return cmp.Or(cmp.Compare(s.Data, t.Data), -cmp.Compare(s.Negatives, t.Negatives),
			cmp.Compare(slices.Index(order, s.Policy), slices.Index(order, t.Policy)),
			cmp.Compare(s.title(), t.title()), cmp.Compare(s.Split, t.Split), cmp.Compare(s.Seed, t.Seed))
	})
	var r offlineReport
	question := func(r *offlineRun) offlineQuestion {
		return offlineQuestion{r.Settings.Data, r.Settings.Negatives, r.Settings.ValidEdges}
	}
	for _, of := range grouped(runs, question) {
		t := &offlineTable{offlineQuestion: question(of[0])}
		for _, runs := range grouped(of, func(r *offlineRun) string { return r.Settings.title() }) {
			t.Rows = append(t.Rows, offlineRow{runs[0].Settings.Policy, runs[0].Settings.title(), runs})
		}
		r.Tables = append(r.Tables, t)
	}
	return &r
}

func (r *offlineReport) markdown() string {
	text := ""
	for _, t := range r.Tables {
		text += t.markdown() + "\n"
	}
	return text
}

// k returns the K of the data set's own Hits@K, or 10 for the negatives of HeaRT.
func (q offlineQuestion) k() int {
	if b, known := rowOf(benchmarks(), q.Data); known && q.Negatives == "own" {
		return b.k
	}
	return 10
}

// markdown returns a table with a row for each player: means and standard deviations over splits
// and seeds, in percent.
func (t *offlineTable) markdown() string {
	k := t.k()
	ks := append([]int{k}, slices.DeleteFunc(ogb.HitsAt(), func(other int) bool { return other == k })...)
	heading := []string{t.Data + ", negatives " + t.Negatives}
	for _, k := range ks {
		heading = append(heading, fmt.Sprintf("test Hits@%d", k), fmt.Sprintf("valid Hits@%d", k))
	}
	heading = append(heading, "test MRR", "test AUC", "validation edges input", "training s", "scoring s", "runs", "published")
	var rows [][]string
	for _, r := range t.Rows {
		rows = append(rows, t.cells(r, ks))
	}
	b, _ := rowOf(benchmarks(), t.Data) // a data set without figures prints none
	if best := b.heart; t.Negatives == "heart" && best.mrr > 0 {
		row := make([]string, len(heading))
		row[0], row[len(row)-1] = best.method, fmt.Sprintf("MRR %.2f", best.mrr)
		rows = append(rows, row)
	}
	return markdown(heading, rows)
}

// cells returns the cells of a row.
func (t *offlineTable) cells(r offlineRow, ks []int) []string {
	cells := []string{r.Title}
	add := func(scale float64, of func(offlineResult) float64) {
		cells = append(cells, plusMinus(spreadOf(r.Runs, func(o *offlineRun) float64 { return scale * of(o.Result) }), len(r.Runs)))
	}
	for _, k := range ks {
		add(100, func(o offlineResult) float64 { return o.Test.Hits[k] })
		add(100, func(o offlineResult) float64 { return o.Valid.Hits[k] })
	}
	add(100, func(o offlineResult) float64 { return o.Test.MRR })
	add(100, func(o offlineResult) float64 { return o.Test.AUC })
	cells = append(cells, map[bool]string{true: "yes", false: "no"}[t.ValidEdges])
	add(1, func(o offlineResult) float64 { return o.Train })
	add(1, func(o offlineResult) float64 { return o.Score })
	published := ""
	b, _ := rowOf(benchmarks(), t.Data) // a data set without figures prints none
	if v, known := b.paper[r.Policy]; known && t.Negatives == "own" {
		published = fmt.Sprintf("%.2f", v.Mean)
	}
	return append(cells, strconv.Itoa(len(r.Runs)), published)
}

// plusMinus formats a mean with its deviation over n values, which a single value does not have.
func plusMinus(s spread, n int) string {
	if n < 2 {
		return fmt.Sprintf("%.2f", s.Mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", s.Mean, s.SD)
}
