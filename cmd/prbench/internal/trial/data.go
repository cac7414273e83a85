package trial

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"kith/model"
)

// Data is the ground truth of a trial: the true links and the features of the nodes.
type Data struct {
	Nodes    int
	Links    [][]ID      // true neighbours of each node, ascending, without the node itself
	Served   []ID        // source nodes of rounds: ascending, each with a link
	Offered  []ID        // nodes that can be candidates; nil: all
	Features [][]float32 // features of each node; nil: none
	classes  [][]float32 // of a classification: the context of each class, from the first offered node on; see Classes

	// Positives and Negatives are the pairs that a file lists as links and as non-links, in the
	// order of the file. A pair listed as both is in both. nil means that there is no such list.
	Positives, Negatives []Pair
}

// checkEvery is the number of links or nodes visited between two checks of ctx.
const checkEvery = 1 << 14

// Feature returns the features of node u as a model sees them. Of a classification, these are the
// features once for each class, or for a class node ones in the place of its class and zeros
// elsewhere: their product has the features in the place of the class (PRB, section 4, "PRB for
// node classification").
func (d *Data) Feature(u ID) []float32 {
	switch {
	case d.classes == nil:
		return d.Features[u]
	case u >= d.Offered[0]:
		return d.classes[u-d.Offered[0]]
	}
	return slices.Repeat(d.Features[u], len(d.classes))
}

// NewData makes undirected data from the links. Loops are dropped. All nodes with a link are
// served. If ctx ends, NewData returns the error of ctx.
func NewData(ctx context.Context, nodes int, links [][2]ID, features [][]float32) (*Data, error) {
	if features != nil && len(features) != nodes {
		return nil, fmt.Errorf("trial: features of %d nodes, want %d", len(features), nodes)
	}
	d := &Data{Nodes: nodes, Links: make([][]ID, nodes), Features: features}
	for i, l := range links {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		u, v := l[0], l[1]
		if int(u) >= nodes || int(v) >= nodes {
			return nil, fmt.Errorf("trial: link %d, %d among %d nodes", u, v, nodes)
		}
		if u != v {
			d.Links[u], d.Links[v] = append(d.Links[u], v), append(d.Links[v], u)
		}
	}
	for u, row := range d.Links {
		if u%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		slices.Sort(row)
		d.Links[u] = slices.Compact(row)
		if len(row) > 0 {
			d.Served = append(d.Served, ID(u))
		}
	}
	return d, nil
}

// Classes makes the data of a node classification. Nodes 0 to n-1 are the nodes to classify, node
// n+i represents class i, and each node is linked to its class. Nodes with a negative label have no
// class and are not served. Class nodes have no features.
func Classes(labels []int, classes int, features [][]float32) (*Data, error) {
	n := len(labels)
	var links [][2]ID
	for u, l := range labels {
		if l >= classes {
			return nil, fmt.Errorf("trial: node %d has label %d of %d classes", u, l, classes)
		}
		if l >= 0 {
			links = append(links, [2]ID{ID(u), ID(n + l)})
		}
	}
	if features != nil {
		if len(features) != n {
			return nil, fmt.Errorf("trial: features of %d nodes, want %d", len(features), n)
		}
		features = append(features[:n:n], make([][]float32, classes)...)
	}
	d, err := NewData(context.Background(), n+classes, links, features)
	if err != nil {
		return nil, err
	}
	d.Bipartite(n)
	if features != nil && n > 0 {
		length := len(features[0])
		for i := range classes {
			at := make([]float32, classes*length)
			for j := range length {
				at[i*length+j] = 1
			}
			d.classes = append(d.classes, at)
		}
	}
	return d, nil
}

// Classifying returns the spec of a model for the data of a classification whose nodes have the
// features of spec. Only policies that learn read them.
func Classifying(spec model.Spec, classes int) (model.Spec, error) {
	if spec.FeatureLen == 0 {
		return spec, nil
	}
	spec.FeatureLen *= classes
	blocks := "product"
	if spec.Preset == "default" {
		blocks = "product structural"
	}
	return spec, spec.Set("blocks", blocks)
}

// Bipartite restricts the data to rounds in which nodes below users that have a link are served and
// all other nodes are offered.
func (d *Data) Bipartite(users int) {
	at, _ := slices.BinarySearch(d.Served, ID(users))
	d.Served, d.Offered = d.Served[:at], nil
	for u := users; u < d.Nodes; u++ {
		d.Offered = append(d.Offered, ID(u))
	}
}

