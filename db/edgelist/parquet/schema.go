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
		node, err := nodeOf(f)
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

// nodeOf returns the Parquet type of a column. Texts, times, bools and lists of texts are optional,
// because a node may have no label and an edge no time.
func nodeOf(f edgelist.Field) (parquet.Node, error) {
	optional := func(n parquet.Node) parquet.Node {
		if f.Optional {
			return parquet.Optional(n)
		}
		return n
	}
	switch f.Type {
	case edgelist.Integer:
		return optional(parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)), nil
	case edgelist.Timestamp:
		unit := parquet.Millisecond
		if f.Unit == edgelist.Microseconds {
			unit = parquet.Microsecond
		}
		return parquet.Optional(parquet.Encoded(parquet.Timestamp(unit), &parquet.DeltaBinaryPacked)), nil
	case edgelist.Single:
		return parquet.Leaf(parquet.FloatType), nil
	case edgelist.Double:
		return optional(parquet.Leaf(parquet.DoubleType)), nil
	case edgelist.String:
		return parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary)), nil
	case edgelist.Floats:
		return parquet.List(parquet.Leaf(parquet.FloatType)), nil
	case edgelist.Bool:
		return parquet.Optional(parquet.Leaf(parquet.BooleanType)), nil
	case edgelist.Strings:
		return parquet.Optional(parquet.List(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))), nil
	}
	return nil, fmt.Errorf("unknown type %d", f.Type)
}
