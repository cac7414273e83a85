package query

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"kith/db"
	"kith/query/internal/parse"
)

// graphActions returns the statements about nodes and edges.
func graphActions() []action {
	node := []column{
		{name: "node"}, {name: "label"}, {"features", "number of features"}, {"properties", "number of properties"},
	}
	edges := named("edges_added", "edges_changed", "nodes_added")
	return []action{
		{name: "INSERT NODE", access: joins | edits, columns: node, run: putting((*db.Tx).AddNode)},
		{name: "MERGE NODE", access: joins | edits, columns: node, run: putting((*db.Tx).PutNode)},
		{name: "INSERT EDGES", access: joins | edits, columns: edges, run: puttingEdges((*db.Tx).AddEdge)},
		{name: "MERGE EDGES", access: joins | edits, columns: edges, run: puttingEdges((*db.Tx).PutEdge)},
		{name: "DELETE NODE", access: joins | edits, columns: named("nodes_deleted", "edges_deleted"), run: updating((*run).deleteNode)},
		{
			name: "ERASE NODE", access: joins | edits, columns: named("nodes_erased", "edges_deleted"), run: (*run).eraseNode,
			options: always(eraseOptions),
		},
		{name: "DELETE EDGES", access: joins | edits, columns: named("edges_deleted"), run: updating((*run).deleteEdges)},
		{
			name: "CREATE RELATION", access: joins | edits, columns: named("relation", "directed", "exclude", "source_label", "target_label"),
			run: updating((*run).createRelation), options: always(relationOptions),
		},
		{
			name: "SHOW RELATIONS", access: reads | joins, run: viewing((*run).showRelations),
			columns: columnsOf(relationFields),
		},
		{name: "DESCRIBE NODE", access: reads | joins, columns: named("name", "value"), run: viewing((*run).describeNode)},
		{
			name: "NEIGHBORS", access: reads | joins, run: viewing((*run).neighbors),
			columns: []column{
				{name: "source"}, {name: "target"}, {name: "depth"}, {"weight", "at depth 1"}, {"time", "of the edge, at depth 1"},
				{name: "label"}, {name: "degree"},
			},
		},
		{name: "NODES", access: reads | joins, columns: columnsOf(nodeFields), run: viewing((*run).nodeList)},
	}
}

// putting returns the runner of a statement that puts a node into the graph.
func putting(put func(*db.Tx, db.Node) error) runner {
	return updating(func(r *run, s *parse.Statement) {
		n := r.newNode(s)
		if r.err != nil || r.failAt(parse.TheNode.Of(s), put(r.tx, n)) {
			return
		}
		n, err := r.tx.Node(n.Key)
		r.fail(err)
		r.rows.add(n.Key, orNil(n.Label), int64(len(n.Features)), int64(len(n.Properties)))
	})
}

// newNode returns the node that a statement describes.
func (r *run) newNode(s *parse.Statement) db.Node {
	n := db.Node{Key: r.key(parse.TheNode.Of(s)), Label: parse.Label.Of(s).Value, Properties: r.assignments(s)}
	for _, v := range r.spread(parse.Features.All(s)) {
		n.Features = append(n.Features, r.feature(v))
	}
	return n
}

// feature returns a number of a feature vector.
func (r *run) feature(v parse.Value) float32 {
	f := r.number(v)
	if math.Abs(f) > math.MaxFloat32 {
		r.refuse(v, "feature %v is not a number from -3.4e38 to 3.4e38", f)
	}
	return float32(f)
}

// puttingEdges returns the runner of a statement that puts edges into the graph.
func puttingEdges(put func(tx *db.Tx, src, dst any, opts ...db.EdgeOption) error) runner {
	return updating(func(r *run, s *parse.Statement) {
		nodes, edges := r.tx.Counts()
		list := parse.Edges.All(s)
		for _, e := range list {
			edge := r.edge(e)
			err := put(r.tx, edge.Src, edge.Dst, db.Via(edge.Relation), db.Weight(edge.Weight), db.At(edge.Time))
			if r.fail(r.ctx.Err()) || r.failAt(e, err) {
				return
			}
		}
		nodesNow, edgesNow := r.tx.Counts()
		r.rows.add(edgesNow-edges, int64(len(list))-(edgesNow-edges), nodesNow-nodes)
	})
}

// edge resolves an edge with its weight and time.
func (r *run) edge(e parse.Edge) db.Edge {
	src, dst, weight := r.key(e.Source), r.key(e.Target), r.weight(e.Weight)
	return db.Edge{Src: src, Dst: dst, Relation: e.Relation.Value, Weight: float32(weight), Time: r.time(e.At)}
}

func (r *run) deleteNode(s *parse.Statement) {
	_, edges := r.tx.Counts()
	if k := r.node(parse.TheNode.Of(s)); r.err == nil {
		r.fail(r.tx.DeleteNode(k))
	}
	_, now := r.tx.Counts()
	r.rows.add(int64(1), edges-now)
}