// Sample draws a share of the true links, the smaller node of each first. The result is a function
// of data and seed. A smaller share is a prefix of a larger one.
func (d *Data) Sample(share float64, seed uint64) []Pair {
	if share == 0 {
		return nil
	}
	var all []Pair
	for u, row := range d.Links {
		for _, v := range row {
			if ID(u) < v {
				all = append(all, Pair{Source: ID(u), Target: v})
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:int(share*float64(len(all)))]
}

// Linked reports whether u and v are truly linked.
func (d *Data) Linked(u, v ID) bool {
	_, found := slices.BinarySearch(d.Links[u], v)
	return found
}

// Communities holds the parameters of Generate.
type Communities struct {
	Nodes, Groups int
	Degree        float64 // mean number of links of a node, a little less because some are drawn twice
	Inside        float64 // share of the links that stay in the group, among links that close no triangle
	Closed        float64 // share of the links that close a triangle: they lead to a neighbour of a neighbour
	Choices       int     // number of nodes drawn for a link, which goes to the node with the most similar features; 0 means 1
	FeatureLen    int
	Noise         float64 // standard deviation of a feature around its group's centre; centres have unit length
}

// Generate makes a graph of communities. Nodes have uneven popularity, links are mostly inside
// groups, and the features of a node are its group's centre plus noise. With Closed, nodes that
// have a neighbour in common are linked more often than others of their group, and with Choices so
// are nodes with similar features. Otherwise the group, as far as links and features tell it, and
// popularity are all that predicts a link.
func Generate(c Communities, seed uint64) (*Data, error) {
	if c.Nodes < 2 || c.Groups < 1 || c.Groups > c.Nodes {
		return nil, fmt.Errorf("trial: %d nodes in %d groups", c.Nodes, c.Groups)
	}
	if c.Choices > 1 && c.FeatureLen < 1 {
		return nil, fmt.Errorf("trial: %d choices by features of %d entries", c.Choices, c.FeatureLen)
	}
	g := generator{Communities: c, rng: rand.New(rand.NewPCG(seed, 1)), rows: make([][]ID, c.Nodes)}
	for u := range g.rows {
		g.group = append(g.group, u%c.Groups)
	}
	g.members = make([][]ID, c.Groups)
	for u, of := range g.group {
		g.members[of] = append(g.members[of], ID(u))
	}
	g.features = features(rand.New(rand.NewPCG(seed, 4)), c, g.group)
	var links [][2]ID
	for range int(float64(c.Nodes) * c.Degree / 2) {
		u := ID(popular(g.rng, c.Nodes))
		v := g.target(u)
		links = append(links, [2]ID{u, v})
		g.rows[u], g.rows[v] = append(g.rows[u], v), append(g.rows[v], u)
	}
	return NewData(context.Background(), c.Nodes, links, g.features)
}

// generator draws the links of a graph of communities.
type generator struct {
	Communities
	rng      *rand.Rand
	group    []int
	members  [][]ID // of each group
	features [][]float32
	rows     [][]ID // links so far
}

// target draws the other end of a link of u.
func (g *generator) target(u ID) ID {
	best := g.candidate(u)
	for range g.Choices - 1 {
		if v := g.candidate(u); g.similarity(u, v) > g.similarity(u, best) {
			best = v
		}
	}
	return best
}

func (g *generator) candidate(u ID) ID {
	if row := g.rows[u]; len(row) > 0 && g.Closed > 0 && g.rng.Float64() < g.Closed {
		next := g.rows[row[g.rng.IntN(len(row))]]
		return next[g.rng.IntN(len(next))]
	}
	v := ID(popular(g.rng, g.Nodes))
	if g.rng.Float64() < g.Inside {
		mine := g.members[g.group[u]]
		v = mine[popular(g.rng, len(mine))]
	}
	return v
}

// similarity returns the negative squared distance of the features, and of a node to itself the
// least.
func (g *generator) similarity(u, v ID) float64 {
	if u == v {
		return math.Inf(-1)
	}
	sum := 0.0
	for i, x := range g.features[u] {
		d := float64(x - g.features[v][i])
		sum -= d * d
	}
	return sum
}

// popular draws a number below n. Small numbers are more probable: the density at a share x of the
// range falls as x^(-1/3).
func popular(rng *rand.Rand, n int) int {
	return min(int(float64(n)*math.Pow(rng.Float64(), 1.5)), n-1)
}

func features(rng *rand.Rand, c Communities, group []int) [][]float32 {
	if c.FeatureLen == 0 {
		return nil
	}
	centres := make([][]float32, c.Groups)
	sd := 1 / math.Sqrt(float64(c.FeatureLen))
	for i := range centres {
		centres[i] = gaussian(rng, make([]float32, c.FeatureLen), sd)
	}
	all := make([][]float32, c.Nodes)
	for u := range all {
		all[u] = gaussian(rng, centres[group[u]], c.Noise*sd)
	}
	return all
}

// gaussian returns centre plus noise of the given standard deviation.
func gaussian(rng *rand.Rand, centre []float32, sd float64) []float32 {
	v := slices.Clone(centre)
	for i := range v {
		v[i] += float32(sd * rng.NormFloat64())
	}
	return v
}
