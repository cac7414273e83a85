package model

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"kith/model/internal/column"
	"kith/model/nn"
)

// Model is the learner: the networks, their samples, and the state of their training. It is not
// safe for concurrent use; scoring is done by its Scorers.
type Model struct {
	config  config
	policy  policy
	source  *rand.PCG // state of the random number generator
	rounds  int       // outcomes observed
	trained bool      // at least one training has happened
	// outdated is true if the model was stored with other columns, so that what it had learned is
	// lost.
	outdated  bool
	exploit   *nn.Regressor // nil if the policy has no networks
	belief    *belief       // nil if f1 is a network
	explore   *nn.Regressor // nil if the policy does not explore
	forecast  *forecast     // nil if no events were learned
	scorer    *Scorer       // snapshot of the current state; nil after a change
	scratch   scratch
	scratches *sync.Pool // pool of *scratch for its scorers
}

// Outcome is the feedback of one round.
type Outcome struct {
	Pair Pair // the pair whose reward is known
	// Contexts has one row for each candidate, as built by Scorer.Contexts. nil means unknown or
	// from other columns; then a belief learns only the outcome of the pair, and networks learn
	// nothing.
	Contexts []float32
	Chosen   int // row of Contexts whose reward is known
	Reward   float64
	// Offered holds the targets that the pair was chosen from, including its own, once for each
	// time on offer. nil means unknown. Only a belief learns from it.
	Offered []ID
}

// New creates an untrained model. It returns ErrOption with the invalid part of the spec.
func New(spec Spec) (*Model, error) {
	c, err := spec.resolve()
	if err != nil {
		return nil, err
	}
	return untrained(c)
}

// optimism is the initial value of f1's output bias: the estimate for pairs unlike any tried
// before.
const optimism = 1

// untrained makes a model with its initial weights.
func untrained(c config) (*Model, error) {
	m, err := build(c)
	if err != nil || m.exploit == nil {
		return m, err
	}
	rng := rand.New(m.source)
	for _, r := range m.regressors() {
		if c.Uniform {
			r.Net.InitUniform(rng)
		} else {
			r.Net.InitNormal(rng)
		}
	}
	if c.Uniform {
		m.exploit.Net.AddBias(optimism)
	}
	return m, nil
}

// build makes a model with all weights zero.
func build(c config) (*Model, error) {
	p, err := policyOf(c.Policy)
	if err != nil {
		return nil, err
	}
	m := &Model{config: c, policy: p, source: rand.NewPCG(c.Seed, 0), scratch: *newScratch(&c), scratches: scratchesFor(&c)}
	switch {
	case p.believes:
		m.belief = newBelief(&m.config)
	case p.learns:
		m.exploit = nn.NewRegressor(c.exploitShape(), c.Exploit, c.Replay)
	}
	if p.explores {
		m.explore = nn.NewRegressor(c.exploreShape(), c.Explore, c.Replay)
	}
	return m, nil
}

func (m *Model) regressors() (all []*nn.Regressor) {
	for _, r := range []*nn.Regressor{m.exploit, m.explore} {
		if r != nil {
			all = append(all, r)
		}
	}
	return all
}

// Policy returns the name of the policy.
func (m *Model) Policy() string { return m.config.Policy }

// Learns reports whether outcomes change the scores. Only such policies have contexts, which a
// preset describes.
func (m *Model) Learns() bool { return m.policy.learns }

// FeatureLen returns the length of the feature vectors that the model was created for.
func (m *Model) FeatureLen() int { return m.config.FeatureLen }

// Words reports whether the model learns from the words of nodes, World.Words.
func (m *Model) Words() bool { return m.config.Words && m.policy.believes }

// Options yields every option with its value. Preset and seed come first.
func (m *Model) Options() iter.Seq2[string, any] { return m.config.all() }

// Reads reports whether the policy uses an option.
func (m *Model) Reads(option string) bool { return m.policy.reads(option) }

// Rounds returns the number of observed outcomes.
func (m *Model) Rounds() int { return m.rounds }

// Trained reports whether the weights differ from their initial values.
func (m *Model) Trained() bool { return m.trained }

// Bytes returns the memory that the model takes, without its scorers.
func (m *Model) Bytes() int {
	n := 1 << 10
	for _, r := range m.regressors() {
		n += r.Bytes()
	}
	n += m.belief.bytes() + m.forecast.bytes()
	return n
}

// Observe learns from one outcome. Networks keep it for replay and are trained if this round is in
// the schedule, or make a step on it with option step = round; a belief learns it at once. Observe
// returns ErrInput, and changes nothing, for a reward or a context that is not finite, an outcome
// of the wrong size, or a node that a belief cannot remember.
func (m *Model) Observe(o Outcome) (trained bool, err error) {
	if err := m.check(o); err != nil {
		return false, err
	}
	m.scorer = nil
	if m.belief != nil {
		m.belief.observe(o.Pair, m.chosen(o), o.Reward, m.offer(o))
		m.rounds, m.trained = m.rounds+1, m.trained || o.Contexts != nil
		return o.Contexts != nil, nil
	}
	if m.policy.learns && o.Contexts != nil {
		m.record(o)
	}
	m.rounds++
	switch {
	case !m.policy.learns:
	case m.config.EachRound && o.Contexts != nil: // PRB, algorithm 1, lines 17 and 18
		trained = m.exploit.Step(1)
		if m.explore != nil {
			m.explore.Step(1)
		}
	case !m.config.EachRound && m.config.Schedule.due(m.rounds):
		rng := rand.New(m.source)
		trained = m.exploit.Train(rng)
		if m.explore != nil {
			m.explore.Train(rng)
		}
	}
	m.trained = m.trained || trained
	return trained, nil
}

