package db

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"kith/db/internal/record"
	"kith/db/words"
	"kith/index"
	"kith/ppr"
)

// Key identifies a node. It is an integer or a string. 42 and "42" are different keys. Keys are
// comparable, and the zero Key is the integer 0. A parameter of type any that takes a key accepts a
// Key, a string or an integer of any of Go's types. The methods of a Key are
//
//	Int() (i int64, ok bool)  // the integer, and whether the key is one
//	Str() (s string, ok bool) // the string, and whether the key is one
//	Value() any               // an int64 or a string
//	String() string           // 42 or alice
//	Literal() string          // 42 or 'alice', as statements of package query write it
//	Valid() error             // why a string is no key: it is empty, too long, or not plain UTF-8
//	Compare(l Key) int        // integers come before strings
//
// and those of [encoding/json.Marshaler], [encoding.TextMarshaler], their counterparts, and
// [database/sql.Scanner].
type Key = index.Key

// Int returns the key of an integer.
func Int(i int64) Key { return index.Int(i) }

// Str returns the key of a string.
func Str(s string) Key { return index.Str(s) }

// KeyOf returns the key for a Key, a string or an integer of any of Go's types. It returns ErrInput
// for anything else, and for a string that cannot be a key.
func KeyOf(v any) (Key, error) {
	k, ok := record.KeyOf(v)
	if !ok {
		return k, inputf("%s is no key, want an integer or a string", words.Value(v))
	}
	if err := k.Valid(); err != nil {
		return k, inputf("%w", err)
	}
	return k, nil
}

// Node is a stored node.
type Node struct {
	Key      Key       `json:"node"`
	Label    string    `json:"label"`             // "" means none
	Features []float32 `json:"features,omitzero"` // nil means none
	Degree   float64   `json:"degree"`            // sum of the weights of its (outgoing) edges; computed, not stored
	Edges    int       `json:"edges"`             // number of its (outgoing) edges; computed, not stored
}

// AddNode adds a node. It returns ErrExists if there is one with this key, and ErrInput for a key
// or features that cannot be stored.
func (tx *Tx) AddNode(n Node) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	if _, ok := b.ID(n.Key); ok {
		return missing(kindNode, n.Key.Literal(), nil, ErrExists, "node %v exists already", n.Key.Literal())
	}
	return tx.PutNode(n)
}

// PutNode adds a node unless there is one with this key, and sets the label and the features that n
// has.
func (tx *Tx) PutNode(n Node) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	id, _, err := b.AddNode(n.Key)
	if err != nil {
		return inputError(err)
	}
	if n.Label != "" && n.Features != nil { // its present features need not fit the new label
		err = b.SetFeatures(id, nil)
	}
	if err == nil && n.Label != "" {
		err = b.SetLabel(id, n.Label)
	}
	if err == nil && n.Features != nil {
		err = b.SetFeatures(id, n.Features)
	}
	return nodeError(n.Key, err)
}

// nodeError adds the node to an error of its label or features.
func nodeError(k Key, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("node %v: %w", k.Literal(), inputError(err))
}

// SetFeatures sets the feature vector of a node; nil removes it. All vectors of nodes with the same
// label, or of nodes without a label, must have the same length, otherwise SetFeatures returns
// ErrInput.
func (tx *Tx) SetFeatures(key any, features []float32) error {
	b, id, err := tx.writableNode(key)
	if err != nil {
		return err
	}
	return nodeError(tx.key(id), b.SetFeatures(id, features))
}

func (tx *Tx) writableNode(key any) (b *index.Batch, id index.ID, err error) {
	if b, err = tx.writable(); err == nil {
		id, err = tx.id(key)
	}
	return b, id, err
}

// DeleteNode deletes a node and its edges. It returns ErrNotFound if there is no such node.
func (tx *Tx) DeleteNode(key any) error {
	b, id, err := tx.writableNode(key)
	if err != nil {
		return err
	}
	return b.DeleteNode(id)
}

// Node returns the node with this key. It returns ErrNotFound if there is no such node.
func (tx *Tx) Node(key any) (Node, error) {
	id, err := tx.id(key)
	if err != nil {
		return Node{}, err
	}
	return tx.node(id), nil
}

