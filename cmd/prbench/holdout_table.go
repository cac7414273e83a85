package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// judgedPolicy is the policy that is compared with all other policies.
const judgedPolicy = "default"

func plainHeuristics() []string {
	return []string{"common_neighbors", "adamic_adar", "resource_allocation", "preferential_attachment", "ppr"}
}

// holdoutReport summarizes the kept runs for results.json.
type holdoutReport struct {
	Cells []*holdoutCell `json:"cells"` // worst first: see holdoutCell.worst
	Mean  float64        `json:"mean"`  // geometric mean of the ratio of MRR to the MRR of the best plain heuristic; 0 means none
	// OneKind is Mean without bipartite graphs, in which heuristics fail because of candidates of
	// the source's own kind.
	OneKind float64 `json:"mean_of_one_kind"`
}

// holdoutCell holds results that are comparable: the policies asked on one graph among one set of
// candidates.
type holdoutCell struct {
	holdoutQuestion
	Rows    []holdoutRow `json:"rows"`    // sorted by MRR
	Best    holdoutRatio `json:"best"`    // ratio of default to the best of all others
	Plain   holdoutRatio `json:"plain"`   // ratio of default to the best plain heuristic
	Reached float64      `json:"reached"` // share of the hidden links that are among the candidates
}

// holdoutRow is the result of a policy over its seeds.
type holdoutRow struct {
	Policy   string   `json:"policy"`
	Refused  string   `json:"refused,omitempty"`
	Seeds    []uint64 `json:"seeds"`
	MRR      spread   `json:"mrr"`
	Hits     spread   `json:"hits_at_10"`
	Train    spread   `json:"train_seconds"`
	Question spread   `json:"question_seconds"`

	runs []*holdoutRun
}

// holdoutRatio is the smallest ratio of default to other policies, by each measure, over the seeds
// that both have.
type holdoutRatio struct {
	MRR      float64 `json:"mrr"`
	MRRTo    string  `json:"mrr_to"`    // policy of the smallest ratio; "" means that no policy is comparable
	OtherMRR float64 `json:"other_mrr"` // its MRR over all of its seeds
	Hits     float64 `json:"hits_at_10"`
	HitsTo   string  `json:"hits_at_10_to"`
}

func mrrOf(r *holdoutRun) float64  { return r.Result.MRR }
func hitsOf(r *holdoutRun) float64 { return r.Result.Hits }

// newHoldoutReport sorts runs into cells.
func newHoldoutReport(runs []*holdoutRun) *holdoutReport {
	var r holdoutReport
	for _, of := range grouped(runs, func(r *holdoutRun) holdoutQuestion { return r.Settings.holdoutQuestion }) {
		r.Cells = append(r.Cells, newHoldoutCell(of))
	}
	r.Mean = r.mean(func(*holdoutCell) bool { return true })
	r.OneKind = r.mean(func(c *holdoutCell) bool { return c.Kind != "bipartite" })
	slices.SortStableFunc(r.Cells, func(a, b *holdoutCell) int {
		return cmp.Or(cmp.Compare(a.worst(), b.worst()), cmp.Compare(a.title(), b.title()))
	})
	return &r
}

// newHoldoutCell computes the means and ratios of the runs of a question.
func newHoldoutCell(runs []*holdoutRun) *holdoutCell {
	c := &holdoutCell{holdoutQuestion: runs[0].Settings.holdoutQuestion}
	links, reached := 0, 0
	for _, of := range grouped(runs, func(r *holdoutRun) string { return r.Settings.Policy }) {
		row := holdoutRow{
			Policy: of[0].Settings.Policy, MRR: spreadOf(of, mrrOf), Hits: spreadOf(of, hitsOf), runs: of,
			Train:    spreadOf(of, func(r *holdoutRun) float64 { return r.Result.Train }),
			Question: spreadOf(of, func(r *holdoutRun) float64 { return r.Result.Question }),
		}
		for _, r := range of {
			row.Seeds = append(row.Seeds, r.Settings.Seed)
			row.Refused = cmp.Or(row.Refused, r.Result.Refused)
			links, reached = links+r.Result.Links, reached+r.Result.Reached
		}
		c.Rows = append(c.Rows, row)
	}
	c.Reached = float64(reached) / float64(max(links, 1))
	slices.SortStableFunc(c.Rows, func(a, b holdoutRow) int {
		return cmp.Or(cmp.Compare(b.MRR.Mean, a.MRR.Mean), cmp.Compare(a.Policy, b.Policy))
	})
	if own := c.row(judgedPolicy); own != nil {
		c.Best = c.ratio(own, func(string) bool { return true })
		c.Plain = c.ratio(own, func(policy string) bool { return slices.Contains(plainHeuristics(), policy) })
	}
	return c
}

// mean returns the geometric mean, over some cells, of the ratio of MRR to the MRR of the best
// plain heuristic, or 0 if no cell has one.
func (r *holdoutReport) mean(of func(*holdoutCell) bool) float64 {
	var ratios []float64
	for _, c := range r.Cells {
		if of(c) && c.Plain.MRRTo != "" {
			ratios = append(ratios, c.Plain.MRR)
		}
	}
	if len(ratios) == 0 {
		return 0
	}
	return stat.GeometricMean(ratios, nil)
}

func (c *holdoutCell) row(policy string) *holdoutRow {
	for i := range c.Rows {
		if c.Rows[i].Policy == policy {
			return &c.Rows[i]
		}
	}
	return nil
}

