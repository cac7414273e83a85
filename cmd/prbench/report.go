package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"kith/cmd/prbench/internal/trial"
)

// report summarizes the kept runs for results.json.
type report struct {
	Tables []table        `json:"tables"`
	Builds map[string]int `json:"builds"` // number of runs by build of the tool
}

// table holds results that are comparable: the players of a place with the same number of rounds.
type table struct {
	place
	Rounds int   `json:"rounds"`
	Rows   []row `json:"rows"`

	result trial.Result
}

// row is the result of a player over all of its seeds.
type row struct {
	variant
	Seeds    []uint64 `json:"seeds"`
	Regrets  []int    `json:"regrets"` // regret of each seed
	Mean     float64  `json:"mean"`
	SD       float64  `json:"sd"`           // sample standard deviation
	PerLive  float64  `json:"a_live_round"` // regret per round with a link among the candidates
	Millis   float64  `json:"ms_a_round"`
	Networks float64  `json:"networks_ms"` // part of Millis
	Walk     float64  `json:"pagerank_ms"`
	Train    float64  `json:"training_ms"`
	Paper    int      `json:"paper,omitempty"` // the paper's figure
}

// newReport sorts runs into tables.
func newReport(runs []*regretRun) *report {
	slices.SortStableFunc(runs, compareRuns)
	r := report{Builds: make(map[string]int)}
	for _, run := range runs {
		r.Builds[cmp.Or(run.Build, "unknown revision")]++
	}
	type question struct {
		place
		rounds int
	}
	for _, of := range grouped(runs, func(r *regretRun) question { return question{r.Settings.place, r.Settings.Rounds} }) {
		r.Tables = append(r.Tables, newTable(of))
	}
	return &r
}

// compareRuns orders runs by table, then in the order in which policies are listed, then by seed.
func compareRuns(a, b *regretRun) int {
	s, t := a.Settings, b.Settings
	order := policyOrder()
	return cmp.Or(
		cmp.Compare(s.Data, t.Data), cmp.Compare(s.Protocol, t.Protocol), cmp.Compare(s.Features, t.Features), cmp.Compare(s.Rounds, t.Rounds),
		cmp.Compare(slices.Index(order, s.Policy), slices.Index(order, t.Policy)),
		cmp.Compare(s.title(), t.title()), cmp.Compare(s.Seed, t.Seed))
}

// newTable makes a table of runs, which are in the order of its rows.
func newTable(runs []*regretRun) table {
	first := runs[0].Settings
	t := table{place: first.place, Rounds: first.Rounds, result: trial.Result{Protocol: first.Protocol, Rounds: first.Rounds}}
	for _, of := range grouped(runs, func(r *regretRun) string { return r.Settings.title() }) {
		r := row{variant: of[0].Settings.variant}
		for _, run := range of {
			c := run.Result
			c.Name = r.title()
			t.result.Curves = append(t.result.Curves, c)
			r.Seeds, r.Regrets = append(r.Seeds, run.Settings.Seed), append(r.Regrets, c.Final())
		}
		if paper, ok := paperFigure(t.place, r.variant, t.Rounds); ok {
			r.Paper = int(paper.Mean)
		}
		t.Rows = append(t.Rows, r)
	}
	for i, s := range t.result.Summaries() {
		r, perRound := &t.Rows[i], 1e3/float64(t.Rounds)
		r.Mean, r.SD, r.PerLive, r.Millis = s.Regret, s.Deviation, s.PerLive, s.Time.Seconds()*perRound
		r.Networks, r.Walk, r.Train = s.Parts.Networks.Seconds()*perRound, s.Parts.Walk.Seconds()*perRound, s.Parts.Train.Seconds()*perRound
	}
	return t
}

// title includes the protocol and the features, because no figure can be interpreted without them.
func (t *table) title() string {
	return fmt.Sprintf("%s, protocol %s, features %s, %d rounds", t.Data, t.Protocol, t.Features, t.Rounds)
}

// fileName returns the name of the table's pictures without an extension.
func (t *table) fileName() string {
	return fmt.Sprintf("%s-%s-%s-%d", t.Data, t.Protocol, t.Features, t.Rounds)
}

func (t *table) markdown() string {
	heading := []string{"policy", "regret", "±", "seeds", "a live round", "ms a round", "options", "the paper"}
	var rows [][]string
	for _, r := range t.Rows {
		paper := ""
		if r.Paper > 0 {
			paper = fmt.Sprint(r.Paper)
		}
		rows = append(rows, []string{
			r.player(), fmt.Sprintf("%.0f", r.Mean), fmt.Sprintf("%.0f", r.SD), fmt.Sprint(len(r.Seeds)),
			fmt.Sprintf("%.3f", r.PerLive), fmt.Sprintf("%.2f", r.Millis), r.choices(), paper,
		})
	}
	return "## " + t.title() + "\n\n" + markdown(heading, rows)
}

// curves returns the runs with names for a picture: the player, with its options only if another
// row has the same player.
func (t *table) curves() trial.Result {
	players, names := make(map[string]int), make(map[string]string)
	for _, r := range t.Rows {
		players[r.player()]++
	}
	for _, r := range t.Rows {
		names[r.title()] = r.title()
		if players[r.player()] == 1 {
			names[r.title()] = r.player()
		}
	}
	named := t.result
	named.Curves = slices.Clone(t.result.Curves)
	for i, c := range named.Curves {
		named.Curves[i].Name = names[c.Name]
	}
	return named
}

// legend explains the columns and the terms in the headings.
const legend = `Regret is cumulative, the mean over the seeds with the sample standard deviation. Regrets of different protocols, or
with different features, are not to be compared: each table stands for itself.

- Protocol paper: 100 candidates, up to 10 of them linked to the serving node. Protocol released: ten unrelated pairs of
  the data's file, one of them linked. Protocol fresh: as paper, without the pairs that were won before; a round without a
  link left is not counted, so compare the regret of a live round. Protocol classify: the classes of a node; classify-blind
  does not show the class that was missed.
- Features svd were computed from all links and so leak the answer; with none, contexts hold only what was revealed.
- Options beside the preset; (grid): the best of a grid search on other rounds.
- The paper: what "PageRank Bandits for Link Prediction" (NeurIPS 2024) prints, the mean of 10 runs.
`

func (r *report) markdown() string {
	var builds []string
	for _, b := range slices.Sorted(maps.Keys(r.Builds)) {
		builds = append(builds, fmt.Sprintf("%s (%d)", b, r.Builds[b]))
	}
	parts := []string{"# Regret\n\n" + legend + "- Runs by build of the tool: " + strings.Join(builds, ", ") + ".\n"}
	for i := range r.Tables {
		parts = append(parts, r.Tables[i].markdown())
	}
	return strings.Join(parts, "\n")
}

// draw writes a picture of each table's curves.
func (r *report) draw(out string) error {
	for i := range r.Tables {
		t := &r.Tables[i]
		curves := t.curves()
		var picture bytes.Buffer
		if err := drawRegret(&picture, &curves, t.title()); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(out, t.fileName()+".svg"), picture.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
