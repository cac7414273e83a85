package db

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/vmihailenco/msgpack/v5"

	"kith/index"
	"kith/model"
)

// A model file is one version of a model:
//
//	file  magic, format version (4 bytes), length of the body (8 bytes; numbers are big-endian), body, sum
//	body  a msgpack document: the model as package model encodes it, and what ImportModel compares
//	sum   SHA-256 of everything before it
//
// A model refers to nodes by ids, which differ between databases, so the file has the keys of these nodes.

const (
	modelMagic      = "kithmdl\n"
	modelFormat     = 1
	modelFileHeader = len(modelMagic) + 4 + 8
)

// modelFile is the body of a model file.
type modelFile struct {
	Name     string     `msgpack:"name"`
	Version  int        `msgpack:"version"`
	Directed bool       `msgpack:"directed"` // whether the graph of origin is directed
	Nodes    []index.ID `msgpack:"nodes"`    // ids of the nodes that the model refers to, ascending
	Keys     []any      `msgpack:"keys"`     // keys of Nodes: an int64 or a string each
	Document []byte     `msgpack:"document"`
}

// ExportModel writes the deployed version of a model to w. See [Tx.ExportModel].
func (db *DB) ExportModel(ctx context.Context, name string, w io.Writer) error {
	return db.View(ctx, func(tx *Tx) error { return tx.ExportModel(ctx, name, 0, w) })
}

// ExportModel writes a version of a model to w for [DB.ImportModel]: weights, samples, random state and what it
// remembers of nodes, which are identified by their keys. Version 0 means the deployed version. ExportModel returns
// ErrNoModel if there is no such model or version.
func (tx *Tx) ExportModel(ctx context.Context, name string, version int, w io.Writer) error {
	m, number, err := tx.copyOf(ctx, name, version)
	if err != nil {
		return err
	}
	doc, err := m.MarshalBinary()
	if err != nil {
		return fmt.Errorf("model %q: %w", name, err)
	}
	f := modelFile{Name: name, Version: number, Directed: tx.snap.Meta.Directed, Nodes: m.Nodes(), Document: doc}
	for _, u := range f.Nodes {
		if int64(u) >= tx.snap.Meta.Nodes {
			return inputf("model %q has a class that is no node: %d", name, u)
		}
		f.Keys = append(f.Keys, tx.snap.Key(u).Value())
	}
	body, err := msgpack.Marshal(&f)
	if err != nil {
		return fmt.Errorf("model %q: %w", name, err)
	}
	b := binary.BigEndian.AppendUint32([]byte(modelMagic), modelFormat)
	b = binary.BigEndian.AppendUint64(b, uint64(len(body)))
	sum := sha256.New()
	for _, part := range [][]byte{b, body} {
		sum.Write(part)
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// copyOf returns a private copy of a version of a model, in its state in the snapshot.
func (tx *Tx) copyOf(ctx context.Context, name string, version int) (*model.Model, int, error) {
	if tx.ended {
		return nil, 0, ErrClosed
	}
	s := tx.snap.models[name]
	if s == nil {
		return nil, 0, noModel(name, tx.snap)
	}
	if _, err := tx.version(s, version); err != nil {
		return nil, 0, err
	}
	if v, _ := s.find(version); version != 0 && version != s.Version {
		l, err := openVersion(tx.reader, name, v)
		if err != nil {
			return nil, 0, fmt.Errorf("%w: model %q, version %d: %w", ErrCorrupt, name, version, err)
		}
		return l.model, version, nil
	}
	for other, doc := range index.Models(tx.reader) {
		if other != name {
			continue
		}
		l, err := openModel(tx.reader, name, doc)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = replay(ctx, tx.reader, tx.snap.Meta.Version, doc.At, map[string]*learner{name: l}, map[string]uint64{name: doc.At})
		}
		if err != nil {
			return nil, 0, fmt.Errorf("model %q: %w", name, err)
		}
		return l.model, l.Version, nil
	}
	return nil, 0, noModel(name, tx.snap)
}