// ratio compares a row with the rows of other policies for which among returns true.
func (c *holdoutCell) ratio(own *holdoutRow, among func(policy string) bool) (least holdoutRatio) {
	for i := range c.Rows {
		r := &c.Rows[i]
		if r == own || r.Refused != "" || !among(r.Policy) {
			continue
		}
		mrr, comparable := meanRatio(own, r, mrrOf)
		if comparable && (least.MRRTo == "" || mrr < least.MRR) {
			least.MRR, least.MRRTo, least.OtherMRR = mrr, r.Policy, r.MRR.Mean
		}
		hits, comparable := meanRatio(own, r, hitsOf)
		if comparable && (least.HitsTo == "" || hits < least.Hits) {
			least.Hits, least.HitsTo = hits, r.Policy
		}
	}
	return least
}

// meanRatio returns the ratio of the mean of a to the mean of b, over the seeds that both have.
// Rows without a common seed are not comparable. If the mean of b is 0, the rows are comparable
// only if the mean of a is 0 too; the ratio is then 1.
func meanRatio(a, b *holdoutRow, of func(*holdoutRun) float64) (ratio float64, comparable bool) {
	sumA, sumB, common := 0.0, 0.0, false
	for i, seed := range a.Seeds {
		if j := slices.Index(b.Seeds, seed); j >= 0 {
			sumA, sumB, common = sumA+of(a.runs[i]), sumB+of(b.runs[j]), true
		}
	}
	switch {
	case sumB > 0:
		return sumA / sumB, common
	case sumA > 0:
		return 0, false
	}
	return 1, common
}

// worst returns the smaller ratio to the best other policy, by which cells are sorted. Cells
// without a ratio come last.
func (c *holdoutCell) worst() float64 {
	worst := math.Inf(1)
	if c.Best.MRRTo != "" {
		worst = c.Best.MRR
	}
	if c.Best.HitsTo != "" {
		worst = min(worst, c.Best.Hits)
	}
	return worst
}

func (c *holdoutCell) title() string {
	return fmt.Sprintf("%s, %s, AMONG %s, share %v, %d nodes", c.Data, c.Kind, c.Among, c.Share, c.Sample)
}

const holdoutLegend = `Hidden edges are ranked among candidates that are none, after training with no options. MRR and hits@10 are means over
the seeds, ± the sample standard deviation over them. Ratios are those of default to the best other policy or prior and
to the best plain heuristic (%s), by each
measure apart, over the seeds that both have; the worst cell is first.
`

func (r *holdoutReport) markdown() string {
	heading := []string{
		"graph", "among", "seeds", "MRR", "hits@10", "best other MRR", "by", "MRR / other", "hits@10 / other",
		"MRR / heuristic", "hits@10 / heuristic", "heuristic",
	}
	var rows [][]string
	for _, c := range r.Cells {
		if own := c.row(judgedPolicy); own != nil {
			rows = append(rows, c.cells(own))
		}
	}
	text := "# Holdout\n\n" + fmt.Sprintf(holdoutLegend, strings.Join(plainHeuristics(), ", ")) + "\n"
	if rows != nil {
		text += markdown(heading, rows)
	}
	if r.Mean > 0 {
		text += fmt.Sprintf("\nGeometric mean of the MRR of %s over that of the best plain heuristic: %.3f\n", judgedPolicy, r.Mean)
	}
	if r.OneKind > 0 && r.OneKind != r.Mean {
		text += fmt.Sprintf("\nWithout bipartite graphs: %.3f\n", r.OneKind)
	}
	for _, c := range r.Cells {
		text += "\n" + c.markdown()
	}
	return text
}

// cells returns the cell's row in the table of all cells.
func (c *holdoutCell) cells(own *holdoutRow) []string {
	head := []string{c.Data, c.Among, fmt.Sprint(len(own.Seeds))}
	if own.Refused != "" {
		return append(head, "refused", "", "", "", "", "", "", "", "")
	}
	other := ""
	if c.Best.MRRTo != "" {
		other = number(c.Best.OtherMRR)
	}
	return append(head, number(own.MRR.Mean), number(own.Hits.Mean), other, c.Best.MRRTo,
		ratio(c.Best.MRR, c.Best.MRRTo), ratio(c.Best.Hits, c.Best.HitsTo),
		ratio(c.Plain.MRR, c.Plain.MRRTo), ratio(c.Plain.Hits, c.Plain.HitsTo), c.Plain.MRRTo)
}

// markdown returns the table of all policies.
func (c *holdoutCell) markdown() string {
	heading := []string{"policy", "seeds", "MRR", "±", "hits@10", "±", "training s", "a question ms"}
	var rows [][]string
	for _, r := range c.Rows {
		row := []string{r.Policy, fmt.Sprint(len(r.Seeds))}
		if r.Refused != "" {
			rows = append(rows, append(row, "refused", "", "", "", "", ""))
			continue
		}
		rows = append(rows, append(row, number(r.MRR.Mean), r.deviation(r.MRR), number(r.Hits.Mean), r.deviation(r.Hits),
			fmt.Sprintf("%.1f", r.Train.Mean), fmt.Sprintf("%.2f", 1e3*r.Question.Mean)))
	}
	return fmt.Sprintf("## %s\n\n%.0f %% of the hidden links are among the candidates.\n\n%s", c.title(), 100*c.Reached, markdown(heading, rows))
}

// deviation returns the standard deviation over the seeds, or "" for a single seed.
func (r *holdoutRow) deviation(s spread) string {
	if len(r.Seeds) < 2 {
		return ""
	}
	return number(s.SD)
}

func number(v float64) string { return fmt.Sprintf("%.4f", v) }

// ratio formats a ratio, or returns "" if there is no other policy to compare with.
func ratio(v float64, to string) string {
	if to == "" {
		return ""
	}
	return fmt.Sprintf("%.3f", v)
}
