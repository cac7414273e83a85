package db

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"kith/db/internal/record"
	"kith/index"
)

// Changes.
//
// A database that was opened once with Options.ChangeBytes keeps what its commits do: nodes, edges,
// features, observations, decisions and models. [DB.Changes] yields one change for each commit, in
// order, once it is durable. A reader resumes after the last version that it has seen. [DB.Apply]
// repeats changes in a copy that was restored from a backup and opened with Options.Follower. The
// copy then has the same version, node ids and models as the database that it follows. With NoCache
// it gives the same answers, bit for bit, if binary, architecture and Options.Memory are the same.
// It learns and is trained only by what it applies: it learns an observation again, and the change
// has the document of a version that was trained.
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
	Database     string          `json:"database"` // identity of the database, which its backups and followers share
	Version      uint64          `json:"version"`  // version of the database that the commit made
	Time         time.Time       `json:"time"`     // time of the commit
	Before       string          `json:"-"`        // Stats.Contents before the commit
	After        string          `json:"-"`        // Stats.Contents after the commit
	Nodes        []NodeChange    `json:"nodes,omitzero"`
	Edges        []EdgeChange    `json:"edges,omitzero"`
	Features     []FeatureChange `json:"features,omitzero"`
	Observations []Observation   `json:"observations,omitzero"`
	Decisions    []Decision      `json:"decisions,omitzero"` // decisions that were made or rewarded
	Model        *ModelChange    `json:"model,omitzero"`     // nil if the commit changed no model, apart from what it observed

	document *changeDocument
}

// NodeChange is a node that a commit added, labelled or deleted, as it is afterwards.
type NodeChange struct {
	Node    Key    `json:"node"`
	Label   string `json:"label"`
	Deleted bool   `json:"deleted,omitzero"`
}

// EdgeChange is an edge that a commit added, changed or deleted, as it is afterwards. The weight of
// a deleted edge is 0. The edges of a deleted node are listed, too.
type EdgeChange struct {
	Src     Key       `json:"src"`
	Dst     Key       `json:"dst"`
	Weight  float32   `json:"weight"`
	Time    time.Time `json:"time,omitzero"`
	Deleted bool      `json:"deleted,omitzero"`
}

