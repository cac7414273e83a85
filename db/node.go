package db

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"kith/db/internal/record"
	"kith/db/words"
	"kith/index"
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
//	Erased() bool             // the node was erased: it is null in JSON, and Value returns nil
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

// id resolves a key.
func (tx *Tx) id(key any) (index.ID, error) {
	if tx.ended {
		return 0, ErrClosed
	}
	k, err := KeyOf(key)
	if err != nil {
		return 0, err
	}
	id, ok := tx.find(k)
	if !ok {
		return 0, tx.noNode(k)
	}
	return id, nil
}

func (tx *Tx) find(k Key) (index.ID, bool) {
	if tx.batch != nil {
		return tx.batch.ID(k)
	}
	return tx.snap.ID(k)
}

// key returns the key of a node.
func (tx *Tx) key(id index.ID) Key {
	if tx.batch != nil {
		return tx.batch.Key(id)
	}
	return tx.snap.Key(id)
}

// Node is a stored node.
type Node struct {
	Key        Key            `json:"node"`
	Label      string         `json:"label"`               // "" means none
	Features   []float32      `json:"features,omitzero"`   // nil means none
	Properties map[string]any `json:"properties,omitzero"` // values of its properties; see Property
	Degree     float64        `json:"degree"`              // sum of the weights of its (outgoing) edges; computed, not stored
	Edges      int            `json:"edges"`               // number of its (outgoing) edges; computed, not stored
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

// PutNode adds a node unless there is one with this key, and sets the label, the features and the
// properties that n has. It removes properties whose value is nil.
func (tx *Tx) PutNode(n Node) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	id, _, err := b.AddNode(n.Key)
	if err != nil {
		return inputError(err)
	}
	if n.Label != "" {
		if err := checkRelabel(tx.view(), n.Key, id, n.Label); err != nil {
			return err
		}
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
	if err == nil && n.Properties != nil {
		return tx.SetProperties(n.Key, n.Properties)
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

// Erase deletes a node as DeleteNode does, and forgets its key, for example when a person asks for
// that: the node has no key any more in decisions, observations and changes, and the same key makes
// a new node. It also erases a node that was deleted before. Followers erase it, too. The section
// "Forgetting a node" of query/LANGUAGE.md lists what is kept of a node, where, and what Erase does
// with it.
//
// The files hold the key until [DB.Compact] or [CompactDir] has removed it; Stats.Erased counts the
// nodes for which that is still to be done. Models keep what they learned from the node, which has
// no key there, until they are trained again. Erase returns ErrNotFound if no node has or had the
// key.
func (tx *Tx) Erase(key any) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	k, err := KeyOf(key)
	if err != nil {
		return err
	}
	id, known := b.Known(k)
	if !known {
		return tx.noNode(k)
	}
	return b.Erase(id)
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
		Properties: properties(v, id),
		Key:        tx.key(id), Label: v.Meta.Labels[v.Label(id)].Name, Features: slices.Clone(v.Features(id)),
		Degree: v.Graph.Degree(id), Edges: v.Graph.OutLen(id),
	}
}

// noNode returns the error for the key of no node. It names the node that the key probably means.
func (tx *Tx) noNode(k Key) error {
	e := missing(kindNode, k.Literal(), nil, ErrNotFound, "no node %v", k.Literal())
	for _, other := range alike(k) {
		if other.key != k && tx.Has(other.key) {
			e.DidYouMean = other.key.Literal()
			e.cause = fmt.Errorf("no node %v; there is a node %v%s", k.Literal(), other.key.Literal(), other.is)
			break
		}
	}
	return e
}

// alikeKey is a key that a different one probably means, and what distinguishes it.
type alikeKey struct {
	key Key
	is  string
}

// alike returns the keys that a key may mean: of the other type, without blanks around it, and with
// capitals changed. They are few, so that looking them up costs a program that meets many missing
// nodes little.
func alike(k Key) (keys []alikeKey) {
	if _, isInt := k.Int(); isInt {
		return []alikeKey{{Str(k.String()), ", a string"}}
	}
	name, _ := k.Str()
	bare := strings.TrimSpace(name)
	if i, err := strconv.ParseInt(bare, 10, 64); err == nil {
		keys = append(keys, alikeKey{Int(i), ", an integer"})
	}
	title := bare
	if first, size := utf8.DecodeRuneInString(bare); size > 0 {
		title = string(unicode.ToUpper(first)) + strings.ToLower(bare[size:])
	}
	for _, s := range []string{bare, strings.ToLower(bare), title, strings.ToUpper(bare)} {
		keys = append(keys, alikeKey{key: Str(s)})
	}
	return keys
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

// NodesWhere yields the nodes with a label, or of all labels if it is "", that satisfy a condition,
// in the order in which they were added. It yields ErrNotFound for a missing label or property, and
// ErrInput for a comparison that the type of a property does not have. The transaction must not
// write during the iteration.
func (tx *Tx) NodesWhere(label string, c Cond) iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		ids, err := tx.labelled(label)
		var match func(index.ID) bool
		if err == nil {
			match, err = selector(tx.view(), c)
		}
		if err != nil {
			yield(Node{}, err)
			return
		}
		for id := range ids {
			if match(id) && !yield(tx.node(id), nil) {
				return
			}
		}
	}
}

// labelled returns the nodes with a label, or all nodes if it is "".
func (tx *Tx) labelled(label string) (iter.Seq[index.ID], error) {
	if tx.ended {
		return nil, ErrClosed
	}
	v := tx.view()
	if label == "" {
		return v.Nodes(), nil
	}
	l, err := labelNumber(v, label)
	return v.Labelled(l), err
}

// RandomNodes returns up to n different nodes, drawn uniformly at random: a function of the graph
// and the seed. Its cost depends on n and not on the size of the graph. It returns fewer than n
// nodes if there are not many more, or if most nodes were deleted, and at least one if there is
// any.
func (tx *Tx) RandomNodes(n int, seed uint64) ([]Node, error) {
	if tx.ended {
		return nil, ErrClosed
	}
	const tries = 16 // for each node
	v, drawn, nodes := tx.view(), map[index.ID]bool{}, []Node{}
	random := rand.New(rand.NewPCG(seed, 0))
	for i := 0; i < tries*n && len(nodes) < n && v.Meta.Nodes > 0; i++ {
		if id := index.ID(random.Uint64N(uint64(v.Meta.Nodes))); v.Live(id) && !drawn[id] {
			drawn[id], nodes = true, append(nodes, tx.node(id))
		}
	}
	for id := range v.Nodes() {
		if len(nodes) == 0 && n > 0 {
			nodes = append(nodes, tx.node(id))
		}
		break
	}
	return nodes, nil
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
