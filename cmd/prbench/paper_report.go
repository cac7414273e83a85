package main

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"kith/cmd/prbench/internal/ogb"
)

// paperReport collects the parts of report.md.
type paperReport struct {
	text   strings.Builder
	far    []difference
	rivals []rivalRow
}

// difference is a row that differs from the paper by more than two deviations.
type difference struct {
	reason string
	row    []string
}

// reportIntro explains the columns.
const reportIntro = `# The experiments of the PageRank Bandits paper

"PageRank Bandits for Link Prediction" (Ban et al., NeurIPS 2024), section 5 and appendices: the paper's figure next to
each of ours. Means are over seeds or splits, ± is the sample standard deviation. Deviations are the difference of the means over
the root of the sum of both squared standard deviations; a single run has a deviation of 0. The figures are made from all runs in
this folder. The paper's machine is an Nvidia 3060; times here are of the machine that played the runs, while --workers runs
played at the same time except in the table of times. CPU marks processor time, which rivals report.

`

// markdown returns the report of all kept runs of some stages.
func (p *paperPlan) markdown(stages []stage) (string, error) {
	var r paperReport
	r.text.WriteString(reportIntro)
	if p.quick {
		r.text.WriteString("Played with --quick: 2 seeds (1 of the classification), 1,000 rounds of the classification, one split, 10 epochs of\noffline training, no grid search of the classification.\n\n")
	}
	if p.rounds > 0 {
		fmt.Fprintf(&r.text, "Every experiment was played with --rounds %d, whatever its own number is.\n\n", p.rounds)
	}
	if len(p.absent) > 0 {
		fmt.Fprintf(&r.text, "Left out, because the data is missing: %s.\n\n", strings.Join(p.absent, ", "))
	}
	if p.rivals != "" {
		all, err := ogb.ReadResults(p.rivals)
		if err != nil {
			return "", err
		}
		r.rivals = rivalRows(all)
	}
	for _, s := range stages {
		if err := p.section(&r, s); err != nil {
			return "", err
		}
	}
	r.differences()
	return r.text.String(), nil
}

// section adds the section of a stage.
func (p *paperPlan) section(r *paperReport, s stage) error {
	folder := filepath.Join(p.out, s.name)
	r.text.WriteString("## " + strings.ToUpper(s.about[:1]) + s.about[1:] + "\n\n")
	if s.name == "offline" || s.name == "heart" {
		runs, err := offlineShelf(filepath.Join(folder, "runs")).runs(offlineSettings.data)
		if err != nil {
			return err
		}
		for _, t := range newOfflineReport(runs).Tables {
			r.heldOut(s.name, t)
		}
		return nil
	}
	runs, err := regretShelf(filepath.Join(folder, "runs")).runs(settings.data)
	if err != nil {
		return err
	}
	tables := newReport(runs).Tables
	switch s.name {
	case "alpha":
		r.alphas(tables)
	case "time":
		r.times(tables)
	default:
		for i := range tables {
			r.regrets(s.name, &tables[i])
		}
	}
	return nil
}

// deviations returns the difference of two means in deviations, and whether there is a deviation to
// compare with.
func deviations(ours, paper spread) (float64, bool) {
	sd := math.Hypot(ours.SD, paper.SD)
	return (ours.Mean - paper.Mean) / sd, sd > 0
}

// compare returns the cells of the paper's figure and of the deviations. A row that differs by more
// than two is remembered. Without a deviation every difference of more than half a unit of the last
// printed digit counts.
func (r *paperReport) compare(stage, data, policy, title string, ours, paper spread, digits int) []string {
	format := func(s spread) string { return fmt.Sprintf("%.*f ± %.*f", digits, s.Mean, max(digits, 1), s.SD) }
	by, ok := deviations(ours, paper)
	cell, isFar := "", math.Abs(by) > 2
	if ok {
		cell = fmt.Sprintf("%+.1f", by)
	} else {
		isFar = math.Abs(ours.Mean-paper.Mean) > 0.5*math.Pow10(-digits)
	}
	if isFar {
		r.far = append(r.far, difference{reasonFor(stage, data, policy), []string{data, title, format(ours), format(paper), cell}})
	}
	return []string{format(paper), cell}
}