// Trim drops the parts of an outcome that Observe would not learn from, so that it can be stored
// compactly. The result shares memory with o. Observe(Trim(o)) has the same effect on the model as
// Observe(o).
func (m *Model) Trim(o Outcome) Outcome {
	if !m.policy.learns {
		return Outcome{Pair: o.Pair, Reward: o.Reward}
	}
	if m.check(o) != nil {
		return o
	}
	return Outcome{Pair: o.Pair, Contexts: m.chosen(o), Reward: o.Reward, Offered: m.offer(o)}
}

// chosen returns the context of the chosen candidate, nil if it is unknown.
func (m *Model) chosen(o Outcome) []float32 {
	if o.Contexts == nil {
		return nil
	}
	d := m.config.width()
	return o.Contexts[o.Chosen*d : (o.Chosen+1)*d]
}

// maxOffered is the length of the longest offer that is informative about its nodes.
const maxOffered = 4096

// offer returns the part of an outcome's offer that the model learns from.
func (m *Model) offer(o Outcome) []ID {
	if m.belief == nil || !m.config.Offers || len(o.Offered) > maxOffered {
		return nil
	}
	return o.Offered
}

// Fits reports whether Observe would accept the outcome.
func (m *Model) Fits(o Outcome) bool { return m.check(o) == nil }

func (m *Model) check(o Outcome) error {
	if math.IsNaN(o.Reward) || math.Abs(o.Reward) > math.MaxFloat32 {
		return fmt.Errorf("%w: reward %v", ErrInput, o.Reward)
	}
	if !m.policy.learns {
		return nil
	}
	d := m.config.width()
	if o.Contexts != nil && (len(o.Contexts)%d != 0 || o.Chosen < 0 || o.Chosen >= len(o.Contexts)/d) {
		return fmt.Errorf("%w: %d context numbers, %d a candidate, candidate %d chosen", ErrInput, len(o.Contexts), d, o.Chosen)
	}
	if !nn.Finite(o.Contexts...) {
		return fmt.Errorf("%w: a context is not finite", ErrInput)
	}
	if m.belief != nil {
		return remembered(append([]ID{o.Pair.Source, o.Pair.Target}, m.offer(o)...))
	}
	return nil
}

// record adds an outcome to the samples, with φ and the residual of f1 for the current weights.
func (m *Model) record(o Outcome) {
	x := m.chosen(o)
	offset := m.config.offset(x)
	if m.explore != nil {
		f1 := m.exploit.Net.Forward(&m.scratch.net, nn.NewMatrix(x, len(x)))[0] + float32(offset)
		m.scratch.pooled = nn.Resize(m.scratch.pooled, 1, m.explore.Data.Dim)
		m.exploit.Net.Phi(&m.scratch.net, m.config.Pool, m.scratch.pooled)
		m.explore.Data.Add(m.scratch.pooled.Data, o.Reward-float64(f1))
	}
	m.exploit.Data.Add(x, o.Reward-offset)
}

// offset is the part of a network's f1 that is not learned.
func (c *config) offset(x []float32) float64 {
	if !c.Prior {
		return 0
	}
	return prior(x[len(x)-column.StructuralLen:])
}

// VectorsLeftOut returns the number of bytes that the vectors of the nodes would have taken in the
// last training from edges, if it left them out because they did not fit into its memory; otherwise
// 0.
func (m *Model) VectorsLeftOut() int64 {
	if m.belief == nil {
		return 0
	}
	return m.belief.leftOut
}

// Nodes returns the nodes whose ids the model contains, ascending: the nodes in the memory of its
// belief or forecast, and the nodes that a training computed vectors of.
func (m *Model) Nodes() []ID {
	var all []ID
	if m.belief != nil {
		for d := range m.belief.memory.all() {
			all = append(all, d.Node)
			for _, p := range d.Pairs {
				all = append(all, p.Target)
			}
		}
		if v := m.belief.vectors; v != nil {
			for u := range ID(v.Nodes()) {
				all = append(all, u)
			}
		}
		if r := m.belief.relational; r != nil {
			r.set.Nodes(func(u ID) { all = append(all, u) })
			r.factors.Nodes(func(u ID) { all = append(all, u) })
		}
	}
	if m.forecast != nil {
		all = append(all, m.forecast.Memory.nodes()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Renamed returns a copy of the model for a graph in which the nodes have other ids and the
// relations other numbers. to and relation must be injective. Data of nodes and relations that are
// not there is dropped.
func (m *Model) Renamed(to func(ID) (ID, bool), relation func(int) (int, bool)) (*Model, error) {
	c, err := m.Clone()
	if err == nil {
		err = c.LoadVectors()
	}
	if err != nil {
		return nil, err
	}
	if b := c.belief; b != nil {
		b.memory, b.vectors, b.relational = b.memory.renamed(to), b.vectors.Renamed(to), b.relational.renamed(to, relation)
	}
	if c.forecast != nil {
		c.forecast.Memory.rename(to)
	}
	return c, nil
}

// renamed returns the memory of the renamed nodes.
func (m *memory) renamed(to func(ID) (ID, bool)) memory {
	out := memory{total: m.total}
	for d := range m.all() {
		u, ok := to(d.Node)
		if !ok {
			continue
		}
		n := nodeMemory{Target: d.Target}
		for _, p := range d.Pairs {
			if v, ok := to(p.Target); ok {
				*n.pair(v) = p.counts
			}
		}
		out.put(nodeDocument{u, d.Offers, n})
	}
	return out
}
