package db

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"kith/index"
	"kith/ppr"
)

// Seeds is a weighted set of nodes, one source of a question: which nodes are near the set, which links go with it. A
// set of one node, whatever its weight, is that node. The order of the seeds and a common factor of their weights change
// no answer.
//
// In an answer the weights sum to 1, and the seeds have the order in which their nodes were made. A source that is a node
// has one seed there, of weight 1, and is its key in JSON.
type Seeds []Seed

// Seed is a node of a set, and how much it counts.
type Seed struct {
	Node   Key     `json:"node"`
	Weight float64 `json:"weight"` // from MinWeight to MaxWeight; 0 means 1
}

// MaxSeeds is the maximum number of nodes of a set.
const MaxSeeds = 10_000

// CheckSeeds returns ErrInput for a set that no question can have: one that is empty, too large, or has a node twice or an
// invalid weight. i is the index of the seed at fault. CheckSeeds does not look the nodes up.
func CheckSeeds(s Seeds) (i int, err error) {
	switch n := len(s); {
	case n == 0:
		return 0, inputf("a set of sources without nodes: want at least 1")
	case n > MaxSeeds:
		return MaxSeeds, inputf("a set of %d sources: want at most %d", n, MaxSeeds)
	}
	given := make(map[Key]bool, len(s))
	for i, seed := range s {
		switch w := seed.Weight; {
		case w != 0 && !(w >= MinWeight && w <= MaxWeight): // the negation also catches NaN
			return i, inputf("source %v: weight %v is not a number from 2^-40 to 2^40", seed.Node, w)
		case given[seed.Node]:
			return i, inputf("source %v is given twice in a set", seed.Node)
		}
		given[seed.Node] = true
	}
	return 0, nil
}

// String returns the set in the syntax of the query language: a node, or a list in parentheses with the weights to four
// digits, of which at most five are shown.
func (s Seeds) String() string {
	const shown = 5
	if len(s) == 1 {
		return s[0].Node.String()
	}
	var parts []string
	for i, seed := range s {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(s)-shown))
			break
		}
		parts = append(parts, fmt.Sprintf("%v WEIGHT %.4g", seed.Node, seed.Weight))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// MarshalJSON implements [json.Marshaler]: a node is written as its key, a set as a list of nodes with weights.
func (s Seeds) MarshalJSON() ([]byte, error) { return json.Marshal(member(reflect.ValueOf(s))) }

// UnmarshalJSON implements [json.Unmarshaler]. It reads the output of MarshalJSON.
func (s *Seeds) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]Seed)(s))
	}
	*s = Seeds{{Weight: 1}}
	return json.Unmarshal(b, &(*s)[0].Node)
}

// start resolves a source, which is a node or Seeds, to the distribution of the nodes that a walk starts from: ascending,
// with values that sum to 1.
func (tx *Tx) start(source any) (ppr.Vector, error) {
	seeds, ok := source.(Seeds)
	if !ok {
		id, err := tx.id(source)
		return unit(id), err
	}
	if _, err := CheckSeeds(seeds); err != nil {
		return ppr.Vector{}, err
	}
	weight := make(map[index.ID]float64, len(seeds))
	var h ppr.Vector
	for _, s := range seeds {
		id, err := tx.id(s.Node)
		if err != nil {
			return ppr.Vector{}, err
		}
		h.Node, weight[id] = append(h.Node, id), s.Weight
		if s.Weight == 0 {
			weight[id] = 1
		}
	}
	slices.Sort(h.Node)
	total := 0.0
	for _, id := range h.Node {
		total += weight[id]
	}
	for _, id := range h.Node {
		h.Value = append(h.Value, weight[id]/total)
	}
	return h, nil
}

// unit returns the start of a single node.
func unit(id index.ID) ppr.Vector {
	return ppr.Vector{Node: []index.ID{id}, Value: []float64{1}}
}

// seeds returns the keys and weights of a start.
func (tx *Tx) seeds(h ppr.Vector) Seeds {
	s := make(Seeds, len(h.Node))
	for i, id := range h.Node {
		s[i] = Seed{tx.key(id), h.Value[i]}
	}
	return s
}
