// Package feed defines the binary form of a change: what one commit did to a database, for a copy
// that repeats it.
//
// A [Document] consists of a change of package index, the keys of the nodes that it names, and the
// documents of the versions of a model that the commit made. [New] makes it from the store,
// [Unmarshal] reads it, and both leave a Document whose nodes all have keys. The package knows
// nothing of transactions: package db reads the changes that are kept, and applies them.
package feed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/vmihailenco/msgpack/v5"

	"kith/db/internal/record"
	"kith/index"
)

// ErrGap is returned for a change that does not follow the version of a database.
var ErrGap = errors.New("db: changes are missing before this one")

// format is the version of the binary form.
const format = 2

// Document is a change in its binary form, without the checksum. It refers to nodes by id and lists
// the key of each. db.Change.MarshalBinary describes the members.
type Document struct {
	Format       int        `msgpack:"format"`
	Database     string     `msgpack:"database"`
	Version      uint64     `msgpack:"version"`
	IDs          []index.ID `msgpack:"ids"`  // ascending
	Names        []any      `msgpack:"keys"` // keys of IDs: an int64 or a string each, nil for an erased node
	New          int        `msgpack:"new"`  // number of ids from First on that the commit assigned
	index.Change `msgpack:",inline"`
	Made         []Made `msgpack:"made,omitempty"` // versions of the model that the commit made

	keys map[index.ID]index.Key
}

// Made is a version of a model, as it is stored.
type Made struct {
	Number   int    `msgpack:"number"`
	Document []byte `msgpack:"document"`
	Vectors  []byte `msgpack:"vectors,omitempty"`
}

// New reads the change of a version from a database, which is given at that version or a later one.
func New(r index.Reader, s *index.Snapshot, version uint64) (*Document, error) {
	c, err := index.GetChange(r, version)
	if err != nil {
		return nil, err
	}
	if err := c.Scrub(s.Erased, record.StripOutcome); err != nil {
		return nil, fmt.Errorf("change of version %d: %w", version, err)
	}
	d := &Document{Format: format, Database: s.Meta.ID, Version: version, New: len(c.Keys), Change: *c}
	more, err := d.outcomeIDs()
	if err != nil {
		return nil, fmt.Errorf("change of version %d: %w", version, err)
	}
	for _, id := range c.IDs(more...) {
		if int64(id) >= s.Meta.Nodes {
			return nil, fmt.Errorf("%w: the change of version %d names node %d", index.ErrCorrupt, version, id)
		}
		d.IDs, d.Names = append(d.IDs, id), append(d.Names, s.Key(id).Value())
	}
	if err := d.addMade(r); err != nil {
		return nil, fmt.Errorf("change of version %d: %w", version, err)
	}
	return d, d.readNames()
}

// outcomeIDs returns the ids of the nodes that the observations and the decisions name.
func (d *Document) outcomeIDs() (ids []index.ID, err error) {
	for _, doc := range d.Observed {
		o, err := record.Decode[record.Observation](index.Document{Bytes: doc})
		if err != nil {
			return nil, fmt.Errorf("observation: %w", err)
		}
		ids = append(ids, o.IDs()...)
	}
	for _, doc := range d.Decisions {
		made, err := record.Decode[record.Decision](index.Document{Bytes: doc})
		if err != nil {
			return nil, fmt.Errorf("decision: %w", err)
		}
		ids = append(ids, made.IDs()...)
	}
	return ids, nil
}

// addMade adds the documents of the versions of a model that the change made.
func (d *Document) addMade(r index.Reader) error {
	if d.Model == nil || len(d.Model.Serials) == 0 {
		return nil
	}
	of, err := d.Registry()
	if err != nil {
		return err
	}
	for _, v := range of.Versions {
		if !slices.Contains(d.Model.Serials, v.Serial) {
			continue
		}
		made := Made{Number: v.Number}
		if made.Document, err = index.GetDocument(r, d.Model.Name, v.Serial); err != nil {
			return err
		}
		if v.Vectors != 0 {
			if made.Vectors, err = index.GetDocument(r, d.Model.Name, v.Vectors); err != nil {
				return err
			}
		}
		d.Made = append(d.Made, made)
	}
	d.Model.Serials = nil // they mean nothing elsewhere
	return nil
}

