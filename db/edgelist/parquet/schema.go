package parquet

import (
	"fmt"
	"reflect"

	"github.com/parquet-go/parquet-go"

	"kith/db/edgelist"
)

// columns is the root of a schema. Unlike a [parquet.Group], it keeps the order of its columns.
type columns struct {
	parquet.Group
	order []parquet.Field
}

// column is a column of a schema.
type column struct {
	parquet.Node
	name string
}

func (c column) Name() string { return c.name }

// Value returns the column of a Go value. Rows are not written as Go values, so it is not called.
func (c column) Value(base reflect.Value) reflect.Value {
	return base.MapIndex(reflect.ValueOf(c.name))
}

func (c columns) Fields() []parquet.Field { return c.order }

// schemaOf returns the schema of a file with the given columns.
func schemaOf(fields []edgelist.Field) (*parquet.Schema, error) {
	root := columns{Group: parquet.Group{}}
	for _, f := range fields {
		node, err := nodeOf(f.Type)
		if err != nil {
			return nil, fmt.Errorf("parquet: column %q: %w", f.Name, err)
		}
		if _, twice := root.Group[f.Name]; twice || f.Name == "" {
			return nil, fmt.Errorf("parquet: column %q: a name must not be empty or occur twice", f.Name)
		}
		root.Group[f.Name] = node
		root.order = append(root.order, column{node, f.Name})
	}
	return parquet.NewSchema("kith", root), nil
}

// nodeOf returns the Parquet type of a column. Texts and times are optional, because a node may
// have no label and an edge no time.
func nodeOf(t edgelist.Type) (parquet.Node, error) {
	switch t {
	case edgelist.Integer:
		return parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked), nil
	case edgelist.Timestamp:
		return parquet.Optional(parquet.Encoded(parquet.Timestamp(parquet.Millisecond), &parquet.DeltaBinaryPacked)), nil
	case edgelist.Single:
		return parquet.Leaf(parquet.FloatType), nil
	case edgelist.Double:
		return parquet.Leaf(parquet.DoubleType), nil
	case edgelist.String:
		return parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary)), nil
	case edgelist.Floats:
		return parquet.List(parquet.Leaf(parquet.FloatType)), nil
	}
	return nil, fmt.Errorf("unknown type %d", t)
}
