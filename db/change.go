package db

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"kith/db/internal/feed"
	"kith/index"
)

// Changes.
//
// A database that was opened once with Options.ChangeBytes keeps what its commits do: nodes, edges,
// features, variables, observations, decisions and models. [DB.Changes] yields one change for each
// commit, in order, once it is durable. A reader resumes after the last version that it has seen.
// [DB.Apply] repeats changes in a copy that was restored from a backup and opened with
// Options.Follower. The copy then has the same version, node ids and models as the database that it
// follows. With NoCache it gives the same answers, bit for bit, if binary, architecture and
// Options.Memory are the same. It learns and is trained only by what it applies: it learns an
// observation again, and the change has the document of a version that was trained.
//
// A change is made of records that a commit writes anyway (its log record, its observations and
// decisions, the documents of models), which are kept for longer, and of one more record for the
// rest. See package index, "Changes". Each database has an identity, which its backups share, and a
// checksum over its history. So a change that was applied before is ignored, and a change that does
// not come next, comes from another database, or follows another history is refused.
//
// A [DB.Load] is not a change, because it may be larger than everything else that is kept. It
// forgets the changes before it, as does turning the option off. A reader that asks for a forgotten
// version gets ErrForgotten, and a follower begins again with a backup.
//
// How much is kept is a property of the database, which its backups have too: a restored copy keeps
// changes as the database does, so it can be followed in its place.

// Change is what one commit did. [DB.Changes] yields changes and [DB.Apply] repeats them in another
// database. The fields describe the commit. A Change from Changes or UnmarshalBinary also holds
// what Apply needs; a literal cannot be applied.
type Change struct {
	Database     string           `json:"database"` // identity of the database, which its backups and followers share
	Version      uint64           `json:"version"`  // version of the database that the commit made
	Time         time.Time        `json:"time"`     // time of the commit
	Before       string           `json:"-"`        // Stats.Contents before the commit
	After        string           `json:"-"`        // Stats.Contents after the commit
	Nodes        []NodeChange     `json:"nodes,omitzero"`
	Edges        []EdgeChange     `json:"edges,omitzero"`
	Features     []FeatureChange  `json:"features,omitzero"`
	Properties   []PropertyChange `json:"properties,omitzero"`
	Variables    []Variable       `json:"variables,omitzero"` // variables that were set or removed
	Observations []Observation    `json:"observations,omitzero"`
	Decisions    []Decision       `json:"decisions,omitzero"` // decisions that were made or rewarded
	Model        *ModelChange     `json:"model,omitzero"`     // nil if the commit changed no model, apart from what it observed

	document *feed.Document
}

// NodeChange is a node that a commit added, labelled, deleted or erased, as it is afterwards. An
// erased node has no key, neither in the change that erased it nor in those before; see [Tx.Erase].
type NodeChange struct {
	Node    Key    `json:"node"`
	Label   string `json:"label"`
	Deleted bool   `json:"deleted,omitzero"`
	Erased  bool   `json:"erased,omitzero"` // the commit erased it
}

// EdgeChange is an edge that a commit added, changed or deleted, as it is afterwards. The weight of
// a deleted edge is 0. The edges of a deleted node are listed, too.
type EdgeChange struct {
	Src      Key       `json:"src"`
	Dst      Key       `json:"dst"`
	Relation string    `json:"relation,omitzero"`
	Weight   float32   `json:"weight"`
	Time     time.Time `json:"time,omitzero"`
	Deleted  bool      `json:"deleted,omitzero"`
}

// FeatureChange is the feature vector of a node after a commit that set or removed it. No numbers
// mean none.
type FeatureChange struct {
	Node     Key       `json:"node"`
	Features []float32 `json:"features,omitzero"`
}

// PropertyChange is the value that a node has of a property after a commit that set or removed it.
// A value that is nil means none.
type PropertyChange struct {
	Node     Key    `json:"node"`
	Property string `json:"property"`
	Value    any    `json:"value"`
}

// ModelChange is a model after a commit that created, trained, deployed, froze, imported or dropped
// it.
type ModelChange struct {
	Model     string `json:"model"`
	Dropped   bool   `json:"dropped,omitzero"`
	Version   int    `json:"model_version,omitzero"` // version that is deployed
	Made      []int  `json:"made,omitzero"`          // versions that the commit made
	Frozen    bool   `json:"frozen,omitzero"`
	Answering string `json:"answering"` // name of the model that answers requests without a name; "" means none
}