func (tx *Tx) node(id index.ID) Node {
	v := tx.view()
	return Node{
		Key: tx.key(id), Label: v.Meta.Labels[v.Label(id)].Name, Features: slices.Clone(v.Features(id)),
		Degree: v.Graph.Degree(id), Edges: v.Graph.OutLen(id),
	}
}

// Has reports whether there is a node with this key.
func (tx *Tx) Has(k Key) bool {
	_, ok := tx.find(k)
	return ok
}

// Counts returns the number of nodes and of edges.
func (tx *Tx) Counts() (nodes, edges int64) {
	m := &tx.view().Meta
	return m.Live, m.Edges
}

// Nodes yields every node, in the order in which they were added. The transaction must not write
// during the iteration.
func (tx *Tx) Nodes() iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		if tx.ended {
			yield(Node{}, ErrClosed)
			return
		}
		for id := range tx.view().Nodes() {
			if !yield(tx.node(id), nil) {
				return
			}
		}
	}
}

// Seeds is a weighted set of nodes, one source of a question: which nodes are near the set, which
// links go with it. A set with a single node, whatever its weight, is that node. The order of the
// seeds and a common factor of their weights change no answer.
//
// Candidates of a set are those near any of its nodes: within n steps of any (Neighbors), with the
// highest PageRank of a walk that starts at its nodes by weight (PPR), most similar to each in turn
// (Similar). Nodes of the set, and nodes that any of them is linked to, are left out unless they
// are listed.
//
// In an answer the weights sum to 1, and the seeds have the order in which their nodes were made. A
// source that is a node has one seed there, of weight 1, and is its key in JSON.
type Seeds []Seed

// Seed is a node of a set, and how much it counts.
type Seed struct {
	Node   Key     `json:"node"`
	Weight float64 `json:"weight"` // from 2^-40 to 2^40; 0 means 1
}

// maxSeeds is the maximum number of nodes of a set.
const maxSeeds = 10_000

// CheckSeeds returns ErrInput for a set that no question can have: one that is empty, too large, or
// has a node twice or an invalid weight. i is the index of the seed at fault. CheckSeeds does not
// look the nodes up.
func CheckSeeds(s Seeds) (i int, err error) {
	switch n := len(s); {
	case n == 0:
		return 0, inputf("a set of sources without nodes: want at least 1")
	case n > maxSeeds:
		return maxSeeds, inputf("a set of %d sources: want at most %d", n, maxSeeds)
	}
	given := make(map[Key]bool, len(s))
	for i, seed := range s {
		switch w := seed.Weight; {
		case w != 0 && !(w >= index.MinWeight && w <= index.MaxWeight): // the negation also catches NaN
			return i, inputf("source %v: weight %v is not a number from 2^-40 to 2^40", seed.Node.Literal(), w)
		case given[seed.Node]:
			return i, inputf("source %v is given twice in a set", seed.Node.Literal())
		}
		given[seed.Node] = true
	}
	return 0, nil
}

// String returns the text of a node, or a list in parentheses of at most five nodes with the
// weights to four digits: ann, or (ann WEIGHT 0.25, bob WEIGHT 0.75).
func (s Seeds) String() string { return s.text(Key.String) }

// Literal returns the set as String does, with the nodes in the syntax of the query language.
func (s Seeds) Literal() string { return s.text(Key.Literal) }

func (s Seeds) text(of func(Key) string) string {
	const shown = 5
	if len(s) == 1 {
		return of(s[0].Node)
	}
	var parts []string
	for i, seed := range s {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(s)-shown))
			break
		}
		parts = append(parts, fmt.Sprintf("%s WEIGHT %.4g", of(seed.Node), seed.Weight))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// MarshalJSON implements [json.Marshaler]: a node is written as its key, a set as a list of nodes
