package model

import (
	"context"
	"math/rand/v2"
	"sync"

	"kith/model/internal/graphtest"
)

// mesh is a small graph in memory with an exact walker, used as the world of the tests.
type mesh struct {
	*graphtest.Mesh

	mu     sync.Mutex
	solved map[solvedWalk][]float64 // walks from one node that were solved since the last add
}

// solvedWalk identifies a walk that starts at one node.
type solvedWalk struct {
	walk   Walk
	source ID
}

func newMesh(n int, directed bool, edges ...[2]ID) *mesh {
	return &mesh{Mesh: graphtest.New(n, directed, edges...)}
}

func (g *mesh) add(u, v ID) {
	g.solved = nil
	g.Add(u, v)
}

// without returns the graph without the hidden edges.
func (g *mesh) without(hidden [][2]ID) *mesh { return &mesh{Mesh: g.Without(hidden)} }

func (g *mesh) world(f func(ID) []float32) World { return World{Graph: g, Features: f, Walk: exact{g}} }

// exact solves walks by power iteration.
type exact struct{ g *mesh }

func (e exact) solve(w Walk, h []float64) []float64 {
	v, next := make([]float64, len(h)), make([]float64, len(h))
	for range 200 {
		clear(next)
		for u := range h {
			next[u] += (1 - w.Alpha) * h[u]
			for _, to := range e.g.Succ[u] {
				if share := w.Alpha / float64(len(e.g.Succ[u])); w.Column {
					next[to] += share * v[u]
				} else {
					next[u] += share * v[to]
				}
			}
		}
		v, next = next, v
	}
	return v
}

// solveFrom solves a walk that starts at one node, once.
func (e exact) solveFrom(w Walk, source ID) []float64 {
	e.g.mu.Lock()
	defer e.g.mu.Unlock()
	key := solvedWalk{w, source}
	if v, ok := e.g.solved[key]; ok {
		return v
	}
	h := make([]float64, len(e.g.Succ))
	h[source] = 1
	v := e.solve(w, h)
	if e.g.solved == nil {
		e.g.solved = map[solvedWalk][]float64{}
	}
	e.g.solved[key] = v
	return v
}

func (e exact) Proximity(_ context.Context, alpha float64, source ID, at []ID) (to, from []float64, err error) {
	seen := e.solveFrom(Walk{Alpha: alpha, Column: true}, source)
	reach := e.solveFrom(Walk{Alpha: alpha}, source) // row form: mass at source of a walk from each node
	for _, c := range at {
		to, from = append(to, seen[c]), append(from, reach[c])
	}
	return to, from, nil
}

func (e exact) Propagate(_ context.Context, w Walk, h Start, at []ID) (v, bound []float64, err error) {
	full := make([]float64, len(e.g.Succ))
	for i, u := range h.Node {
		full[u] = h.Value[i]
	}
	all := e.solve(w, full)
	for _, c := range at {
		v, bound = append(v, all[c]), append(bound, 1e-12)
	}
	return v, bound, nil
}

// randomMesh is a random graph with n nodes and up to m edges.
func randomMesh(n, m int, directed bool) *mesh {
	rng := rand.New(rand.NewPCG(7, 7))
	g := newMesh(n, directed)
	for range m {
		g.add(ID(rng.IntN(n)), ID(rng.IntN(n)))
	}
	return g
}

// rounds is a stream of questions about a graph of two groups, with known answers.
type rounds struct {
	rng  *rand.Rand
	mesh *mesh
}

const groupSize = 15

func newRounds(seed uint64) *rounds {
	return &rounds{rng: rand.New(rand.NewPCG(seed, 9)), mesh: newMesh(2*groupSize, false)}
}

// feature returns a vector that indicates the node's group.
func (r *rounds) feature(u ID) []float32 {
	side := float32(1)
	if u >= groupSize {
		side = -1
	}
	return []float32{side, 1, float32(u%5) / 5}
}

// play lets the model answer n questions and learn from them. It returns the number of wrong
// answers.
func (r *rounds) play(m *Model, n int) (wrong int, err error) {
	ctx := context.Background()
	for range n {
		source, candidates := ID(r.rng.IntN(2*groupSize)), r.candidates()
		w := r.mesh.world(r.feature)
		scores, err := m.Scorer().Score(ctx, w, Pairs(source, candidates))
		if err != nil {
			return wrong, err
		}
		best := 0
		for i, s := range scores {
			if s.Score > scores[best].Score {
				best = i
			}
		}
		x, err := m.Scorer().Contexts(ctx, w, Pairs(source, candidates))
		if err != nil {
			return wrong, err
		}
		reward := 0.0
		if (source < groupSize) == (candidates[best] < groupSize) {
			reward = 1
			r.mesh.add(source, candidates[best])
		} else {
			wrong++
		}
		if _, err := m.Observe(m.Trim(Outcome{Contexts: x, Chosen: best, Reward: reward})); err != nil {
			return wrong, err
		}
	}
	return wrong, nil
}

func (r *rounds) candidates() (c []ID) {
	for _, u := range r.rng.Perm(2 * groupSize)[:6] {
		c = append(c, ID(u))
	}
	return c
}