// eraseOptions returns the options of ERASE NODE.
func eraseOptions(retrain *bool) []option {
	return []option{onOff("retrain", "train the model that answers again, without the node", func(on bool) { *retrain = on })}
}

// retrains reports whether a statement trains a model after it has erased a node.
func retrains(s *parse.Statement) bool { return s.Form == "ERASE NODE" && len(parse.With.All(s)) > 0 }

func (r *run) eraseNode(s *parse.Statement) {
	retrain := false
	r.setOptions(parse.With.All(s), eraseOptions(&retrain))
	if retrain && r.session.tx != nil {
		r.refuse(s, "retrain = on trains in a commit of its own: COMMIT first, or TRAIN MODEL afterwards")
	}
	r.update(func() {
		_, edges := r.tx.Counts()
		node := parse.TheNode.Of(s)
		if k := r.key(node); r.err == nil {
			r.failAt(node, r.tx.Erase(k))
		}
		_, now := r.tx.Counts()
		r.rows.add(int64(1), edges-now)
	})
	if r.err != nil {
		return
	}
	r.rows.note("files hold the key until the database is compacted; SHOW STATS counts the erased nodes that wait for that")
	if retrain {
		r.retrain()
	}
}

// retrain trains the model that answers again, from the edges that its version was trained on.
func (r *run) retrain() {
	var of db.ModelInfo
	t, ctx := db.TrainOptions{Deploy: db.DeployAlways}, r.ctx
	r.viewChanged(func() {
		m := r.tx.Model("")
		info, err := m.Info(r.ctx)
		if errors.Is(err, db.ErrNoModel) || r.fail(err) || !info.Answers || info.Version == 0 {
			return
		}
		of = info
		versions, err := m.Versions(r.ctx)
		r.fail(err)
		for _, v := range versions {
			if v.Deployed {
				t.Relation = v.Relation
			}
		}
	})
	if r.err != nil {
		return
	}
	if of.Name == "" {
		r.rows.note("no model is trained again: none that learns answers where no model is named")
		return
	}
	t.Plan.Progress = r.trainingProgress()
	m, err := r.session.DB.Model(of.Name).Train(ctx, t)
	switch {
	case err != nil && ctx.Err() != nil:
		r.rows.note("model %v is not trained again: the training was cancelled", Name(of.Name))
		return
	case err != nil:
		r.fail(fmt.Errorf("the node is erased, and model %v is not trained again: %w", Name(of.Name), err))
		return
	}
	r.rows.note("model %v version %d is trained without the node, and answers", Name(m.Name), m.Version)
	r.rows.remarkCompared(&m)
}

func (r *run) deleteEdges(s *parse.Statement) {
	list := parse.Edges.All(s)
	for _, e := range list {
		if src, dst := r.node(e.Source), r.node(e.Target); r.fail(r.ctx.Err()) || r.failAt(e, r.tx.DeleteEdge(src, dst, db.Via(r.relation(e.Relation)))) {
			return
		}
	}
	r.rows.add(int64(len(list)))
}

func (r *run) neighbors(s *parse.Statement) {
	depth, top, k := r.integer(parse.Depth.Of(s), 1, 1), r.top(parse.Top.Of(s), -1), r.node(parse.OfNode.Of(s))
	within := r.duration(parse.Within.Of(s))
	if r.err != nil {
		return
	}
	r.via(parse.Via.All(s), nil, func() {
		for n, err := range r.tx.Reach(r.ctx, k, int(depth), within) {
			if r.fail(err) || len(r.rows.Rows) == top || r.checkMemory(1) {
				return
			}
			var weight any
			if n.Depth == 1 {
				weight = shortest(n.Weight)
			}
			r.rows.add(k, n.Key, int64(n.Depth), weight, r.moment(n.Time), orNil(n.Label), n.Degree)
		}
	})
}

// createRelation makes a relation.
func (r *run) createRelation(s *parse.Statement) {
	n := db.Relation{Name: parse.Relation.Of(s).Value, Directed: r.tx.Stats().Directed}
	r.setOptions(parse.With.All(s), relationOptions(&n))
	if r.err == nil && !r.failAt(parse.Relation.Of(s), r.tx.AddRelation(n)) {
		r.rows.add(n.Name, n.Directed, n.Exclude, orNil(n.SourceLabel), orNil(n.TargetLabel))
	}
}

// relationOptions returns the options of CREATE RELATION.
func relationOptions(n *db.Relation) []option {
	return []option{
		onOff("directed", "whether its edges have a direction; as the database by default", func(on bool) { n.Directed = on }),
		onOff("exclude", "on leaves nodes that it joins with a source out of the candidates of the source, as after a block",
			func(on bool) { n.Exclude = on }),
		textOption("source_label", "a label", "label that the sources of its edges have, and get; any by default", &n.SourceLabel),
		textOption("target_label", "a label", "label that the targets of its edges have, and get; any by default", &n.TargetLabel),
	}
}

