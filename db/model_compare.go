package db

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"kith/db/internal/hidden"
	"kith/db/internal/record"
	"kith/db/internal/walk"
	"kith/db/words"
	"kith/model"
	"kith/ppr"
)

// DeployRule says when a training deploys the version that it made.
type DeployRule string

// Rules for deployment.
const (
	// DeployBetter deploys a version unless its comparison says that it is worse: see
	// Comparison.Held. A version without a comparison is deployed: see Comparison.Skipped.
	DeployBetter DeployRule = ""
	DeployAlways DeployRule = "always"
	DeployNever  DeployRule = "never"
)

// Training is a version that a training made.
type Training struct {
	ModelInfo
	Held       bool       `json:"held"` // whether the version is stored without being deployed
	Comparison Comparison `json:"comparison"`
}

// Comparison says how well a new version of a model finds edges that were hidden from its training,
// and how well others find them. Without standings there was no comparison.
//
// A tenth of the edges is hidden, at most about 2,000 edges. Which edges these are depends on the
// database's seed and on the edge alone, so an earlier training has not seen them either. The
// sources are up to 200 nodes with a hidden link, and the candidates of each are its hidden links
// and up to 200 others, drawn from the nodes two steps away, or three where no hidden link is
// nearer. A link further away counts as missed. An MRR is therefore about ranks among drawn
// candidates, the same for all contenders, and higher than among all nodes.
//
// A training in the background asks the built-in model and each heuristic about a quarter of the
// sources first, and about the others only if it is not clearly worse than the new version.
//
// If a source has to read more than 200,000 entries of rows for a step, it reads about
// as many, drawn at random. Its candidates are then drawn from the nodes found in this way, where
// nodes with many paths from the source are more likely.
type Comparison struct {
	// Skipped says why there was no comparison; it is empty if there was one.
	Skipped string `json:"skipped,omitempty"`
	Hidden  int    `json:"hidden"`  // number of edges that were hidden
	Sources int    `json:"sources"` // number of nodes whose links were to be found
	Sampled int    `json:"sampled"` // number of sources whose candidates are drawn from a sample of the nodes near them
	Links   int    `json:"links"`   // number of links to be found; an undirected edge may be one from either of its ends
	// Standings has the standings of the new version, of the version before if it is trained, of
	// the built-in model and of the best of the heuristics common_neighbors, adamic_adar,
	// resource_allocation and ppr, in this order. On a graph of more than 4,000,000 edges ppr does
	// not take part.
	Standings []Standing `json:"standings,omitzero"`
}

// The parts of contenders in a Comparison.
const (
	roleNew       = "new"
	roleBefore    = "before"
	rolePrior     = "prior"
	roleHeuristic = "heuristic"
)

// Standing is how well one contender of a Comparison finds links.
type Standing struct {
	Role    string  `json:"role"`    // new, before, prior or heuristic
	Name    string  `json:"name"`    // "version 2", "prior" or the name of a heuristic
	MRR     float64 `json:"mrr"`     // mean reciprocal rank of the links among the candidates without an edge
	Better  bool    `json:"better"`  // better than the new version, by more than two standard errors of the differences by source
	Worse   bool    `json:"worse"`   // worse than the new version, by as much
	Trained bool    `json:"trained"` // may have learned from hidden links or their outcomes, so MRR says little about unknown links
}

// Standing returns the standing in a role, and whether there is one.
func (c *Comparison) Standing(role string) (Standing, bool) {
	for _, s := range c.Standings {
		if s.Role == role {
			return s, true
		}
	}
	return Standing{}, false
}

// Held returns the standings that keep DeployBetter from deploying the new version: the better
// ones. It returns none where the version before is worse than the new version, because that
// version would stay deployed.
func (c *Comparison) Held() (because []Standing) {
	if before, ok := c.Standing(roleBefore); ok && before.Worse {
		return nil
	}
	for _, s := range c.Standings {
		if s.Better {
			because = append(because, s)
		}
	}
	return because
}

// ahead reports whether the new version is better than the version before, and no contender is
// better by more than chance explains.
func (c *Comparison) ahead() bool {
	fresh, measured := c.Standing(roleNew)
	before, ok := c.Standing(roleBefore)
	return measured && len(c.Held()) == 0 && (!ok || fresh.MRR > before.MRR)
}

// String returns the standings on one line, or why it has no standings.
func (c *Comparison) String() string {
	if c.Skipped != "" {
		return "no comparison: " + c.Skipped
	}
	var all []string
	for _, s := range c.Standings {
		text := fmt.Sprintf("%s %.3f", s.Name, s.MRR)
		if s.Trained {
			text += " (it may have learned of some of them)"
		}
		all = append(all, text)
	}
	sampled := ""
	if c.Sampled > 0 {
		sampled = fmt.Sprintf(" (for %s from a sample of the nodes near them)", words.Count(c.Sampled, "node"))
	}
	return fmt.Sprintf("mrr of %s of %s, hidden from the training, each ranked among up to %d drawn candidates%s: %s",
		words.Count(c.Links, "link"), words.Count(c.Sources, "node"), hidden.MostCandidates, sampled, strings.Join(all, ", "))
}

