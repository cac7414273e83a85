package recommend

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"kith/model/nn"
)

// dense returns the training part as a matrix.
func (s *Split) dense() *mat.Dense {
	r := mat.NewDense(len(s.Train), s.Items, nil)
	for u, items := range s.Train {
		for _, i := range items {
			r.Set(u, int(i), 1)
		}
	}
	return r
}

// scores returns the scores of a rival for all users and items.
func (s *Split) scores(t *testing.T, r *Rival, values ...float64) *mat.Dense {
	t.Helper()
	score, err := r.Fit(context.Background(), s, values, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s.table(score)
}

// table returns the scores of all users and items.
func (s *Split) table(score Scorer) *mat.Dense {
	all := mat.NewDense(len(s.Train), s.Items, nil)
	for u := range s.Train {
		row := make([]float32, s.Items)
		score(u, row)
		for i, v := range row {
			all.Set(u, i, float64(v))
		}
	}
	return all
}

// compare wants the scores of items that a user does not have in training. Scores of other items
// make no difference.
func (s *Split) compare(t *testing.T, got, want *mat.Dense, tolerance float64) {
	t.Helper()
	for u, items := range s.Train {
		for i := range s.Items {
			_, has := slices.BinarySearch(items, uint32(i))
			g, w := got.At(u, i), want.At(u, i)
			if !has && !(math.Abs(g-w) <= tolerance) {
				t.Fatalf("user %d, item %d: score %v, want %v", u, i, g, w)
			}
		}
	}
}

// degrees returns the number of items of each user, and of users of each item, as diagonal matrices
// to the power of p, with zeros for users and items without any.
func (s *Split) degrees(p float64) (users, items *mat.DiagDense) {
	power := func(n int) float64 {
		if n == 0 {
			return 0
		}
		return math.Pow(float64(n), p)
	}
	users, items = mat.NewDiagDense(len(s.Train), nil), mat.NewDiagDense(s.Items, nil)
	for u, of := range s.Train {
		users.SetDiag(u, power(len(of)))
	}
	for i, of := range s.matrix().users {
		items.SetDiag(i, power(len(of)))
	}
	return users, items
}

// product returns the product of matrices.
func product(all ...mat.Matrix) *mat.Dense {
	p := mat.DenseCopyOf(all[0])
	for _, m := range all[1:] {
		var next mat.Dense
		next.Mul(p, m)
		p = &next
	}
	return p
}

func TestPopularity(t *testing.T) {
	t.Parallel()
	s := made(30, 20, 1)
	ones := mat.NewDense(len(s.Train), len(s.Train), nil)
	ones.Apply(func(int, int, float64) float64 { return 1 }, ones)
	s.compare(t, s.scores(t, popularity()), product(ones, s.dense()), 0)
}

// With all neighbors the similarities are the dense matrix of cosines, with few the largest ones of
// each item.
func TestItemKNN(t *testing.T) {
	t.Parallel()
	s := made(40, 25, 2)
	r := s.dense()
	_, items := s.degrees(1)
	cosines := product(r.T(), r)
	cosines.Apply(func(i, j int, shared float64) float64 {
		if i == j || shared == 0 {
			return 0
		}
		return shared / (math.Sqrt(items.At(i, i)*items.At(j, j)) + 3)
	}, cosines)
	s.compare(t, s.scores(t, itemKNN(), 25, 3), product(r, cosines), 1e-5)
	for i := range s.Items {
		keepLargest(cosines.RawRowView(i), 4)
	}
	s.compare(t, s.scores(t, itemKNN(), 4, 3), product(r, cosines.T()), 1e-5)
}

// keepLargest sets all but the k largest entries to 0.
func keepLargest(row []float64, k int) {
	order := make([]int, len(row))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row[b], row[a]) })
	for _, i := range order[k:] {
		row[i] = 0
	}
}