// Marshal returns the binary form: a map in msgpack, followed by its CRC-32C in 4 bytes, the lowest
// first.
func (d *Document) Marshal() ([]byte, error) {
	b, err := msgpack.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("db: change: %w", err)
	}
	return binary.LittleEndian.AppendUint32(b, index.Checksum(b)), nil
}

// Unmarshal reads the output of Marshal. It returns index.ErrCorrupt for bytes that were altered or
// truncated, and index.ErrMismatch for another format.
func Unmarshal(b []byte) (*Document, error) {
	n := len(b) - 4
	if n < 0 || index.Checksum(b[:n]) != binary.LittleEndian.Uint32(b[n:]) {
		return nil, fmt.Errorf("%w: a change of %d bytes has another checksum", index.ErrCorrupt, len(b))
	}
	var of struct {
		Format int `msgpack:"format"`
	}
	if err := index.Unmarshal(b[:n], &of); err != nil {
		return nil, fmt.Errorf("%w: change: %w", index.ErrCorrupt, err)
	}
	if of.Format != format {
		return nil, fmt.Errorf("%w: change of format %d; this kith reads format %d only", index.ErrMismatch, of.Format, format)
	}
	d := new(Document)
	if err := index.Unmarshal(b[:n], d); err != nil {
		return nil, fmt.Errorf("%w: change: %w", index.ErrCorrupt, err)
	}
	return d, d.readNames()
}

// readNames fills in the keys of the nodes. It returns index.ErrCorrupt if they are not consistent.
func (d *Document) readNames() error {
	if len(d.Names) != len(d.IDs) || d.New < 0 || d.New > len(d.IDs) {
		return fmt.Errorf("%w: %d keys of %d nodes, %d of them new", index.ErrCorrupt, len(d.Names), len(d.IDs), d.New)
	}
	d.keys, d.Keys = make(map[index.ID]index.Key, len(d.IDs)), nil
	for i, id := range d.IDs {
		k, ok := record.KeyOf(d.Names[i])
		if d.Names[i] == nil {
			k, ok = index.Erased(id), true
		}
		switch {
		case !ok || k.Valid() != nil && d.Names[i] != nil:
			return fmt.Errorf("%w: the name of node %d is no key", index.ErrCorrupt, id)
		case i > 0 && id <= d.IDs[i-1]:
			return fmt.Errorf("%w: node %d follows node %d", index.ErrCorrupt, id, d.IDs[i-1])
		}
		d.keys[id] = k
	}
	for i := range d.New {
		d.Keys = append(d.Keys, d.keys[d.First+index.ID(i)]) // haveKeys finds one that is missing
	}
	if err := d.haveRelations(); err != nil {
		return err
	}
	if err := d.haveProperties(); err != nil {
		return err
	}
	if !slices.IsSorted(d.Erased) {
		return fmt.Errorf("%w: the erased nodes do not ascend", index.ErrCorrupt)
	}
	return d.haveKeys(d.Change.IDs())
}

// haveRelations returns index.ErrCorrupt unless the relations of all edges are listed.
func (d *Document) haveRelations() error {
	listed := map[uint16]bool{0: true}
	for _, r := range d.Relations {
		listed[r.Number] = true
	}
	for _, e := range d.Edges {
		if !listed[e.Relation] {
			return fmt.Errorf("%w: relation %d has no name", index.ErrCorrupt, e.Relation)
		}
	}
	return nil
}