// compare compares a trained model with the version before, the prior and heuristics, on the edges
// left out of its training.
func (v *validation) compare(ctx context.Context, tx *Tx, l *record.Learner) (c Comparison, err error) {
	v.progress.Begin(phaseModels)
	fresh, err := v.measureModel(ctx, tx, l.Model.Scorer())
	if err != nil {
		return c, err
	}
	if fresh == nil {
		return Comparison{Skipped: "the model takes too much memory to be asked for hidden links"}, nil
	}
	c = Comparison{Hidden: v.edges, Sources: len(v.questions.All), Sampled: v.questions.Sampled, Links: v.questions.Links}
	add := func(role string, name string, sums []float64, trained bool) {
		s := Standing{Role: role, Name: name, MRR: v.mrr(sums), Trained: trained}
		if role != roleNew {
			fresh := fresh[:len(sums)]
			s.Better, s.Worse = hidden.BeyondChance(sums, fresh), hidden.BeyondChance(fresh, sums)
		}
		c.Standings = append(c.Standings, s)
	}
	add(roleNew, fmt.Sprintf("version %d", l.Next()), fresh, l.Model.Rounds() > 0)
	if before := tx.snap.models[l.Name]; before != nil && before.info.Trained {
		sums, err := v.measureModel(ctx, tx, before.scorer)
		if err != nil {
			return c, err
		}
		if at, _ := before.Find(before.Version); sums != nil {
			add(roleBefore, fmt.Sprintf("version %d", before.Version), sums, before.info.Rounds > 0 || at.LeftOut < v.share)
		}
	}
	sums, err := v.measureRival(ctx, tx.db.prior(tx.snap.Snapshot), validationEpsilon, fresh)
	if err != nil {
		return c, err
	}
	add(rolePrior, "prior", sums, false)
	v.progress.Finish(phaseModels)
	v.progress.Begin(phaseHeuristics)
	name, sums, err := v.bestHeuristic(ctx, tx, fresh)
	v.progress.Finish(phaseHeuristics)
	if err == nil {
		add(roleHeuristic, name, sums, false)
	}
	return c, err
}

// measureModel is measure for a model. It returns nil for a model that takes too much memory.
func (v *validation) measureModel(ctx context.Context, tx *Tx, s *model.Scorer) ([]float64, error) {
	if tx.fitsModel("", s, v.rest.snap.Snapshot) != nil {
		return nil, nil
	}
	sums, err := v.measure(ctx, s, validationEpsilon, v.tasks)
	if errors.Is(err, ErrTooLarge) {
		return nil, nil
	}
	return sums, err
}

// measureRival is measure for a scorer that matters only if it is better than a version, whose sums
// are given. In a brief comparison, a scorer is only asked the first tasks if it is worse on these
// by more than chance explains.
func (v *validation) measureRival(ctx context.Context, s *model.Scorer, epsilon float64, version []float64) ([]float64, error) {
	first := 0
	if v.brief {
		first = max(len(v.tasks)/briefPart, leastSources)
	}
	sums, err := v.measure(ctx, s, epsilon, v.tasks[:first])
	if err != nil || hidden.BeyondChance(version[:first], sums) {
		return sums, err
	}
	more, err := v.measure(ctx, s, epsilon, v.tasks[first:])
	return append(sums, more...), err
}

// mrr returns the mean reciprocal rank of the links of the first questions, given the sums for
// these.
func (v *validation) mrr(sums []float64) float64 {
	links := 0
	for _, q := range v.questions.All[:len(sums)] {
		links += q.Links
	}
	return sum(sums) / float64(links)
}

// bestHeuristic returns the heuristic that finds the links best, as far as it matters next to a
// version, whose sums are given.
func (v *validation) bestHeuristic(ctx context.Context, tx *Tx, version []float64) (name string, best []float64, err error) {
	most := -1.0
	for _, of := range tx.comparedHeuristics() {
		h, err := tx.heuristic(of)
		if err != nil {
			return "", nil, err
		}
		sums, err := v.measureRival(ctx, h.scorer, 0, version) // a coarse ppr does not order the neighbours of a node of large degree
		if err != nil {
			return "", nil, err
		}
		if mrr := v.mrr(sums); mrr > most {
			name, best, most = of, sums, mrr
		}
	}
	return name, best, nil
}

// comparedHeuristics returns the heuristics that take part.
func (tx *Tx) comparedHeuristics() []string {
	all := []string{"common_neighbors", "adamic_adar", "resource_allocation", "ppr"}
	if tx.snap.Graph.NumEdges() > validationWalked {
		all = all[:3]
	}
	return all
}