// With all neighbors the scores are the product of the matrices of three random steps, over the
// popularity to the power of beta.
func TestRP3Beta(t *testing.T) {
	t.Parallel()
	s := made(40, 25, 3)
	r := s.dense()
	users, items := s.degrees(-1)
	_, penalty := s.degrees(-0.4)
	walk := product(items, r.T(), users, r)
	for i := range s.Items {
		walk.Set(i, i, 0) // only the items that the user has
	}
	walk = product(walk, penalty)
	s.compare(t, s.scores(t, rp3beta(), 25, 0.4), product(r, walk), 1e-6)
	back := mat.DenseCopyOf(walk.T())
	for i := range s.Items {
		keepLargest(back.RawRowView(i), 5)
	}
	s.compare(t, s.scores(t, rp3beta(), 5, 0.4), product(r, back.T()), 1e-6)
}

// The weights of EASE are those that the inverse of the Gram matrix gives.
func TestEASE(t *testing.T) {
	t.Parallel()
	s := made(40, 25, 4)
	r := s.dense()
	gram := product(r.T(), r)
	for i := range s.Items {
		gram.Set(i, i, gram.At(i, i)+2)
	}
	var p mat.Dense
	if err := p.Inverse(gram); err != nil {
		t.Fatal(err)
	}
	b := mat.NewDense(s.Items, s.Items, nil)
	b.Apply(func(i, j int, _ float64) float64 {
		if i == j {
			return 0
		}
		return -p.At(i, j) / p.At(j, j)
	}, b)
	s.compare(t, s.scores(t, ease(), 2), product(r, b), 1e-5)
}

// The objective of iALS falls with each sweep, until its gradient vanishes.
func TestIALS(t *testing.T) {
	t.Parallel()
	s := made(40, 25, 5)
	f := newFactorization(s.matrix(), 6, 1)
	f.alpha0, f.lambda = 0.2, 0.01
	last := math.Inf(1)
	for sweep := range 400 {
		if err := f.sweep(context.Background()); err != nil {
			t.Fatal(err)
		}
		now := f.objective()
		if now > last*(1+1e-7) || sweep < 10 && now > last*(1-1e-5) {
			t.Fatalf("sweep %d: the objective goes from %v to %v", sweep, last, now)
		}
		last = now
	}
	for _, x := range []blas32.General{f.users, f.items} {
		for i := range x.Data {
			if g := f.slope(&x.Data[i]); math.Abs(g) > 1e-3 {
				t.Fatalf("the derivative by element %d of %d is %v", i, len(x.Data), g)
			}
		}
	}
	products := mat.NewDense(len(s.Train), s.Items, nil)
	products.Apply(func(u, i int, _ float64) float64 { return f.product(u, i) }, products)
	s.compare(t, s.table(f.scorer()), products, 1e-6)
}

func (f *factorization) product(user, item int) float64 {
	return nn.Product64(nn.Row(f.users, user), nn.Row(f.items, item))
}

// objective returns the objective, computed from all entries of the matrix.
func (f *factorization) objective() (sum float64) {
	for u, items := range f.m.items {
		for i := range f.m.users {
			v := f.product(u, i)
			sum += f.alpha0 * v * v
			if _, linked := slices.BinarySearch(items, uint32(i)); linked {
				sum += (1 - v) * (1 - v)
			}
		}
	}
	for _, side := range []struct {
		x      blas32.General
		links  [][]uint32
		others int
	}{{f.users, f.m.items, len(f.m.users)}, {f.items, f.m.users, len(f.m.items)}} {
		for u, links := range side.links {
			lambda := f.lambda * (float64(len(links)) + f.alpha0*float64(side.others))
			sum += lambda * nn.Product64(nn.Row(side.x, u), nn.Row(side.x, u))
		}
	}
	return sum
}

