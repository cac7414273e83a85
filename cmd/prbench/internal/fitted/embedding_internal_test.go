package fitted

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"kith/model/nn"
)

// The gradient of the embedding's loss with respect to all its parameters matches finite
// differences.
func TestEmbeddingGradient(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w, c := worded(9, 5, 4)
	p, err := embedInputOf(c, w)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	e := newEmbedder(rng, c)
	for i := range e.gain {
		e.gain[i], e.shift[i] = 1+float32(rng.NormFloat64())/4, float32(rng.NormFloat64())/4
	}
	slope := noise(rng, 9, embedLen) // slope of the loss Σ slope z
	loss := func() float64 {
		e.forward(ctx, p)
		sum := 0.0
		for i, z := range e.z.Data {
			sum += float64(z) * float64(slope.Data[i])
		}
		return sum
	}
	loss()
	e.dz = nn.Resize(e.dz, 9, embedLen)
	copy(e.dz.Data, slope.Data)
	grad := make([]float32, len(e.theta))
	e.backward(ctx, p, grad)
	bad := 0
	for i := 0; i < len(e.theta); i += 7 {
		const step = 1e-2
		was := e.theta[i]
		e.theta[i] = was + step
		up := loss()
		e.theta[i] = was - step
		down := loss()
		e.theta[i] = was
		if want := (up - down) / (2 * step); math.Abs(want-float64(grad[i])) > 0.02*(1+math.Abs(want)) {
			if bad++; bad < 10 {
				t.Errorf("derivative %d of %d: %v, by differences %v", i, len(grad), grad[i], want)
			}
		}
	}
}

// unfold adds the derivative of the product of two vectors.
func TestEmbeddingUnfold(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	e := &embedder{z: noise(rng, 2, embedLen), dz: noise(rng, 2, embedLen)}
	clear(e.dz.Data)
	dx := noise(rng, 1, embedLen).Data
	e.addProductGradient(Pair{Source: 0, Target: 1}, dx)
	for j, d := range dx {
		if nn.Row(e.dz, 0)[j] != d*nn.Row(e.z, 1)[j] || nn.Row(e.dz, 1)[j] != d*nn.Row(e.z, 0)[j] {
			t.Fatalf("entry %d: %v, %v", j, nn.Row(e.dz, 0)[j], nn.Row(e.dz, 1)[j])
		}
	}
}

func TestWordsDrop(t *testing.T) {
	t.Parallel()
	w, c := worded(60, 30, 5)
	full, err := wordsOf(c, w)
	if err != nil {
		t.Fatal(err)
	}
	part := drop(full, rand.New(rand.NewPCG(1, 1)), 0.7)
	all, kept := 0, 0
	for u, r := range part.Rows {
		all += len(full.Rows[u].At)
		kept += len(r.At)
	}
	if share := float64(kept) / float64(all); math.Abs(share-0.3) > 0.06 {
		t.Errorf("kept %v of the words, want 0.3", share)
	}
}
