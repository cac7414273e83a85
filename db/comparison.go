package db

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kith/model"
)

// DeployRule says when a training deploys the version that it made.
type DeployRule string

// Rules for deployment.
const (
	// DeployBetter deploys a version unless its comparison says that it is worse: see Comparison.Held. A version without a
	// comparison is deployed.
	DeployBetter DeployRule = ""
	DeployAlways DeployRule = "always"
	DeployNever  DeployRule = "never"
)

// Trained is a version that a training made.
type Trained struct {
	ModelInfo
	Held       bool       `json:"held"` // whether the version is stored without being deployed
	Comparison Comparison `json:"comparison"`
}

// Comparison says how well a new version of a model finds edges that were hidden from its training, and how well others find
// them. The zero value means that there was no comparison.
//
// A tenth of the edges is hidden, at most about 2,000 edges. Which edges these are depends on the database's seed and on the
// edge alone, so an earlier training has not seen them either. The sources are up to 200 nodes with a hidden link, and the
// candidates of each are up to 200 of the nodes two steps away, or three where no hidden link is nearer. A link further away
// counts as missed.
type Comparison struct {
	Hidden  int `json:"hidden"`  // number of edges that were hidden
	Sources int `json:"sources"` // number of nodes whose links were to be found
	Links   int `json:"links"`   // number of links to be found; an undirected edge may be one from either of its ends
	// Standings are those of the new version, of the version before if it is trained, of the learned start and of the best of
	// the heuristics common_neighbors, adamic_adar, resource_allocation and ppr, in this order.
	Standings []Standing `json:"standings"`
}

// Role is the part of a contender in a Comparison.
type Role string

// The roles of a comparison.
const (
	RoleNew       Role = "new"
	RoleBefore    Role = "before"
	RolePrior     Role = "prior"
	RoleHeuristic Role = "heuristic"
)

// Standing is how well one contender of a Comparison finds links.
type Standing struct {
	Role    Role    `json:"role"`
	Name    string  `json:"name"`    // "version 2", "prior" or the name of a heuristic
	MRR     float64 `json:"mrr"`     // mean reciprocal rank of the links among the candidates without an edge
	Better  bool    `json:"better"`  // better than the new version, by more than two standard errors of the differences by source
	Worse   bool    `json:"worse"`   // worse than the new version, by as much
	Trained bool    `json:"trained"` // may have learned from hidden links or their outcomes, which flatters it
}

// Standing returns the standing in a role, and whether there is one.
func (c *Comparison) Standing(r Role) (Standing, bool) {
	for _, s := range c.Standings {
		if s.Role == r {
			return s, true
		}
	}
	return Standing{}, false
}

// Held returns the standings that keep DeployBetter from deploying the new version: those that are better. It returns none where
// the version before is worse than the new version, because that version would stay deployed.
func (c *Comparison) Held() (because []Standing) {
	if before, ok := c.Standing(RoleBefore); ok && before.Worse {
		return nil
	}
	for _, s := range c.Standings {
		if s.Better {
			because = append(because, s)
		}
	}
	return because
}

// ahead reports whether the new version is better than the version before, and no contender is better by more than
// chance explains.
func (c *Comparison) ahead() bool {
	fresh, measured := c.Standing(RoleNew)
	before, ok := c.Standing(RoleBefore)
	return measured && len(c.Held()) == 0 && (!ok || fresh.MRR > before.MRR)
}

// String returns the standings on one line.
func (c *Comparison) String() string {
	var all []string
	for _, s := range c.Standings {
		text := fmt.Sprintf("%s %.3f", s.Name, s.MRR)
		if s.Trained {
			text += " (it may have learned of some of them)"
		}
		all = append(all, text)
	}
	return fmt.Sprintf("mrr of %s of %s, hidden from the training: %s",
		counted(c.Links, "link"), counted(c.Sources, "node"), strings.Join(all, ", "))
}

// compare compares a trained model with the version before, the prior and heuristics, on the edges left out of its training.
func (v *validation) compare(ctx context.Context, tx *Tx, l *learner) (c Comparison, err error) {
	fresh, err := v.enter(ctx, tx, l.model.Scorer())
	if err != nil || fresh == nil {
		return c, err
	}
	c = Comparison{Hidden: v.edges, Sources: len(v.questions), Links: v.links}
	add := func(role Role, name string, sums []float64, trained bool) {
		total := 0.0
		for _, x := range sums {
			total += x
		}
		s := Standing{Role: role, Name: name, MRR: total / float64(v.links), Trained: trained}
		if role != RoleNew {
			s.Better, s.Worse = beyondChance(sums, fresh), beyondChance(fresh, sums)
		}
		c.Standings = append(c.Standings, s)
	}
	add(RoleNew, fmt.Sprintf("version %d", l.next()), fresh, l.model.Rounds() > 0)
	if before := tx.snap.models[l.name]; before != nil && before.trained {
		sums, err := v.enter(ctx, tx, before.scorer)
		if err != nil {
			return c, err
		}
		if at, _ := before.find(before.Version); sums != nil {
			add(RoleBefore, fmt.Sprintf("version %d", before.Version), sums, before.rounds > 0 || at.LeftOut < v.share)
		}
	}
	sums, err := v.measure(ctx, tx.db.priors.of(featureLen(tx.snap.Snapshot)), validationEpsilon)
	if err != nil {
		return c, err
	}
	add(RolePrior, "prior", sums, false)
	name, sums, err := v.bestHeuristic(ctx, tx)
	if err == nil {
		add(RoleHeuristic, name, sums, false)
	}
	return c, err
}

// enter measures a model. It returns nil for a model that takes too much memory.
func (v *validation) enter(ctx context.Context, tx *Tx, s *model.Scorer) ([]float64, error) {
	if s.Bytes(v.rest.snap.Graph.NumNodes()) > tx.db.opts.Memory/2 {
		return nil, nil
	}
	sums, err := v.measure(ctx, s, validationEpsilon)
	if errors.Is(err, ErrTooLarge) {
		return nil, nil
	}
	return sums, err
}

// bestHeuristic returns the heuristic that finds the links best.
func (v *validation) bestHeuristic(ctx context.Context, tx *Tx) (name string, best []float64, err error) {
	most := -1.0
	for _, of := range []string{"common_neighbors", "adamic_adar", "resource_allocation", "ppr"} {
		h, err := tx.heuristic(of)
		if err != nil {
			return "", nil, err
		}
		sums, err := v.measure(ctx, h.scorer, 0) // a coarse ppr does not order the neighbours of a node of large degree
		if err != nil {
			return "", nil, err
		}
		total := 0.0
		for _, x := range sums {
			total += x
		}
		if total > most {
			name, best, most = of, sums, total
		}
	}
	return name, best, nil
}
