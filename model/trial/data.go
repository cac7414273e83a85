package trial

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Data is the ground truth of a trial: the true links and the features of the nodes.
type Data struct {
	Nodes    int
	Links    [][]ID      // true neighbours of each node, ascending, without the node itself
	Served   []ID        // source nodes of rounds: ascending, each with a link
	Offered  []ID        // nodes that can be candidates; nil: all
	Features [][]float32 // features of each node; nil: none

	// Positives and Negatives are the pairs that a file lists as links and as non-links, in the order of the file. A
	// pair listed as both is in both. nil means that there is no such list.
	Positives, Negatives []Pair
}

// checkEvery is the number of links or nodes visited between two checks of ctx.
const checkEvery = 1 << 14

// Feature returns the features of node u.
func (d *Data) Feature(u ID) []float32 { return d.Features[u] }

// NewData makes undirected data from the links. Loops are dropped. All nodes with a link are served. If ctx ends,
// NewData returns the error of ctx.
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

// Classes makes the data of a node classification. Nodes 0 to n-1 are the nodes to classify, node n+i represents class
// i, and each node is linked to its class. Nodes with a negative label have no class and are not served. Class nodes
// have no features.
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
	if err == nil {
		d.Bipartite(n)
	}
	return d, err
}

// Bipartite restricts the data to rounds in which nodes below users that have a link are served and the other nodes are
// offered.
func (d *Data) Bipartite(users int) {
	at, _ := slices.BinarySearch(d.Served, ID(users))
	d.Served, d.Offered = d.Served[:at], nil
	for u := users; u < d.Nodes; u++ {
		d.Offered = append(d.Offered, ID(u))
	}
}

// Sample draws a share of the true links, the smaller node of each first. The result is a function of data and seed. A
// smaller share is a prefix of a larger one.
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
	Degree        float64 // mean number of links of a node
	Inside        float64 // share of the links that stay in the group
	FeatureLen    int
	Noise         float64 // standard deviation of a feature around its group's centre; centres have unit length
}

// Generate makes a graph of communities. Nodes have uneven popularity, links are mostly inside groups, and the features
// of a node are its group's centre plus noise. The features separate the groups, as far as the noise allows, but do not
// predict single links.
func Generate(c Communities, seed uint64) (*Data, error) {
	if c.Nodes < 2 || c.Groups < 1 || c.Groups > c.Nodes {
		return nil, fmt.Errorf("trial: %d nodes in %d groups", c.Nodes, c.Groups)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	group, members := make([]int, c.Nodes), make([][]ID, c.Groups)
	for u := range group {
		group[u] = u % c.Groups
		members[group[u]] = append(members[group[u]], ID(u))
	}
	var links [][2]ID
	for range int(float64(c.Nodes) * c.Degree / 2) {
		u := popular(rng, c.Nodes)
		v := ID(popular(rng, c.Nodes))
		if rng.Float64() < c.Inside {
			mine := members[group[u]]
			v = mine[popular(rng, len(mine))]
		}
		links = append(links, [2]ID{ID(u), v})
	}
	return NewData(context.Background(), c.Nodes, links, features(rng, c, group))
}

// popular draws a number below n. Small numbers are more probable: the density at a share x of the range falls as
// x^(-1/3).
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
