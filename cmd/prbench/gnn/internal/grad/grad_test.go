package grad

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func random(r *rand.Rand, rows, cols int) *Param {
	p := FilledParam(rows, cols, 0)
	for i := range p.Value.Data {
		p.Value.Data[i] = float32(r.NormFloat64())
	}
	return p
}

// pattern has an empty row, a row with a repeated column, and one with all.
func pattern(val []float32) *CSR {
	return &CSR{Cols: 4, Ptr: []int32{0, 2, 2, 4, 8}, Col: []int32{1, 3, 2, 2, 0, 1, 2, 3}, Val: val}
}

// Gradients of each operation agree with central differences. The loss weights the entries of the
// result, so that no symmetry hides a fault.
func TestGradients(t *testing.T) {
	t.Parallel()
	values := []float32{0.5, -1, 2, 0.25, 1, -0.5, 0.75, 3}
	cases := map[string]struct {
		shapes [][2]int
		f      func(t *Tape, p []*Node) *Node
	}{
		"MatMul":   {[][2]int{{3, 5}, {5, 2}}, func(t *Tape, p []*Node) *Node { return t.MatMul(p[0], p[1]) }},
		"Add":      {[][2]int{{3, 5}, {3, 5}}, func(t *Tape, p []*Node) *Node { return t.Add(p[0], p[1]) }},
		"Bias":     {[][2]int{{3, 5}, {1, 5}}, func(t *Tape, p []*Node) *Node { return t.Bias(p[0], p[1]) }},
		"Mul":      {[][2]int{{3, 5}, {3, 5}}, func(t *Tape, p []*Node) *Node { return t.Mul(p[0], p[1]) }},
		"square":   {[][2]int{{3, 5}}, func(t *Tape, p []*Node) *Node { return t.Mul(p[0], p[0]) }},
		"Scale":    {[][2]int{{3, 5}, {1, 2}}, func(t *Tape, p []*Node) *Node { return t.Scale(p[0], p[1], 1) }},
		"ReLU":     {[][2]int{{3, 5}}, func(t *Tape, p []*Node) *Node { return t.ReLU(p[0]) }},
		"Norm":     {[][2]int{{3, 5}, {1, 5}, {1, 5}}, func(t *Tape, p []*Node) *Node { return t.Norm(p[0], p[1], p[2]) }},
		"Concat":   {[][2]int{{3, 2}, {3, 4}}, func(t *Tape, p []*Node) *Node { return t.Concat(p[0], p[1], p[0]) }},
		"Logistic": {[][2]int{{5, 1}}, func(t *Tape, p []*Node) *Node { return t.Logistic(p[0], 2) }},
		"Gather":   {[][2]int{{4, 3}}, func(t *Tape, p []*Node) *Node { return t.Gather(p[0], []int32{2, 0, 2}) }},
		"Part":     {[][2]int{{3, 5}}, func(t *Tape, p []*Node) *Node { return t.Part(p[0], 1, 3) }},
		"Sparse":   {[][2]int{{4, 3}}, func(t *Tape, p []*Node) *Node { return t.Sparse(pattern(values), p[0]) }},
		"ones":     {[][2]int{{4, 3}}, func(t *Tape, p []*Node) *Node { return t.Sparse(pattern(nil), p[0]) }},
	}
	for name, c := range cases {
		r := rand.New(rand.NewPCG(1, 2))
		var params []*Param
		for _, s := range c.shapes {
			params = append(params, random(r, s[0], s[1]))
		}
		var weights *Param
		loss := func() (*Tape, *Node, float64) {
			tape := &Tape{Rand: r}
			var nodes []*Node
			for _, p := range params {
				nodes = append(nodes, tape.Use(p))
			}
			out := c.f(tape, nodes)
			if weights == nil {
				weights = random(r, out.Rows, out.Cols)
			}
			var sum float64
			for i, x := range out.Data {
				sum += float64(x) * float64(weights.Value.Data[i])
			}
			return tape, tape.Mul(out, tape.Const(weights.Value)), sum
		}
		tape, out, _ := loss()
		tape.Backward(out)
		const h = 1.0 / 256
		for k, p := range params {
			for i, v := range p.Value.Data {
				p.Value.Data[i] = v + h
				_, _, above := loss()
				p.Value.Data[i] = v - h
				_, _, below := loss()
				p.Value.Data[i] = v
				if got, want := float64(p.grad[i]), (above-below)/(2*h); math.Abs(got-want) > 2e-3*max(1, math.Abs(want)) {
					t.Errorf("%s: gradient of entry %d of input %d is %v, want %v", name, i, k, got, want)
				}
			}
		}
	}
}