// MarshalBinary implements [encoding.BinaryMarshaler]. The form is a map in msgpack, which other
// programs can read, followed by its CRC-32C in 4 bytes, the lowest first. Its members are:
//
//	format       2
//	database     the identity of the database
//	version      the version that the commit made
//	time         the time of the commit, in nanoseconds since 1970
//	before after checksums of the history of the database, before and after the commit
//	ids keys     the nodes that the change mentions: their numbers, ascending, and their keys, integers or strings;
//	             nil for a node that was erased since
//	first new    the number of the first new node, and how many there are; they may be deleted again
//	labels       list of [number, name, length of feature vectors]
//	nodes        list of [id, number of the label, deleted]
//	erased       list of the ids of nodes that were erased
//	scrubbed     what names erased nodes was removed: [checksum of what the commit did, unused]
//	relations    list of [number, name, directed, exclude]
//	edges        list of [id, id, weight before, weight after (0: none), time in seconds (0: none), number of the relation]
//	vectors      list of [id, float32 in little endian, or nil]
//	properties   list of [number, name, type: 1 bool, 2 integer, 3 float, 4 string, 5 time, 6 list]
//	values       list of [id, number of the property, value: its type in a byte, 0 for none, then a varint (zigzag;
//	             of a time, microseconds), a float64 in little endian, or a string after its length in a
//	             uvarint; a list is the number of its strings and the strings]
//	variables    list of [name, value]; a variable without a value was removed
//	observed     list of maps: model, source, target, reward, chosen, contexts, offered and others
//	decisions    list of maps: id, source, candidates, scores, propensities, places and others
//	decided      number of decisions made so far
//	model        map: name, answering and, unless the model was dropped, note
//	made         list of maps: number, document and vectors of a version, as package model encodes it
//
// Members without a value may be missing, and others may be added.
func (c Change) MarshalBinary() ([]byte, error) {
	if c.document == nil {
		return nil, inputf("a change that is not from Changes has no binary form")
	}
	return c.document.Marshal()
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. It reads the output of MarshalBinary. It
// returns ErrCorrupt for bytes that were altered or truncated, and ErrMismatch for another format.
func (c *Change) UnmarshalBinary(b []byte) error {
	d, err := feed.Unmarshal(b)
	if err != nil {
		return err
	}
	read, err := newChange(d)
	if err != nil {
		return fmt.Errorf("change of version %d: %w", d.Version, err)
	}
	*c = read
	return nil
}

// newChange returns the change of a document, with the keys of the nodes in place of their ids. It
// returns ErrCorrupt for a document that is not consistent.
func newChange(d *feed.Document) (Change, error) {
	c := Change{
		Database: d.Database, Version: d.Version, Time: time.Unix(0, d.Time).UTC(), document: d,
		Before: contents(d.Database, d.Version-1, d.Before), After: contents(d.Database, d.Version, d.After),
	}
	labels := map[uint16]string{}
	for _, l := range d.Labels {
		labels[l.Number] = l.Name
	}
	relations := map[uint16]string{}
	for _, r := range d.Relations {
		relations[r.Number] = r.Name
	}
	listed, erased := map[index.ID]bool{}, map[index.ID]bool{}
	for _, id := range d.Erased {
		erased[id] = true
	}
	for _, n := range d.Nodes {
		listed[n.ID] = true
	}
	for i, k := range d.Keys {
		if !listed[d.First+index.ID(i)] {
			c.Nodes = append(c.Nodes, NodeChange{Node: k})
		}
	}
	for _, n := range d.Nodes {
		c.Nodes = append(c.Nodes, NodeChange{d.Key(n.ID), labels[n.Label], n.Deleted, erased[n.ID]})
	}
	for _, id := range d.Erased {
		if !listed[id] { // it was deleted before
			c.Nodes = append(c.Nodes, NodeChange{Node: d.Key(id), Deleted: true, Erased: true})
		}
	}
	for _, e := range d.Edges {
		if e.Old == 0 && e.Weight == 0 {
			continue // the commit added and deleted it
		}
		c.Edges = append(c.Edges, EdgeChange{d.Key(e.U), d.Key(e.V), relations[e.Relation], e.Weight, edgeTime(e.Time), e.Weight == 0})
	}
	for _, v := range d.Vectors {
		c.Features = append(c.Features, FeatureChange{d.Key(v.ID), v.Features()})
	}
	names := map[uint16]string{}
	for _, p := range d.Properties {
		names[p.Number] = p.Name
	}
	for _, v := range d.Values {
		c.Properties = append(c.Properties, PropertyChange{d.Key(v.ID), names[v.Property], v.Value.Any()})
	}
	for _, v := range d.Variables {
		c.Variables = append(c.Variables, newVariable(v))
	}
	observed, decided, err := d.Outcomes()
	if err != nil {
		return Change{}, err
	}
	for _, o := range observed {
		c.Observations = append(c.Observations, newObservation(o, d.Version, d.Key))
	}
	for _, made := range decided {
		c.Decisions = append(c.Decisions, newDecision(made, d.Key))
	}
	c.Model, err = newModelChange(d)
	return c, err
}

// newModelChange returns the change of a model, or nil if the document changes none.
func newModelChange(d *feed.Document) (*ModelChange, error) {
	if d.Model == nil {
		return nil, nil
	}
	c := &ModelChange{Model: d.Model.Name, Dropped: len(d.Model.Note) == 0, Answering: d.Model.Answering}
	if c.Dropped {
		return c, nil
	}
	r, err := d.Registry()
	if err != nil {
		return nil, err
	}
	c.Version, c.Frozen = r.Version, r.Frozen
	for _, m := range d.Made {
		c.Made = append(c.Made, m.Number)
	}
	return c, nil
}

// Changes yields the change of each commit after version since, in order, as the commits become
// durable. It waits for further commits until ctx ends, and then yields the error of ctx, or
// ErrClosed when the database is closed. A follower resumes with the version that it has. No
// transaction is open while Changes yields.
//
// Options.ChangeBytes says which changes are kept. Changes yields ErrForgotten if the change after
// since is not kept. A Load is too large to be a change, so it forgets all versions before it. A
// follower that needs a forgotten change begins again with a backup. Changes yields ErrMismatch if
// the database has not reached version since, and ErrInput if it keeps no changes.
func (db *DB) Changes(ctx context.Context, since uint64) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		db.changeReaders.Add(1)
		defer db.changeReaders.Add(-1)
		for {
			next := db.published.next()
			changes, err := db.changesAfter(ctx, since)
			for _, c := range changes {
				if !yield(c, nil) {
					return
				}
				since = c.Version
			}
			if err == nil && len(changes) == 0 {
				select {
				case <-next:
				case <-ctx.Done():
					err = ctx.Err()
				case <-db.jobs.ctx.Done():
					err = ErrClosed
				}
			}
			if err != nil {
				yield(Change{}, err)
				return
			}
		}
	}
}