// Bounds of a comparison. They limit it to a second or two on any graph.
const (
	validationShare      = 0.1  // share of the edges
	validationEdges      = 2000 // approximate number of edges
	leastValidationEdges = 20   // smallest number of edges for a comparison
	leastSources         = 10
	briefPart            = 4    // the part of the questions, one in 4, that a brief comparison asks of all
	validationWalked     = 4e6  // largest number of edges of a graph on which ppr takes part, which solves to the database's epsilon
	validationEpsilon    = 1e-4 // error allowed for the PageRank that spreads the scores of models, relative to the scores
)

// validation is the edges that are left out of a training, and questions about them.
//
// Whether an edge is left out is a function of the database's seed and of the edge. A later
// training leaves out the same edges, or some of them if the graph has grown, so its comparison is
// fair to the version before.
type validation struct {
	rest      *Tx // the graph without the edges
	progress  *model.Meter
	share     float64 // share of the edges that is left out
	edges     int
	brief     bool // see measureRival
	questions hidden.Questions
	tasks     []task // the questions
}

// task is a question, and what its contenders share.
type task struct {
	hidden.Question
	known walk.Known
}

// leaveOut leaves edges out for a comparison. It returns nil if there can be none, and says why.
func (tx *Tx) leaveOut(ctx context.Context) (v *validation, skipped string, err error) {
	meta := &tx.snap.Meta
	n := float64(tx.snap.Graph.NumEdges() - tx.snap.Graph.NumLoops())
	v = &validation{share: min(validationShare, validationEdges/max(n, 1))}
	if v.share*n < leastValidationEdges {
		return nil, fmt.Sprintf("the graph has %s without loops, and a comparison takes %d",
			words.Count(int(n), "edge"), int(leastValidationEdges/validationShare)), nil
	}
	pairs, err := hidden.Lowest(ctx, tx.snap.Graph, meta.Seed, v.share)
	if err != nil {
		return nil, "", err
	}
	v.edges = len(pairs)
	v.rest, err = tx.without(ctx, pairs)
	if errors.Is(err, ErrTooLarge) { // there is enough memory for the changes that the edges make
		v.rest, err = tx.withoutFew(ctx, pairs)
	}
	if err != nil {
		return nil, "", err
	}
	links, err := hidden.ToBeFound(ctx, pairs, tx.snap.Graph.Directed())
	if err != nil {
		return nil, "", err
	}
	v.questions, err = hidden.NewQuestions(ctx, tx.snap.Graph, v.rest.snap.Graph, links, meta.Seed, hidden.Reach)
	switch {
	case err != nil:
		return nil, "", err
	case len(v.questions.All) < leastSources:
		return nil, fmt.Sprintf("only %s have a link that can be hidden, and a comparison takes %d",
			words.Count(len(v.questions.All), "node"), leastSources), nil
	case v.questions.Reached == 0:
		return nil, fmt.Sprintf("no path of up to three steps is left between the ends of %s that could be hidden",
			words.Count(v.edges, "edge")), nil
	}
	for _, q := range v.questions.All {
		v.tasks = append(v.tasks, task{Question: q})
	}
	return v, "", nil
}

// measure returns the sum of the reciprocal ranks of the links of each task. Half of the candidates
// with an equal score count as better. epsilon is the error allowed for PageRank; 0 means the
// database's.
func (v *validation) measure(ctx context.Context, s *model.Scorer, epsilon float64, tasks []task) ([]float64, error) {
	sums, errs := make([]float64, len(tasks)), make([]error, len(tasks))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(sums); i = int(next.Add(1)) - 1 {
				sums[i], errs[i] = v.measureOne(ctx, s, epsilon, &tasks[i])
				v.progress.Step(1)
			}
		})
	}
	workers.Wait()
	return sums, errors.Join(errs...)
}

func (v *validation) measureOne(ctx context.Context, s *model.Scorer, epsilon float64, q *task) (float64, error) {
	if err := ctx.Err(); err != nil || len(q.Found) == 0 {
		return 0, err
	}
	asked := question{start: ppr.Unit(q.Source), candidates: q.Candidates, scorer: s, walk: v.rest.walker(q.Source, true, epsilon)}
	asked.walk.Known = &q.known
	scores, err := asked.score(ctx, v.rest)
	if err != nil {
		return 0, err
	}
	var links, others []float64
	for i := range scores {
		if slices.Contains(q.Found, i) {
			links = append(links, scores[i].Score)
		} else {
			others = append(others, scores[i].Score)
		}
	}
	return float64(len(links)) * model.MRR(links, others), nil
}

func sum(values []float64) (total float64) {
	for _, x := range values {
		total += x
	}
	return total
}