// A row of known numbers through each layer.
func TestKnown(t *testing.T) {
	t.Parallel()
	var tape Tape
	row := func(x ...float32) *Node { return tape.Const(Matrix{1, len(x), x}) }
	for name, c := range map[string]struct {
		got  *Node
		want []float32
	}{
		"Norm":     {tape.Norm(row(1, 3), row(2, 1), row(0, 5)), []float32{-2, 6}},
		"Logistic": {tape.Logistic(tape.Const(Matrix{2, 1, []float32{0, 0}}), 1), []float32{2 * math.Ln2}},
		"Dropout":  {tape.Dropout(row(1, 2), 0.5), []float32{1, 2}},
		"Sparse":   {tape.Sparse(pattern(nil), tape.Const(Matrix{4, 1, []float32{1, 2, 3, 4}})), []float32{6, 0, 6, 10}},
	} {
		for i, want := range c.want {
			if math.Abs(float64(c.got.Data[i]-want)) > 1e-4 {
				t.Errorf("%s: %v, want %v", name, c.got.Data, c.want)
			}
		}
	}
}

// Dropout keeps the expected value and drops about the given share of the entries.
func TestDropout(t *testing.T) {
	t.Parallel()
	tape := Tape{Rand: rand.New(rand.NewPCG(1, 2))}
	const n = 10000
	ones := FilledParam(1, n, 1)
	s := &CSR{Cols: 1, Ptr: []int32{0}}
	for range n {
		s.Append([]int32{0}, []float32{1})
	}
	for name, out := range map[string]*Node{
		"dense":  tape.Dropout(tape.Use(ones), 0.3),
		"sparse": tape.SparseDropout(s, 0.3, tape.Const(Matrix{1, 1, []float32{1}})),
	} {
		var sum float64
		zeros := 0
		for _, x := range out.Data {
			sum += float64(x)
			if x == 0 {
				zeros++
			}
		}
		if math.Abs(sum/n-1) > 0.03 || math.Abs(float64(zeros)/n-0.3) > 0.03 {
			t.Errorf("%s: mean %v, %d of %d zeros", name, sum/n, zeros, n)
		}
	}
}

// Adam's first step has the length of the rate, whatever the gradient is; it reaches the minimum of
// a square.
func TestAdam(t *testing.T) {
	t.Parallel()
	p := FilledParam(1, 2, 3)
	a := Adam{Rate: 0.1}
	for step := range 400 {
		tape := Tape{Rand: rand.New(rand.NewPCG(1, 2))}
		x := tape.Use(p)
		tape.Backward(tape.Mul(x, tape.Mul(x, tape.Const(Matrix{1, 2, []float32{1, 50}}))))
		a.Step([]*Param{p})
		if step == 0 && (math.Abs(float64(p.Value.Data[0])-2.9) > 1e-4 || math.Abs(float64(p.Value.Data[1])-2.9) > 1e-4) {
			t.Fatalf("after one step %v", p.Value.Data)
		}
	}
	if slices.ContainsFunc(p.Value.Data, func(x float32) bool { return math.Abs(float64(x)) > 0.02 }) {
		t.Errorf("the minimum is %v", p.Value.Data)
	}
}