// Limits of what Changes reads in one transaction.
const (
	maxChangesRead = 256
	maxBytesRead   = 1 << 20
)

// changesAfter returns the next changes after a version, up to the limits of one transaction. It
// returns no changes if there are no newer ones.
func (db *DB) changesAfter(ctx context.Context, since uint64) (all []Change, err error) {
	bytes := int64(0)
	err = db.View(ctx, func(tx *Tx) error {
		for c, err := range tx.Changes(since) {
			if err := cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			all = append(all, c)
			if bytes += c.document.Bytes; len(all) == maxChangesRead || bytes > maxBytesRead {
				return nil
			}
		}
		return nil
	})
	return all, err
}

// Changes yields the changes after version since, up to the version of the transaction. See
// [DB.Changes].
func (tx *Tx) Changes(since uint64) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		if tx.ended {
			yield(Change{}, ErrClosed)
			return
		}
		m := &tx.snap.Meta
		var err error
		switch {
		case m.KeepBytes == 0:
			err = inputf("the database keeps no changes; kith changes --keep or Options.ChangeBytes turns it on")
		case since > m.Version:
			err = fmt.Errorf("%w: changes after version %d are asked for, the database is at version %d", ErrMismatch, since, m.Version)
		case since < m.Kept:
			err = fmt.Errorf("%w: those after version %d are asked for, those after version %d are kept; restore a backup of a later version",
				ErrForgotten, since, m.Kept)
		}
		if err != nil {
			yield(Change{}, err)
			return
		}
		for version := since + 1; version <= m.Version; version++ {
			c, err := tx.change(version)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// change reads the change of a version.
func (tx *Tx) change(version uint64) (Change, error) {
	d, err := feed.New(tx.reader, tx.snap.Snapshot, version)
	if err != nil {
		return Change{}, err
	}
	return newChange(d)
}

// checkChanges opens every change that is kept.
func (tx *Tx) checkChanges(ctx context.Context) error {
	return tx.snap.Meta.CheckChanges(tx.reader, func(version uint64) error {
		_, err := tx.change(version)
		return cmp.Or(err, ctx.Err())
	})
}

// forgetChangesIfDue forgets the oldest changes when they take an eighth more than is to be kept.
// The writer calls it.
func (db *DB) forgetChangesIfDue(s *snapshot) error {
	limit := s.Meta.KeepBytes
	if s.Meta.KeptBytes-limit <= limit/8 {
		return nil
	}
	if err := db.waitDurable(); err != nil {
		return err
	}
	if err := db.keepChanges(limit); err != nil {
		db.opts.Logger.Error("forgetting changes", "err", err)
	}
	return nil
}

// setChangeBytes stores a value of Options.ChangeBytes other than 0. Open calls it.
func (db *DB) setChangeBytes(bytes int64) error {
	if bytes == 0 || max(bytes, 0) == db.now.Load().Meta.KeepBytes {
		return nil
	}
	return db.keepChanges(max(bytes, 0))
}

// keepChanges sets how many bytes of changes are kept. It marks the oldest changes beyond that as
// forgotten in the meta record, and then deletes them.
func (db *DB) keepChanges(limit int64) error {
	s := db.now.Load()
	r := db.store.Read(s.ts)
	defer r.Close()
	next, err := s.KeepChanges(r, limit)
	if err != nil {
		return err
	}
	ts := s.ts + 1
	if err := db.store.Commit(ts, next.WriteMeta); err != nil {
		return err
	}
	db.publish(&snapshot{next, s.models, ts})
	db.tidy(ts, func(r index.Reader, w index.Writer) error {
		return next.Meta.DropForgotten(r, w, s.Meta.Kept)
	})
	db.dropDocuments(ts)
	return nil
}