// regrets adds a table of regret.
func (r *paperReport) regrets(stage string, t *table) {
	fmt.Fprintf(&r.text, "### %s\n\n", t.title())
	var rows [][]string
	for _, row := range t.Rows {
		ours := spread{row.Mean, row.SD}
		cells := []string{row.title(), fmt.Sprintf("%.0f ± %.0f", row.Mean, row.SD), fmt.Sprint(len(row.Seeds))}
		if paper, ok := paperFigure(t.place, row.variant, t.Rounds); ok {
			cells = append(cells, r.compare(stage, t.Data, row.Policy, row.title(), ours, paper, 0)...)
		} else {
			cells = append(cells, "", "")
		}
		rows = append(rows, append(cells, fmt.Sprintf("%.2f", row.Millis)))
	}
	r.text.WriteString(markdown([]string{"policy", "regret", "seeds", "the paper", "deviations", "ms a round"}, rows))
	fmt.Fprintf(&r.text, "\n![regret by round, with deviations](%s/%s.svg)\n\n", stage, t.fileName())
}

// alphas adds a table with a row for each data set and a column for each damping factor.
func (r *paperReport) alphas(tables []table) {
	heading := []string{"data"}
	for _, a := range alphas() {
		heading = append(heading, "α = "+a)
	}
	var rows [][]string
	for _, t := range tables {
		cells := []string{t.Data}
		for _, a := range alphas() {
			i := slices.IndexFunc(t.Rows, func(row row) bool { return row.Options["alpha"] == a })
			if i < 0 {
				cells = append(cells, "")
				continue
			}
			cells = append(cells, fmt.Sprintf("%.0f ± %.0f", t.Rows[i].Mean, t.Rows[i].SD))
		}
		rows = append(rows, cells)
	}
	r.text.WriteString("Regret of prb. The paper chooses 0.85 of 0.1, 0.3, 0.5, 0.85 and 0.9, and prints no figures.\n\n" + markdown(heading, rows) + "\n")
	for i := range tables {
		fmt.Fprintf(&r.text, "![regret by round, with deviations](alpha/%s.svg)\n\n", tables[i].fileName())
	}
}

// times adds the table of running time and of inference time.
func (r *paperReport) times(tables []table) {
	var rows [][]string
	for _, t := range tables {
		for _, row := range t.Rows {
			minutes := row.Millis * paperRounds / 60e3
			share := row.Walk / row.Millis
			inference := (row.Networks + row.Walk) / 1e3
			cells := []string{
				t.Data, row.title(), fmt.Sprintf("%.3f", minutes), "", fmt.Sprintf("%.0f %%", 100*share), "", fmt.Sprintf("%.5f", inference), "",
			}
			if v, ok := paperMinutes()[row.Policy]; ok {
				cells[3] = fmt.Sprintf("%.1f", v)
			}
			if v, ok := paperWalks()[row.Policy]; ok {
				cells[5] = fmt.Sprintf("%.1f %%", 100*v)
			}
			if v, ok := paperInference(t.Data, row.Policy); ok {
				cells[7] = fmt.Sprintf("%.2f", v)
			}
			rows = append(rows, cells)
		}
	}
	r.text.WriteString("One run at a time in one thread. The paper's minutes and shares are means over its data sets.\n\n" + markdown([]string{
		"data", "policy", "minutes for 10,000 rounds", "the paper", "PageRank", "the paper", "inference, seconds a round", "the paper"}, rows) + "\n")
}