// FeatureChange is the feature vector of a node after a commit that set or removed it. No numbers
// mean none.
type FeatureChange struct {
	Node     Key       `json:"node"`
	Features []float32 `json:"features,omitzero"`
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

// changeFormat is the version of the binary form of a Change.
const changeFormat = 1

// changeDocument is the binary form of a Change without its checksum. It refers to nodes by id and
// lists the key of each.
type changeDocument struct {
	Format       int        `msgpack:"format"`
	Database     string     `msgpack:"database"`
	Version      uint64     `msgpack:"version"`
	IDs          []index.ID `msgpack:"ids"`  // ascending
	Names        []any      `msgpack:"keys"` // keys of IDs: an int64 or a string each
	New          int        `msgpack:"new"`  // number of ids from First on that the commit assigned
	index.Change `msgpack:",inline"`
	Made         []madeVersion `msgpack:"made,omitempty"` // versions of the model that the commit made

	keys map[index.ID]Key
}

// madeVersion is a version of a model, as it is stored.
type madeVersion struct {
	Number   int    `msgpack:"number"`
	Document []byte `msgpack:"document"`
	Vectors  []byte `msgpack:"vectors,omitempty"`
}

// MarshalBinary implements [encoding.BinaryMarshaler]. The form is a map in msgpack, which other
// programs can read, followed by its CRC-32C in 4 bytes, the lowest first. Its members are:
//
//	format       1
//	database     the identity of the database
//	version      the version that the commit made
//	time         the time of the commit, in nanoseconds since 1970
//	before after checksums of the history of the database, before and after the commit
//	ids keys     the nodes that the change mentions: their numbers, ascending, and their keys, integers or strings
//	first new    the number of the first new node, and how many there are; they may be deleted again
//	labels       list of [number, name, length of feature vectors]
//	nodes        list of [id, number of the label, deleted]
//	edges        list of [id, id, weight before, weight after (0: none), time in seconds (0: none)]
//	vectors      list of [id, float32 in little endian, or nil]
//	observed     list of maps: model, source, target, reward, chosen, contexts, offered and others
//	decisions    list of maps: id, source, candidates, scores, propensities, chosen, rewarded, reward and others
//	decided      number of decisions made so far
//	model        map: name, answering and, unless the model was dropped, note
//	made         list of maps: number, document and vectors of a version, as package model encodes it
//
// Members without a value may be missing, and others may be added.
func (c Change) MarshalBinary() ([]byte, error) {
	if c.document == nil {
		return nil, inputf("a change that is not from Changes has no binary form")
	}
	b, err := msgpack.Marshal(c.document)
	if err != nil {
		return nil, fmt.Errorf("db: change: %w", err)
	}
	return binary.LittleEndian.AppendUint32(b, index.Checksum(b)), nil
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. It reads the output of MarshalBinary. It
// returns ErrCorrupt for bytes that were altered or truncated, and ErrMismatch for another format.
func (c *Change) UnmarshalBinary(b []byte) error {
	n := len(b) - 4
	if n < 0 || index.Checksum(b[:n]) != binary.LittleEndian.Uint32(b[n:]) {
		return fmt.Errorf("%w: a change of %d bytes has another checksum", ErrCorrupt, len(b))
	}
	var of struct {
		Format int `msgpack:"format"`
	}
	if err := index.Unmarshal(b[:n], &of); err != nil {
		return fmt.Errorf("%w: change: %w", ErrCorrupt, err)
	}
	if of.Format != changeFormat {
		return fmt.Errorf("%w: change of format %d; this kith reads format %d only", ErrMismatch, of.Format, changeFormat)
	}
	d := new(changeDocument)
	if err := index.Unmarshal(b[:n], d); err != nil {
		return fmt.Errorf("%w: change: %w", ErrCorrupt, err)
	}
	read, err := d.open()
	if err != nil {
		return fmt.Errorf("change of version %d: %w", d.Version, err)
	}
	*c = read
	return nil
}

// readNames fills in the keys of the nodes. It returns ErrCorrupt if they are not consistent.
func (d *changeDocument) readNames() error {
	if len(d.Names) != len(d.IDs) || d.New < 0 || d.New > len(d.IDs) {
		return fmt.Errorf("%w: %d keys of %d nodes, %d of them new", ErrCorrupt, len(d.Names), len(d.IDs), d.New)
	}
	d.keys, d.Keys = make(map[index.ID]Key, len(d.IDs)), nil
	for i, id := range d.IDs {
		k, err := KeyOf(d.Names[i])
		if err != nil || i > 0 && id <= d.IDs[i-1] {
			return fmt.Errorf("%w: node %d: %w", ErrCorrupt, id, err)
		}
		d.keys[id] = k
	}
	for i := range d.New {
		d.Keys = append(d.Keys, d.keys[d.First+index.ID(i)]) // haveKeys finds one that is missing
	}
	return d.haveKeys(d.Change.IDs())
}

// open returns the document as a Change, in which nodes are named by their keys.
func (d *changeDocument) open() (Change, error) {
	if err := d.readNames(); err != nil {
		return Change{}, err
	}
	c := Change{
		Database: d.Database, Version: d.Version, Time: time.Unix(0, d.Time).UTC(), document: d,
		Before: contents(d.Database, d.Version-1, d.Before), After: contents(d.Database, d.Version, d.After),
	}
	labels := map[uint16]string{}
	for _, l := range d.Labels {
		labels[l.Number] = l.Name
	}
	listed := map[index.ID]bool{}
	for _, n := range d.Nodes {
		listed[n.ID] = true
	}
	for i, k := range d.Keys {
		if !listed[d.First+index.ID(i)] {
			c.Nodes = append(c.Nodes, NodeChange{Node: k})
		}
	}
	for _, n := range d.Nodes {
		c.Nodes = append(c.Nodes, NodeChange{d.keys[n.ID], labels[n.Label], n.Deleted})
	}
	for _, e := range d.Edges {
		if e.Old == 0 && e.Weight == 0 {
			continue // the commit added and deleted it
		}
		c.Edges = append(c.Edges, EdgeChange{d.keys[e.U], d.keys[e.V], e.Weight, edgeTime(e.Time), e.Weight == 0})
	}
	for _, v := range d.Vectors {
		c.Features = append(c.Features, FeatureChange{d.keys[v.ID], v.Features()})
	}
	if err := d.openOutcomes(&c); err != nil {
		return Change{}, err
	}
	return c, d.openModel(&c)
}

// openOutcomes adds the observations and the decisions to c.
func (d *changeDocument) openOutcomes(c *Change) error {
	key := func(id index.ID) Key { return d.keys[id] }
	for _, doc := range d.Observed {
		rec, err := record.Decode[record.Observation](index.Document{Bytes: doc})
		if err == nil {
			err = d.haveKeys(rec.IDs())
		}
		if err != nil {
			return fmt.Errorf("observation: %w", err)
		}
		c.Observations = append(c.Observations, newObservation(rec, d.Version, key))
	}
	for _, doc := range d.Decisions {
		made, err := record.Decode[record.Decision](index.Document{Bytes: doc})
		if err == nil {
			err = d.haveKeys(made.IDs())
		}
		if err == nil && !made.Consistent(1<<32) {
			err = ErrCorrupt
		}
		if err != nil {
			return fmt.Errorf("decision: %w", err)
		}
		c.Decisions = append(c.Decisions, newDecision(made, key))
	}
	return nil
}

// haveKeys returns ErrCorrupt unless the keys of all nodes are listed.
func (d *changeDocument) haveKeys(ids []index.ID) error {
	for _, id := range ids {
		if _, ok := d.keys[id]; !ok {
			return fmt.Errorf("%w: node %d has no key", ErrCorrupt, id)
		}
	}
	return nil
}

// openModel adds the change of a model to c.
func (d *changeDocument) openModel(c *Change) error {
	if d.Model == nil {
		return nil
	}
	c.Model = &ModelChange{Model: d.Model.Name, Dropped: len(d.Model.Note) == 0, Answering: d.Model.Answering}
	if c.Model.Dropped {
		return nil
	}
	r, err := d.registry()
	if err != nil {
		return err
	}
	c.Model.Version, c.Model.Frozen = r.Version, r.Frozen
	for _, m := range d.Made {
		c.Model.Made = append(c.Model.Made, m.Number)
	}
	return nil
}

// registry returns the registry of the model that the change is about.
func (d *changeDocument) registry() (r record.Registry, err error) {
	if err := index.Unmarshal(d.Model.Note, &r); err != nil {
		return r, fmt.Errorf("%w: model %q: %w", ErrCorrupt, d.Model.Name, err)
	}
	err = r.Consistent(r.Version, r.Kept())
	for _, m := range d.Made {
		if _, ok := r.Find(m.Number); !ok && err == nil {
			err = fmt.Errorf("version %d is not one of its versions", m.Number)
		}
	}
	if err == nil && (checkModelName(d.Model.Name) != nil || len(d.Made) > 1) {
		err = fmt.Errorf("a change made %d versions", len(d.Made))
	}
	if err != nil {
		return r, fmt.Errorf("%w: model %q: %w", ErrCorrupt, d.Model.Name, err)
	}
	return r, nil
}
