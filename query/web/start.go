package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"kith/db"
)

// started is the answer of GET /start.
type started struct {
	Node *db.Key `json:"node"` // nil if the graph has no nodes
}

// start answers with a node to begin with: one drawn at random by the parameter seed or, without
// it, one whose best predicted link has a high score.
func (h *handler) start(w http.ResponseWriter, r *http.Request) {
	s, err := inView(r.Context(), h, h.visitor(r), func(ctx context.Context, tx *db.Tx) (s started, err error) {
		text := r.FormValue("seed")
		if text == "" {
			s.Node, err = opening(ctx, tx)
			return s, err
		}
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return s, fmt.Errorf("%w: seed %q: want a non-negative integer", db.ErrInput, text)
		}
		drawn, err := tx.RandomNodes(1, seed)
		if len(drawn) > 0 {
			s.Node = &drawn[0].Key
		}
		return s, err
	})
	h.write(w, r, s, err)
}

// The search for an opening node is bounded: of drawn nodes, those with the most edges are asked
// for their best link, unless they have so many that their picture shows only some.
const (
	drawnNodes = 256
	askedNodes = 4
	mostEdges  = 60
)

// opening returns the node, among some with many edges, whose best link the answering model gives
// the highest score, or nil if the graph has no nodes. It is a function of graph and model.
func opening(ctx context.Context, tx *db.Tx) (*db.Key, error) {
	nodes, err := tx.RandomNodes(drawnNodes, 1)
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	slices.SortFunc(nodes, func(a, b db.Node) int {
		return cmp.Or(worth(b)-worth(a), a.Key.Compare(b.Key))
	})
	best, score := nodes[0].Key, math.Inf(-1)
	for _, n := range nodes[:min(len(nodes), askedNodes)] {
		p, err := tx.Predict(ctx, db.PredictOptions{For: n.Key, Top: 1})
		if err != nil {
			return nil, err
		}
		if len(p.Links) > 0 && p.Links[0].Score > score {
			best, score = n.Key, p.Links[0].Score
		}
	}
	return &best, nil
}

// worth returns the number of edges of a node, if they fit into a picture. Of nodes with more
// edges, the one with the fewest is worth most, but less than any other.
func worth(n db.Node) int {
	if n.Edges > mostEdges {
		return -n.Edges
	}
	return n.Edges
}