// relationRow is a relation, which a row of SHOW RELATIONS is about.
type relationRow struct {
	*db.Relation
	sides func() *[2]db.Side // reads all edges
}

// relationFields are the columns of SHOW RELATIONS.
var relationFields = []field[*relationRow]{
	{column{name: "relation"}, aText, func(n *relationRow) any { return orNil(n.Name) }},
	{column{name: "edges"}, aNumeric, func(n *relationRow) any { return n.Edges }},
	{column{name: "loops"}, aNumeric, func(n *relationRow) any { return n.Loops }},
	{column{name: "directed"}, aFlag, func(n *relationRow) any { return n.Directed }},
	{column{name: "exclude"}, aFlag, func(n *relationRow) any { return n.Exclude }},
	{
		column{"sources", "nodes with an edge that leaves"}, aNumeric,
		func(n *relationRow) any { return n.sides()[0].Nodes },
	},
	{
		column{"source_labels", "their labels"}, aText,
		func(n *relationRow) any { return sideLabels(&n.sides()[0], n.SourceLabel) },
	},
	{
		column{"targets", "nodes with an edge that arrives"}, aNumeric,
		func(n *relationRow) any { return n.sides()[1].Nodes },
	},
	{
		column{"target_labels", "their labels"}, aText,
		func(n *relationRow) any { return sideLabels(&n.sides()[1], n.TargetLabel) },
	},
}

func (r *run) showRelations(s *parse.Statement) {
	t := newTable(r, relationFields, len(relationFields), nil, s)
	r.rows.Columns = columnNames(columnsOf(t.shown))
	all, err := r.tx.Relations()
	r.fail(err)
	sides := sync.OnceValue(func() [][2]db.Side {
		found, err := r.tx.Sides(r.ctx)
		r.fail(err)
		return append(found, make([][2]db.Side, len(all)-len(found))...) // none after an error
	})
	for i, n := range all {
		if n.Name != "" || len(all) == 1 || n.Edges > 0 {
			t.add(r.rows, &relationRow{&n, func() *[2]db.Side { return &sides()[i] }})
		}
	}
}

// sideLabels returns the labels of a side of a relation as text, or nil if there are none.
func sideLabels(s *db.Side, declared string) any {
	if declared != "" {
		return declared
	}
	var names []string
	for _, label := range s.Labels {
		names = append(names, cmp.Or(label, "(none)"))
	}
	if len(names) == 1 && names[0] == "(none)" {
		return nil
	}
	return orNil(strings.Join(names, ", "))
}

// nodeFields are the columns of NODES.
var nodeFields = []field[*db.Node]{
	{column{name: "node"}, aKey, func(n *db.Node) any { return n.Key }},
	{column{name: "label"}, aText, func(n *db.Node) any { return orNil(n.Label) }},
	{column{name: "edges"}, aNumeric, func(n *db.Node) any { return int64(n.Edges) }},
	{column{name: "degree"}, aNumeric, func(n *db.Node) any { return n.Degree }},
}

func (r *run) nodeList(s *parse.Statement) {
	filter := r.split(parse.Where.Of(s), columnNames(columnsOf(nodeFields)))
	fields := append(slices.Clone(nodeFields), propertyFields(r, func(n *db.Node) *db.Node { return n })...)
	t, top := newTable(r, fields, len(nodeFields), filter.answer, s), r.top(parse.Top.Of(s), -1)
	r.rows.Columns = columnNames(columnsOf(t.shown))
	var where db.Cond
	if filter.nodes != nil {
		where = *filter.nodes
	}
	label := r.label(parse.Label.Of(s))
	if r.err != nil {
		return
	}
	for n, err := range r.tx.NodesWhere(label, where) {
		if r.fail(cmp.Or(err, r.ctx.Err())) || len(r.rows.Rows) == top || r.checkMemory(1) {
			return
		}
		t.add(r.rows, &n)
	}
}

func (r *run) describeNode(s *parse.Statement) {
	k := r.node(parse.TheNode.Of(s))
	if r.err != nil {
		return
	}
	n, err := r.tx.Node(k)
	r.fail(err)
	r.rows.add("node", n.Key)
	r.rows.add("label", orNil(n.Label))
	r.rows.add("edges", int64(n.Edges))
	r.rows.add("degree", n.Degree)
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		r.rows.add("property "+parse.Name{Value: name}.String(), r.cellOf(n.Properties[name]))
	}
	for i, f := range n.Features {
		r.rows.add("feature "+strconv.Itoa(i), shortest(f))
	}
}

// shortest returns the float64 with the fewest digits that rounds to x in 32 bits: 0.1 for
// float32(0.1).
func shortest(x float32) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil {
		return float64(x)
	}
	return v
}

// orNil returns v, or nil if v is the zero value of its type.
func orNil[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}
