package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"kith/db/edgelist"
	"kith/db/internal/ctxio"
	"kith/index"
)

// LoadNodes adds all nodes of a list or, if it returns an error, none: one key a line, with the
// labels next to the keys. The further columns of a list with a header, and the further members of
// objects of JSON, are properties, whose types are detected from the whole list; an empty field and
// null set none. A node that exists gets the label and the properties. Of a node that is repeated,
// the last label and the last value of each property count. LoadNodes returns ErrInput for a column
// that cannot be a property, and for one of another type than the property has, and the errors of
// Load.
//
// A list of up to 8192 lines and 131,072 columns of properties is a transaction. A longer list is
// stored as [DB.Load] stores edges: the graph with the nodes is written as a new generation of
// blocks, in the same memory, and the load is no change that can be kept.
func (db *DB) LoadNodes(ctx context.Context, r io.Reader, o LoadNodesOptions) (*LoadReport, error) {
	return db.loadNodes(ctx, r, o, edgelist.NewNodes, (*nodeLoad).storeNodes)
}

// LoadFeatures sets the feature vectors of the nodes of a list, and adds missing nodes. It commits
// as it goes: if it returns an error, the lines up to some point have been stored, and loading them
// again does no harm. A vector whose length differs from the other vectors of its label counts as a
// malformed line. LoadFeatures returns the errors of Load.
func (db *DB) LoadFeatures(ctx context.Context, r io.Reader, o LoadNodesOptions) (*LoadReport, error) {
	return db.loadNodes(ctx, r, o, edgelist.NewFeatures, (*nodeLoad).storeFeatures)
}

// nodeLoad loads a list of nodes or of features.
type nodeLoad struct {
	db     *DB
	list   *edgelist.Nodes
	o      *LoadNodesOptions
	report *LoadReport
	files  *scratch
	stop   func() // ends the reads of the list
}

// loadNodes opens a list, and stores its nodes.
func (db *DB) loadNodes(
	ctx context.Context, r io.Reader, o LoadNodesOptions,
	open func(io.Reader, edgelist.Options) (*edgelist.Nodes, error), store func(*nodeLoad, context.Context) error,
) (*LoadReport, error) {
	if err := checkListLabels(o.Label); err != nil {
		return nil, err
	}
	files := &scratch{db: db}
	defer files.remove()
	reading, stop := context.WithCancel(ctx)
	defer stop()
	list, err := open(ctxio.Reader(reading, ctxio.Reader(ctx, r)), edgelist.Options{
		Format: o.Format, Name: o.Name, Dialect: o.Dialect, Keyless: o.Keyless, Labelled: o.Label != "",
		Properties: o.PropertyOptions, PropertyType: db.listedType(),
		Tables: o.Tables, Memory: db.opts.memory(workPart) / tableFraction,
		Spool: func() (edgelist.Spool, error) { return files.make() },
	})
	if refused := (*edgelist.Refusal)(nil); errors.As(err, &refused) {
		return nil, inputError(err)
	}
	if err != nil {
		return nil, listError(err)
	}
	l := &nodeLoad{db, list, &o, &LoadReport{Name: o.Name}, files, stop}
	err = store(l, ctx)
	l.report.Detected = *list.Detected
	return l.report, err
}

// nodesPerCommit and numbersPerCommit bound the lines, and the numbers of their features or the
// columns of their properties, in one commit.
const (
	nodesPerCommit   = 1 << 13
	numbersPerCommit = 1 << 17
)

// nodeBatch is some lines of a list, as many as a commit may have.
type nodeBatch struct {
	lines  []nodeLine
	last   bool // the list has no more lines
	size   int  // number of features and of columns of properties
	values []edgelist.Value
}

// nodeLine is a line of a list, or why it is malformed.
type nodeLine struct {
	edgelist.Node
	err error
}

// add adds a line.
func (b *nodeBatch) add(n edgelist.Node, err error) {
	begin := len(b.values)
	b.values = append(b.values, n.Values...) // which are valid until the next line
	n.Values = b.values[begin:]
	b.lines = append(b.lines, nodeLine{n, err})
	b.size += len(n.Values) + len(n.Features)
}

func (b *nodeBatch) full() bool {
	return len(b.lines) == nodesPerCommit || b.size >= numbersPerCommit
}

// batches yields the lines of the list, while the next ones are read in another goroutine, which
// has ended when the iteration ends. The last batch may be empty. A batch is valid until the next
// one.
func (l *nodeLoad) batches(yield func(*nodeBatch) bool) {
	read, free := make(chan *nodeBatch), make(chan *nodeBatch, 2)
	free <- new(nodeBatch)
	free <- new(nodeBatch)
	go l.read(read, free)
	for b := range read {
		if !yield(b) {
			break
		}
		free <- b
	}
	l.stop()
	close(free)
	for range read {
	}
}