// heldOut adds a table of held-out links, with the rows of other programs.
func (r *paperReport) heldOut(stage string, t *offlineTable) {
	measure := fmt.Sprintf("Hits@%d", t.k())
	of := func(o *offlineRun) float64 { return 100 * o.Result.Test.Hits[t.k()] }
	isHeart := t.Negatives == "heart"
	if isHeart {
		measure = "MRR"
		of = func(o *offlineRun) float64 { return 100 * o.Result.Test.MRR }
	}
	b, _ := rowOf(benchmarks(), t.Data) // a data set without figures prints none
	printed := func(method, title string, ours spread) []string {
		if paper, ok := b.paper[method]; ok && !isHeart {
			return r.compare(stage, t.Data, method, title, ours, paper, 2)
		}
		return []string{"", ""}
	}
	seconds := func(method string) string {
		if v, ok := b.seconds[method]; ok && !isHeart {
			return fmt.Sprintf("%.2f", v)
		}
		return ""
	}
	var rows [][]string
	for _, row := range t.Rows {
		ours := spreadOf(row.Runs, of)
		cells := []string{row.Title, plusMinus(ours, len(row.Runs)), fmt.Sprintf("%.2f", spreadOf(row.Runs, hitsAt10).Mean), fmt.Sprint(len(row.Runs))}
		cells = append(cells, printed(row.Policy, row.Title, ours)...)
		train := spreadOf(row.Runs, func(o *offlineRun) float64 { return o.Result.Train })
		score := spreadOf(row.Runs, func(o *offlineRun) float64 { return o.Result.Score })
		rows = append(rows, append(cells, fmt.Sprintf("%.1f", train.Mean), fmt.Sprintf("%.2f", score.Mean), seconds(row.Policy)))
	}
	for _, row := range r.rivals {
		if row.data != t.Data || (row.protocol == "heart") != isHeart || row.metric != strings.ToLower(measure) {
			continue
		}
		method := strings.NewReplacer("-", "_").Replace(strings.ToLower(row.method))
		cells := []string{row.title(), plusMinus(row.value, row.runs), r.rivalHits(row), fmt.Sprint(row.runs)}
		cells = append(cells, printed(method, row.method, row.value)...)
		rows = append(rows, append(cells, fmt.Sprintf("%.1f CPU", row.seconds.Mean), "", seconds(method)))
	}
	if isHeart && b.heart.mrr > 0 {
		rows = append(rows, []string{b.heart.method, fmt.Sprintf("%.2f", b.heart.mrr), "", "", "", "", "", "", ""})
	}
	heading := []string{"method", "test " + measure, "test Hits@10", "runs", "the paper", "deviations", "training s", "scoring s", "the paper"}
	fmt.Fprintf(&r.text, "### %s, negatives %s\n\n%s\n", t.Data, t.Negatives, markdown(heading, rows))
}

func hitsAt10(o *offlineRun) float64 { return 100 * o.Result.Test.Hits[10] }

// rivalHits returns Hits@10 of the method of a row, if it was measured.
func (r *paperReport) rivalHits(of rivalRow) string {
	of.metric = "hits@10"
	for _, row := range r.rivals {
		if row.rivalKey == of.rivalKey {
			return fmt.Sprintf("%.2f", row.value.Mean)
		}
	}
	return ""
}

// differences adds the rows that differ from the paper by more than two deviations, a table for
// each likely reason.
func (r *paperReport) differences() {
	r.text.WriteString("## Rows that differ by more than two deviations\n\n")
	if len(r.far) == 0 {
		r.text.WriteString("None.\n")
		return
	}
	slices.SortStableFunc(r.far, func(a, b difference) int { return cmp.Compare(a.reason, b.reason) })
	for _, group := range grouped(r.far, func(d difference) string { return d.reason }) {
		var rows [][]string
		for _, d := range group {
			rows = append(rows, d.row)
		}
		table := markdown([]string{"data", "method", "ours", "the paper", "deviations"}, rows)
		fmt.Fprintf(&r.text, "Likely reason: %s.\n\n%s\n", group[0].reason, table)
	}
}
