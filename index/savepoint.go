package index

// undo holds the steps that undo the changes of a batch since its first open savepoint, in the order of the
// changes.
type undo struct {
	points int // number of open savepoints
	steps  []func()
}

// Savepoint calls f and undoes the changes of f if it returns an error or panics. Savepoints may be nested.
func (b *Batch) Savepoint(f func() error) (err error) {
	u := &b.undo
	u.points++
	back, done := b.back(), false
	defer func() {
		if !done || err != nil {
			back()
		}
		if u.points--; u.points == 0 {
			u.steps = nil
		}
	}()
	err = f()
	done = true
	return err
}

// back returns a function that undoes all later changes.
func (b *Batch) back() func() {
	meta, grown, featureBytes := b.now.Meta, b.grown, b.now.featureBytes
	steps, keys, changes := len(b.undo.steps), len(b.record.keys), len(b.edit.changes)
	return func() {
		b.undo.to(steps)
		for _, k := range b.record.keys[keys:] {
			delete(b.pending, k)
		}
		b.record.keys = b.record.keys[:keys]
		b.edit.shrink(int(meta.Nodes))
		b.edit.changes = b.edit.changes[:changes]
		b.now.Meta, b.grown, b.now.featureBytes = meta, grown, featureBytes
	}
}

// to undoes all steps after the first n, the last one first.
func (u *undo) to(n int) {
	for i := len(u.steps) - 1; i >= n; i-- {
		u.steps[i]()
	}
	u.steps = u.steps[:n]
}

// edge records the current edge from s to t for undo.
func (u *undo) edge(b *Batch, s, t ID) {
	if u.points == 0 {
		return
	}
	had, _ := b.edit.Edge(s, t) // weight 0 if there is no edge
	at, recorded := b.edges[[2]ID{s, t}]
	var change EdgeChange
	if recorded {
		change = b.record.edges[at]
	}
	u.steps = append(u.steps, func() {
		b.edit.Set(s, t, had.Weight, had.Time)
		if recorded {
			b.record.edges[at] = change
			return
		}
		delete(b.edges, [2]ID{s, t})
		b.record.edges = b.record.edges[:len(b.record.edges)-1]
	})
}

// node records the current record of a node for undo.
func (u *undo) node(b *Batch, id ID) {
	if u.points == 0 {
		return
	}
	had := b.now.nodes.at(id)
	at, recorded := b.nodes[id]
	u.steps = append(u.steps, func() {
		b.now.nodes.set(b.by, id, had)
		if recorded {
			b.record.nodes[at].node = had
			return
		}
		delete(b.nodes, id)
		b.record.nodes = b.record.nodes[:len(b.record.nodes)-1]
	})
}

// features records the current vector of a node for undo.
func (u *undo) features(b *Batch, id ID) {
	if u.points == 0 {
		return
	}
	had := b.now.Features(id)
	_, marked := b.features[id/featureBlock]
	u.steps = append(u.steps, func() {
		b.now.features.set(b.by, id, had)
		if !marked {
			delete(b.features, id/featureBlock)
		}
	})
}