// with weights.
func (s Seeds) MarshalJSON() ([]byte, error) {
	if len(s) == 1 && s[0].Weight == 1 {
		return json.Marshal(s[0].Node)
	}
	return json.Marshal(append([]Seed{}, s...)) // a list, also without seeds
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads the output of MarshalJSON.
func (s *Seeds) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]Seed)(s))
	}
	*s = Seeds{{Weight: 1}}
	return json.Unmarshal(b, &(*s)[0].Node)
}

// start resolves a source, which is a node or Seeds, to the distribution of the nodes that a walk
// starts from: ascending, with values that sum to 1.
func (tx *Tx) start(source any) (ppr.Vector, error) {
	seeds, ok := source.(Seeds)
	if !ok {
		id, err := tx.id(source)
		return ppr.Unit(id), err
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

// seeds returns the keys and weights of a start.
func (tx *Tx) seeds(h ppr.Vector) Seeds {
	s := make(Seeds, len(h.Node))
	for i, id := range h.Node {
		s[i] = Seed{tx.key(id), h.Value[i]}
	}
	return s
}

// NodesBeginning yields the keys of the nodes whose spelling, as [Key.Literal] returns it, begins
// with a text: 12 is the beginning of 12 and 120, 'an of 'ann'. Shorter numbers precede longer
// ones; otherwise the keys are in key order. It takes time for the keys that it yields, for deleted
// nodes between them, and for nodes that were added since the last compaction.
func (tx *Tx) NodesBeginning(text string) iter.Seq2[Key, error] {
	return func(yield func(Key, error) bool) {
		if tx.ended {
			yield(Key{}, ErrClosed)
			return
		}
		for _, r := range rangesOf(text) {
			for k, err := range tx.view().Keyed(r.low, r.within) {
				if !yield(k.Key, err) || err != nil {
					return
				}
			}
		}
	}
}

// keyRange are the keys from low on that are within. All of them follow each other.
type keyRange struct {
	low    Key
	within func(Key) bool
}

// rangesOf returns the ranges of keys whose spelling begins with a text.
func rangesOf(text string) []keyRange {
	switch {
	case text == "":
		return []keyRange{{index.Int(math.MinInt64), func(Key) bool { return true }}}
	case text[0] == '\'':
		return stringRanges(text[1:])
	}
	return integerRanges(text)
}

// stringRanges returns the ranges of strings whose spelling begins with a quote and text. If a
// single quote ends it, the next character may be the second one of a quote in a string, or none.
func stringRanges(text string) []keyRange {
	whole := strings.TrimRight(text, "'")
	quotes := len(text) - len(whole)
	if strings.Contains(strings.ReplaceAll(whole, "''", ""), "'") {
		return nil // a string has ended before the text does
	}
	begin := strings.ReplaceAll(whole, "''", "'") + strings.Repeat("'", quotes/2)
	if quotes%2 == 0 {
		return []keyRange{beginning(begin)}
	}
	exact := keyRange{index.Str(begin), func(k Key) bool { return k == index.Str(begin) }}
	return []keyRange{exact, beginning(begin + "'")}
}

// beginning is the range of the strings that begin with a text.
func beginning(text string) keyRange {
	return keyRange{index.Str(text), func(k Key) bool {
		s, isString := k.Str()
		return isString && strings.HasPrefix(s, text)
	}}
}

// integerRanges returns the ranges of integers whose digits begin with a text: for each number of
// digits one.
func integerRanges(text string) (all []keyRange) {
	digits, negative := strings.CutPrefix(text, "-")
	if negative && digits == "" {
		return []keyRange{between(math.MinInt64, -1)}
	}
	first, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || strconv.FormatUint(first, 10) != digits || negative && first == 0 {
		return nil
	}
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	for low, high := first, first; low <= limit; low, high = 10*low, 10*high+9 {
		if negative {
			all = append(all, between(-int64(min(high, limit)-1)-1, -int64(low-1)-1))
		} else {
			all = append(all, between(int64(low), int64(min(high, limit))))
		}
		if low == 0 || low > limit/10 {
			break
		}
	}
	return all
}

// between is the range of the integers from low to high.
func between(low, high int64) keyRange {
	return keyRange{index.Int(low), func(k Key) bool {
		i, isInt := k.Int()
		return isInt && i <= high
	}}
}
