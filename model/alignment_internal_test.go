package model

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// placed returns copies of the vectors that begin at multiples of 16 bytes, each at a random one
// within 64 bytes.
func placed(rng *rand.Rand, vectors [][]float32) [][]float32 {
	all := make([][]float32, len(vectors))
	for u, v := range vectors {
		memory := make([]float32, len(v)+32)
		at := 0
		for uintptr(unsafe.Pointer(&memory[at]))%16 != 0 {
			at++
		}
		at += 4 * rng.IntN(4)
		all[u] = append(memory[at:at:at+len(v)], v...)
	}
	return all
}

// The bits of scores depend on the numbers of feature vectors alone, not on where they or the
// memory of a question lie, for nodes with vectors of a training and for nodes that are newer.
func TestAlignment(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx := context.Background()
	const nodes, newer = 60, 20
	for _, policy := range []string{"default", "prb"} {
		for _, d := range []int{5, 6, 17} {
			rng := rand.New(rand.NewPCG(uint64(d), 1))
			vectors := make([][]float32, nodes+newer)
			for u := range vectors {
				for range d {
					vectors[u] = append(vectors[u], float32(rng.NormFloat64()))
				}
			}
			g, later := randomMesh(nodes, 250, false), newMesh(nodes+newer, false)
			for u, row := range g.Succ {
				for _, v := range row {
					later.add(ID(u), v)
				}
			}
			for u := range newer {
				for range 4 {
					later.add(ID(nodes+u), ID(rng.IntN(nodes)))
				}
			}
			world := func(g *mesh) World {
				at := placed(rng, vectors)
				return g.world(func(u ID) []float32 { return at[u] })
			}
			m := newModel(t, policy, "", d)
			err := m.TrainEdges(ctx, g, EdgePlan{Samples: 60, Epochs: 2}, func(hidden [][2]ID) (World, error) { return world(g.without(hidden)), nil })
			if err != nil {
				t.Fatalf("%s: %v", policy, err)
			}
			var want [][]Score
			var kept [][]float32
			for round := range 3 {
				w := world(later)
				for source := ID(0); source < nodes+newer; source += 7 {
					for range rng.IntN(3) { // the next memory of this size lies elsewhere
						kept = append(kept, make([]float32, 5))
					}
					var targets []ID
					for u := ID(0); u < nodes+newer; u += 3 {
						if u != source {
							targets = append(targets, u)
						}
					}
					got, err := m.Scorer().Score(ctx, w, Pairs(source, targets))
					if err != nil {
						t.Fatalf("%s: %v", policy, err)
					}
					if round == 0 {
						want = append(want, got)
						continue
					}
					for i, s := range got {
						if before := want[source/7][i]; math.Float64bits(s.Score) != math.Float64bits(before.Score) {
							t.Fatalf("%s, %d features, round %d: pair %d, %d has score %v, before %v", policy, d, round, source, targets[i], s.Score, before.Score)
						}
					}
				}
			}
			_ = kept
		}
	}
}
