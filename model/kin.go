package model

import (
	"context"
	"slices"
	"sync"

	"kith/model/nn"
)

const (
	kinLinks  = 5       // links from each node to nodes with similar words
	maxShared = 1 << 34 // kin gives up above this number of pairs of nodes that share a word, counted once per shared word
)

// kin links each node to the kinLinks nodes with the most similar words. A link from either end counts. If too many
// pairs share words (maxShared), there are no links.
func (t words) kin(ctx context.Context) (adjacency, error) {
	links, columns := make(adjacency, len(t.rows)), t.transpose()
	shared := 0
	for _, c := range columns {
		shared += len(c.at) * len(c.at)
	}
	if shared > maxShared {
		return links, nil
	}
	best := make([][]ID, len(t.rows))
	scratch := sync.Pool{New: func() any { v := make([]float32, len(t.rows)); return &v }}
	err := nn.Parallel(ctx, len(t.rows), func(u int) {
		p := scratch.Get().(*[]float32)
		defer scratch.Put(p)
		similar := *p
		clear(similar)
		for i, w := range t.rows[u].at {
			for j, v := range columns[w].at {
				similar[v] += t.rows[u].value[i] * columns[w].value[j]
			}
		}
		similar[u] = 0
		best[u] = largest(similar, kinLinks)
	})
	for u, row := range best {
		for _, v := range row {
			links[u] = append(links[u], v)
			links[v] = append(links[v], ID(u))
		}
	}
	return links.union(make(adjacency, len(links))), err
}

// largest returns the indices of the k largest positive entries. Of equal entries the first wins.
func largest(of []float32, k int) (at []ID) {
	for v, x := range of {
		if x <= 0 || len(at) == k && x <= of[at[k-1]] {
			continue
		}
		i := len(at)
		for i > 0 && of[at[i-1]] < x {
			i--
		}
		at = slices.Insert(at[:min(len(at), k-1)], i, ID(v))
	}
	return at
}

// union returns the links of a and b without duplicates.
func (a adjacency) union(b adjacency) adjacency {
	all := make(adjacency, len(a))
	for u := range all {
		all[u] = slices.Concat(a[u], b[u])
		slices.Sort(all[u])
		all[u] = slices.Compact(all[u])
	}
	return all
}