// read reads the lines into free batches, and sends these. It ends when free is closed, and with
// the malformed line that ends the load.
func (l *nodeLoad) read(to chan<- *nodeBatch, free <-chan *nodeBatch) {
	defer close(to)
	b, malformed := <-free, 0
	for n, err := range l.list.All() {
		if b.full() {
			to <- b
			var ok bool
			if b, ok = <-free; !ok {
				return
			}
			*b = nodeBatch{lines: b.lines[:0], values: b.values[:0]}
		}
		b.add(n, err)
		if err == nil {
			continue
		}
		if malformed++; l.o.MaxErrors >= 0 && malformed > l.o.MaxErrors {
			break
		}
	}
	b.last = true
	to <- b
}

// storeFeatures stores the nodes in some commits.
func (l *nodeLoad) storeFeatures(ctx context.Context) error {
	for b := range l.batches {
		if err := l.commit(ctx, b.lines); err != nil {
			return err
		}
	}
	return nil
}

// storeNodes stores all nodes or none: in one commit if the list is short, otherwise in bulk.
func (l *nodeLoad) storeNodes(ctx context.Context) error {
	var bulk *bulkNodes
	for b := range l.batches {
		if bulk == nil {
			if b.last {
				return l.commit(ctx, b.lines)
			}
			var err error
			if bulk, err = l.begin(ctx); err != nil {
				return err
			}
			defer bulk.end()
		}
		if err := bulk.take(ctx, b.lines); err != nil {
			return err
		}
	}
	return bulk.commit(ctx)
}

// skip counts a malformed line. It returns the error that ends the load, if any.
func (l *nodeLoad) skip(err error) error { return l.report.skip(err, l.o.MaxErrors, l.o.Malformed) }

// commit commits nodes, and reports progress.
func (l *nodeLoad) commit(ctx context.Context, some []nodeLine) error {
	var lines, made int64
	err := l.db.Update(ctx, func(tx *Tx) error {
		before, _ := tx.Counts()
		for i := range some {
			err := some[i].err
			if err == nil {
				err = tx.putListed(l.list.Properties, &some[i].Node, l.o.Label)
			}
			if err == nil {
				lines++
			} else if err := l.skip(err); err != nil {
				return err
			}
		}
		after, _ := tx.Counts()
		made = after - before
		return nil
	})
	if err != nil {
		return err
	}
	l.report.Lines += lines
	l.report.Nodes += made
	if l.o.Progress != nil {
		l.o.Progress(l.report.Lines)
	}
	return nil
}

// listedNode returns a node of a list without its properties. label is the label of the list, or
// "". A node with another label is a malformed line.
func listedNode(n *edgelist.Node, label string) (Node, error) {
	if label != "" && n.Label != "" && n.Label != label {
		return Node{}, &edgelist.LineError{Line: n.Line, Text: n.Label, Msg: fmt.Sprintf("the label is not %q, which all nodes of the list have", label)}
	}
	return Node{Key: keyWithLabel(label, n.Key), Label: cmp.Or(label, n.Label), Features: n.Features}, nil
}

// listedValue returns a value of a list, which may be none.
func listedValue(v *edgelist.Value) index.Value {
	kind := [...]index.Kind{
		edgelist.AnyType: index.NoValue, edgelist.BoolType: index.BoolKind, edgelist.IntegerType: index.IntegerKind,
		edgelist.FloatType: index.FloatKind, edgelist.StringType: index.StringKind, edgelist.TimeType: index.TimeKind,
		edgelist.ListType: index.ListKind,
	}[v.Type]
	return index.NewValue(kind, v.Num, v.Text, v.List)
}

// putListed stores one node. label is the label of the list, or "". A node that cannot be stored is
// a malformed line.
func (tx *Tx) putListed(columns []edgelist.Property, n *edgelist.Node, label string) error {
	node, err := listedNode(n, label)
	if err != nil {
		return err
	}
	return lineError(n.Line, tx.Savepoint(func() error {
		err := tx.PutNode(node)
		if err == nil && len(columns) > 0 {
			err = tx.setListed(node.Key, columns, n.Values)
		}
		return err
	}))
}

// lineError returns the error of a node of a list: a malformed line if the node cannot be stored.
func lineError(line int64, err error) error {
	switch {
	case errors.Is(err, ErrInput):
		return &edgelist.LineError{Line: line, Msg: err.Error()}
	case err != nil:
		return fmt.Errorf("line %d: %w", line, err)
	}
	return nil
}

// setListed sets the values of a node of a list.
func (tx *Tx) setListed(k Key, columns []edgelist.Property, values []edgelist.Value) error {
	id, _ := tx.batch.ID(k)
	for i := range values {
		if values[i].Type == edgelist.AnyType {
			continue
		}
		if err := tx.batch.SetProperty(id, columns[i].Name, listedValue(&values[i])); err != nil {
			return nodeError(k, err)
		}
	}
	return nil
}

