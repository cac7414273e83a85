package model

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"kith/model/nn"
)

// vectorsDocument is the stored form of vectors. Matrices are encoded by packRows, other numbers by packFloats.
type vectorsDocument struct {
	Nodes, Rank int
	Mean        float64
	Value       []byte
	Out         []byte `msgpack:",omitempty"` // of a directed graph only
	In          []byte
	Profile     *profileDocument `msgpack:",omitempty"`
}

type profileDocument struct {
	Topics int
	Rarity []byte
	Basis  []byte
	Norm   []byte
	Part   [][]byte
	Kin    []byte
	Places int
	Value  []byte
	Place  []byte
}

func (v *vectors) document() *vectorsDocument {
	if v == nil {
		return nil
	}
	s := v.spectrum
	d := &vectorsDocument{Nodes: s.in.Rows, Rank: len(s.value), Mean: s.mean, Value: nn.PackFloats(s.value), In: nn.PackRows(s.in)}
	if s.directed {
		d.Out = nn.PackRows(s.out)
	}
	if p := v.profile; p != nil {
		d.Profile = &profileDocument{
			Topics: p.topics.Cols, Rarity: nn.PackFloats(p.rarity), Basis: nn.PackRows(p.topics), Norm: nn.PackFloats(p.norm), Kin: packAdjacency(p.kin),
			Places: len(p.position.value), Value: nn.PackFloats(p.position.value), Place: nn.PackRows(p.position.row),
		}
		for _, x := range p.part {
			d.Profile.Part = append(d.Profile.Part, nn.PackRows(x))
		}
	}
	return d
}

// unpackVectors returns the vectors of a belief: those in memory, in its document or in the separate document.
func (d *beliefDocument) unpackVectors() (*vectors, error) {
	switch {
	case d.vectors != nil:
		return d.vectors, nil
	case !d.Apart:
		return d.Vectors.vectors()
	}
	var apart vectorsDocument
	if err := open(vectorsMagic, d.packed, &apart); err != nil {
		return nil, fmt.Errorf("vectors of the nodes: %w", err)
	}
	return apart.vectors()
}

// vectors decodes the document.
func (d *vectorsDocument) vectors() (*vectors, error) {
	if d == nil {
		return nil, nil
	}
	switch {
	case d.Nodes < 0 || d.Nodes > math.MaxUint32 || d.Rank < 0 || len(d.Value) != 4*d.Rank:
		return nil, fmt.Errorf("%d singular values of %d nodes in %d bytes", d.Rank, d.Nodes, len(d.Value))
	case !nn.Finite(d.Mean) || d.Mean < 0:
		return nil, fmt.Errorf("%v neighbours on average", d.Mean)
	}
	s := &spectrum{value: make([]float32, d.Rank), mean: d.Mean, directed: d.Out != nil}
	if !nn.UnpackFloats(s.value, d.Value) {
		return nil, errors.New("a singular value is not finite")
	}
	var err error
	if s.in, err = nn.UnpackRows(d.In, d.Nodes, d.Rank); err != nil {
		return nil, err
	}
	s.out = s.in
	if s.directed {
		if s.out, err = nn.UnpackRows(d.Out, d.Nodes, d.Rank); err != nil {
			return nil, err
		}
	}
	s.prepare()
	v := &vectors{spectrum: s}
	if d.Profile != nil {
		v.profile, err = d.Profile.profile(d.Nodes)
	}
	return v, err
}

func (d *profileDocument) profile(nodes int) (*profile, error) {
	if len(d.Part) != profileParts || d.Topics < 0 || len(d.Rarity)%4 != 0 || len(d.Norm) != 4*nodes {
		return nil, fmt.Errorf("profile of %d parts, %d topics, %d and %d bytes", len(d.Part), d.Topics, len(d.Rarity), len(d.Norm))
	}
	p := &profile{rarity: make([]float32, len(d.Rarity)/4), norm: make([]float32, nodes)}
	if !nn.UnpackFloats(p.rarity, d.Rarity) || !nn.UnpackFloats(p.norm, d.Norm) {
		return nil, errors.New("a word is not finite")
	}
	var err error
	if p.topics, err = nn.UnpackRows(d.Basis, len(p.rarity), d.Topics); err != nil {
		return nil, err
	}
	for i, b := range d.Part {
		if p.part[i], err = nn.UnpackRows(b, nodes, d.Topics); err != nil {
			return nil, err
		}
	}
	if p.kin, err = unpackAdjacency(d.Kin, nodes); err != nil {
		return nil, err
	}
	p.position, err = d.position(nodes)
	return p, err
}

func (d *profileDocument) position(nodes int) (*position, error) {
	if d.Places < 0 || len(d.Value) != 4*d.Places {
		return nil, fmt.Errorf("%d eigenvalues in %d bytes", d.Places, len(d.Value))
	}
	p := &position{value: make([]float32, d.Places)}
	if !nn.UnpackFloats(p.value, d.Value) {
		return nil, errors.New("an eigenvalue is not finite")
	}
	var err error
	p.row, err = nn.UnpackRows(d.Place, nodes, d.Places)
	p.prepare()
	return p, err
}

// packAdjacency encodes the length of each row and the differences of its entries as varints.
func packAdjacency(a adjacency) (b []byte) {
	for _, r := range a {
		b = binary.AppendUvarint(b, uint64(len(r)))
		before := ID(0)
		for _, v := range r {
			b = binary.AppendUvarint(b, uint64(v-before))
			before = v
		}
	}
	return b
}

func unpackAdjacency(b []byte, nodes int) (adjacency, error) {
	bad := errors.New("links of kin")
	next := func(below int) (int, bool) {
		v, n := binary.Uvarint(b)
		if n <= 0 || v >= uint64(below) {
			return 0, false
		}
		b = b[n:]
		return int(v), true
	}
	var a adjacency
	for range nodes {
		n, ok := next(len(b)) // each entry takes at least one byte
		if !ok {
			return nil, bad
		}
		var r []ID
		for i := range n {
			d, ok := next(nodes)
			if i > 0 {
				d += int(r[i-1])
			}
			if !ok || d >= nodes || i > 0 && d == int(r[i-1]) {
				return nil, bad
			}
			r = append(r, ID(d))
		}
		a = append(a, r)
	}
	if len(b) > 0 {
		return nil, bad
	}
	return a, nil
}