// slope returns the derivative of the objective by an element of a vector. The objective is a
// parabola of each element.
func (f *factorization) slope(element *float32) float64 {
	was := *element
	defer func() { *element = was }()
	*element = was + 0.125
	right, above := *element, f.objective()
	*element = was - 0.125
	return (above - f.objective()) / float64(right-*element)
}

// GF-CF agrees with the formulas of the paper on dense matrices.
func TestGFCF(t *testing.T) {
	t.Parallel()
	s := made(60, 25, 6)
	r := s.dense()
	users, items := s.degrees(-0.5)
	_, roots := s.degrees(0.5)
	n := product(users, r, items)
	var svd mat.SVD
	if !svd.Factorize(n, mat.SVDThin) {
		t.Fatal("no singular vectors")
	}
	var v mat.Dense
	svd.VTo(&v)
	const vectors, weight = 4, 0.3
	leading := v.Slice(0, s.Items, 0, vectors)
	ideal := product(items, leading, leading.T(), roots)
	ideal.Scale(weight, ideal)
	var both mat.Dense
	both.Add(product(n.T(), n), ideal)
	s.compare(t, s.scores(t, gfcf(), vectors, weight), product(r, &both), 1e-4)
	s.compare(t, s.scores(t, gfcf(), vectors, 0), product(r, n.T(), n), 1e-5)
}

// Rivals recommend the same items whatever the number of processors, and better ones than
// popularity.
func TestRivals(t *testing.T) {
	s := made(150, 60, 7)
	popular := 0.0
	for _, r := range Rivals() {
		grid := r.grid()
		values := grid[len(grid)/2]
		items, m := s.recommend(t, r, values)
		was := runtime.GOMAXPROCS(4)
		again, _ := s.recommend(t, r, values)
		runtime.GOMAXPROCS(was)
		if items != again {
			t.Errorf("on four processors, %s recommends\n%s\nelse\n%s", r.Name, again, items)
		}
		if r.Name == "popularity" {
			popular = m.NDCG20
		} else if m.NDCG20 < 1.5*popular {
			t.Errorf("%s: %+v, popularity has %v", r.Title(values), m, popular)
		}
	}
}

// recommend returns what a rival recommends to 100 users, as text, and its measures.
func (s *Split) recommend(t *testing.T, r *Rival, values []float64) (string, Measures) {
	t.Helper()
	score, err := r.Fit(context.Background(), s, values, 1)
	if err != nil {
		t.Fatal(err)
	}
	users := s.Users(100, 1)
	recommended, err := s.Recommend(context.Background(), users, score)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(recommended), s.Measure(users, recommended)
}

// The tuned values are the best ones of the grid on the part that is held out.
func TestTune(t *testing.T) {
	t.Parallel()
	s := made(150, 60, 8)
	for _, r := range []*Rival{popularity(), itemKNN(), gfcf()} {
		tuned, err := r.Tune(context.Background(), s, 100, 1)
		if err != nil {
			t.Fatal(err)
		}
		var best []float64
		highest := -1.0
		for _, values := range r.grid() {
			if _, m := s.HoldOut(1).recommend(t, r, values); m.NDCG20 > highest {
				highest, best = m.NDCG20, values
			}
		}
		if !slices.Equal(tuned, best) {
			t.Errorf("tuned to %s, want %s", r.Title(tuned), r.Title(best))
		}
	}
}

// The grid has all combinations, and the title names the values.
func TestGrid(t *testing.T) {
	t.Parallel()
	r := &Rival{Name: "r", options: []option{{"a", []float64{1, 2}}, {"b", []float64{0.5, 3, 4}}}}
	grid := r.grid()
	if got, want := fmt.Sprint(grid), "[[1 0.5] [1 3] [1 4] [2 0.5] [2 3] [2 4]]"; got != want {
		t.Errorf("grid %s, want %s", got, want)
	}
	if title := r.Title(grid[3]); title != "r, a 2, b 0.5" {
		t.Errorf("title %q", title)
	}
}