// bulkNodes adds the nodes of a list to a bulk load.
type bulkNodes struct {
	*nodeLoad
	now   *snapshot
	bulk  *index.Bulk
	label struct { // of the previous node
		name   string
		number uint16
	}
	numbers []uint16 // of the properties of the columns
	known   []bool   // which columns have one
	values  []index.NodeValue
}

// begin begins a bulk load, which the caller must end.
func (l *nodeLoad) begin(ctx context.Context) (*bulkNodes, error) {
	if err := l.db.lock(ctx); err != nil {
		return nil, err
	}
	now, err := l.db.pin()
	if err != nil {
		l.db.unlock()
		return nil, err
	}
	columns := len(l.list.Properties)
	return &bulkNodes{
		nodeLoad: l, now: now, bulk: l.db.newBulk(now, l.files, KeepLast), numbers: make([]uint16, columns), known: make([]bool, columns),
	}, nil
}

// end ends the load.
func (b *bulkNodes) end() {
	b.bulk.Close()
	b.db.unpin(b.now)
	b.db.unlock()
}

// take adds some nodes and counts them. A node that cannot be stored is a malformed line.
func (b *bulkNodes) take(ctx context.Context, some []nodeLine) error {
	for i := range some {
		err := some[i].err
		if err == nil {
			err = b.add(&some[i].Node)
		}
		if err == nil {
			b.report.Lines++
		} else if err := b.skip(err); err != nil {
			return err
		}
	}
	if b.o.Progress != nil {
		b.o.Progress(b.report.Lines)
	}
	return ctx.Err()
}

func (b *bulkNodes) add(n *edgelist.Node) error {
	node, err := listedNode(n, b.o.Label)
	if err != nil {
		return err
	}
	if err = node.Key.Valid(); err != nil {
		err = inputError(err)
	} else {
		err = b.setLabel(&node)
	}
	if err == nil {
		err = nodeError(node.Key, b.setValues(n.Values))
	}
	if err == nil {
		if err = b.bulk.Node(node.Key, b.label.number, b.values); errors.Is(err, index.ErrFeatureLen) {
			err = nodeError(node.Key, err)
		}
	}
	return lineError(n.Line, err)
}

// setLabel sets the label of the next node.
func (b *bulkNodes) setLabel(n *Node) (err error) {
	if n.Label != b.label.name {
		b.label.name = ""
		if b.label.number, err = b.bulk.Label(n.Label); err != nil {
			return nodeError(n.Key, err)
		}
		b.label.name = n.Label
	}
	if n.Label == "" {
		return nil
	}
	if id, exists := b.now.ID(n.Key); exists {
		return checkRelabel(b.now.Snapshot, n.Key, id, n.Label)
	}
	return nil
}

// setValues sets the values of the next node.
func (b *bulkNodes) setValues(values []edgelist.Value) (err error) {
	b.values = b.values[:0]
	for i := range values {
		if values[i].Type == edgelist.AnyType {
			continue
		}
		v, name := listedValue(&values[i]), b.list.Properties[i].Name
		if err := v.Check(); err != nil {
			return fmt.Errorf("property %q: %w", name, err)
		}
		if !b.known[i] {
			if b.numbers[i], err = b.bulk.Property(name, v.Kind()); err != nil {
				return err
			}
			b.known[i] = true
		}
		b.values = append(b.values, index.NodeValue{Property: b.numbers[i], Value: v})
	}
	return nil
}

// commit writes and commits the graph with the nodes.
func (b *bulkNodes) commit(ctx context.Context) error {
	next, _, err := b.db.writeBulk(ctx, b.now, b.bulk)
	if errors.Is(err, index.ErrTooLarge) {
		err = inputError(err)
	}
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	if err := b.db.commitBulk(ctx, b.now, next); err != nil {
		return err
	}
	b.report.Nodes = next.Meta.Live - b.now.Meta.Live
	return nil
}

// listedType returns a function for edgelist.Options.PropertyType.
func (db *DB) listedType() func(name string) (edgelist.PropertyType, error) {
	m := &db.now.Load().Meta
	properties := len(m.Properties)
	return func(name string) (t edgelist.PropertyType, err error) {
		if reserved(name) {
			return t, fmt.Errorf("a property cannot have the name %q, which means something else in a condition", name)
		}
		number, known := m.PropertyNumber(name)
		if known && m.Properties[number].Nodes > 0 {
			return t, t.UnmarshalText([]byte(m.Properties[number].Kind.String()))
		}
		if !known {
			properties++
		}
		if properties > index.MaxProperties {
			return t, fmt.Errorf("a database has at most %d properties", index.MaxProperties)
		}
		return t, Str(name).Valid()
	}
}