// haveProperties returns index.ErrCorrupt unless the properties of all values are listed.
func (d *Document) haveProperties() error {
	listed := map[uint16]bool{}
	for _, p := range d.Properties {
		listed[p.Number] = true
	}
	for _, v := range d.Values {
		if !listed[v.Property] {
			return fmt.Errorf("%w: property %d has no name", index.ErrCorrupt, v.Property)
		}
	}
	return nil
}

// haveKeys returns index.ErrCorrupt unless the keys of all nodes are listed.
func (d *Document) haveKeys(ids []index.ID) error {
	for _, id := range ids {
		if _, ok := d.keys[id]; !ok {
			return fmt.Errorf("%w: node %d has no key", index.ErrCorrupt, id)
		}
	}
	return nil
}

// Key returns the key of a node that the change names.
func (d *Document) Key(id index.ID) index.Key { return d.keys[id] }

// Outcomes decodes the observations and the decisions, in their order. It returns index.ErrCorrupt
// for a damaged one.
func (d *Document) Outcomes() (observed []*record.Observation, decided []*record.Decision, err error) {
	for _, doc := range d.Observed {
		o, err := record.Decode[record.Observation](index.Document{Bytes: doc})
		if err == nil {
			err = d.haveKeys(o.IDs())
		}
		if err != nil {
			return nil, nil, fmt.Errorf("observation: %w", err)
		}
		observed = append(observed, o)
	}
	for _, doc := range d.Decisions {
		made, err := record.Decode[record.Decision](index.Document{Bytes: doc})
		if err == nil {
			err = d.haveKeys(made.IDs())
		}
		if err == nil && !made.Consistent(1<<32) {
			err = index.ErrCorrupt
		}
		if err != nil {
			return nil, nil, fmt.Errorf("decision: %w", err)
		}
		decided = append(decided, made)
	}
	return observed, decided, nil
}

// Registry returns the registry of the model that the change is about. It returns index.ErrCorrupt
// if it is not consistent.
func (d *Document) Registry() (r record.Registry, err error) {
	if err := index.Unmarshal(d.Model.Note, &r); err != nil {
		return r, fmt.Errorf("%w: model %q: %w", index.ErrCorrupt, d.Model.Name, err)
	}
	err = r.Consistent(r.Version, r.Kept())
	for _, m := range d.Made {
		if _, ok := r.Find(m.Number); !ok && err == nil {
			err = fmt.Errorf("version %d is not one of its versions", m.Number)
		}
	}
	if err == nil && len(d.Made) > 1 {
		err = fmt.Errorf("a change made %d versions", len(d.Made))
	}
	if err == nil {
		err = record.CheckName(d.Model.Name)
	}
	if err != nil {
		return r, fmt.Errorf("%w: model %q: %w", index.ErrCorrupt, d.Model.Name, err)
	}
	return r, nil
}

// Follows reports whether the change is the next one after a version of a database. It returns
// false if the database already has it, and an error if it cannot be applied.
func (d *Document) Follows(s *index.Snapshot) (bool, error) {
	m := &s.Meta
	switch {
	case d.Database != m.ID:
		return false, fmt.Errorf("%w: it is of database %s, not of %s", index.ErrMismatch, d.Database, m.ID)
	case d.Version == m.Version && d.After != m.History:
		return false, fmt.Errorf("%w: the database went another way to this version; restore a backup", index.ErrMismatch)
	case d.Version <= m.Version:
		return false, nil
	case d.Version > m.Version+1:
		return false, fmt.Errorf("%w: the database is at version %d", ErrGap, m.Version)
	case d.Before != m.History:
		return false, fmt.Errorf("%w: the database went another way up to version %d; restore a backup", index.ErrMismatch, m.Version)
	}
	for i, id := range d.IDs {
		if int64(id) < m.Nodes && s.Key(id) != d.keys[id] && !d.keys[id].Erased() {
			return false, fmt.Errorf("%w: node %d is %v, not %v", index.ErrMismatch, id, s.Key(id).Literal(), d.Names[i])
		}
	}
	return true, nil
}
