package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"kith/db/edgelist"
)

// errFile is the error for a file that is not a complete Parquet file.
var errFile = errors.New("parquet: not a complete Parquet file")

const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	// itemBytes is the memory of an item of a list in the footer: the metadata of a column in a row
	// group.
	itemBytes = 1 << 10
)

// readFooter reads the metadata at the end of a file.
func readFooter(file io.ReaderAt, size, memory int64) (m format.FileMetaData, err error) {
	if size < 12 {
		return m, fmt.Errorf("%w: it has %d bytes", errFile, size)
	}
	var tail [8]byte
	if _, err := file.ReadAt(tail[:4], 0); err != nil || string(tail[:4]) != magic {
		return m, errors.Join(err, fmt.Errorf("%w: it does not begin with %s", errFile, magic))
	}
	if _, err := file.ReadAt(tail[:], size-8); err != nil {
		return m, err
	}
	switch string(tail[4:]) {
	case magic:
	case magicEncrypted:
		return m, errors.New("parquet: the file is encrypted, which is not read")
	default:
		return m, fmt.Errorf("%w: it does not end with %s, so it was cut short or never finished", errFile, magic)
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if length > size-12 {
		return m, fmt.Errorf("%w: a footer of %d bytes in a file of %d", errFile, length, size)
	}
	if length > memory {
		return m, fmt.Errorf("parquet: the footer has %d bytes: at most %d may be in memory", length, memory)
	}
	b := make([]byte, length)
	if _, err := file.ReadAt(b, size-8-length); err != nil {
		return m, err
	}
	n, items, ok := structLength(b)
	if !ok {
		return m, fmt.Errorf("%w: its footer is damaged", errFile)
	}
	if items*itemBytes > memory && items > 1<<12 {
		return m, fmt.Errorf("parquet: the footer has %d items, which take more than %d bytes of memory", items, memory)
	}
	if err := decodeStruct(b[:n], &m); err != nil {
		return m, fmt.Errorf("%w: its footer is damaged: %w", errFile, err)
	}
	return m, nil
}

// source is a column of a file.
type source struct {
	edgelist.Field
	kind       kind
	leaf       int // index of the column in a row group; -1 for one that is not read
	repeated   bool
	definition int // highest definition level
	list       int // lowest definition level of a value of a list that is not empty
}

// sourcesOf returns the columns of a file.
func sourcesOf(schema []format.SchemaElement) (all []source, err error) {
	if len(schema) == 0 || schema[0].NumChildren.V < 0 {
		return nil, fmt.Errorf("%w: it has no schema", errFile)
	}
	at, leaf := 1, 0
	for range schema[0].NumChildren.V {
		if at >= len(schema) {
			return nil, fmt.Errorf("%w: its schema is damaged", errFile)
		}
		end, leaves, err := subtree(schema, at, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, sourceOf(schema[at:end], leaf))
		at, leaf = end, leaf+leaves
	}
	return all, nil
}

// subtree returns the index after an element and its children, and the number of leaves among them.
func subtree(schema []format.SchemaElement, at, depth int) (end, leaves int, err error) {
	if depth > maxNested || at >= len(schema) || schema[at].NumChildren.V < 0 {
		return 0, 0, fmt.Errorf("%w: its schema is damaged", errFile)
	}
	if schema[at].Type.Valid {
		return at + 1, 1, nil
	}
	end = at + 1
	for range schema[at].NumChildren.V {
		var n int
		if end, n, err = subtree(schema, end, depth+1); err != nil {
			return 0, 0, err
		}
		leaves += n
	}
	return end, leaves, nil
}

// sourceOf returns the column that is made of the given elements: a leaf, or a list of numbers
// or texts, which is a group of a repeated group of a leaf, or of a repeated leaf.
func sourceOf(elements []format.SchemaElement, leaf int) source {
	s := source{Field: edgelist.Field{Name: elements[0].Name, Kind: "nested"}, leaf: -1}
	last := &elements[len(elements)-1]
	for i := range elements {
		e := &elements[i]
		if i > 2 || i < len(elements)-1 && (e.Type.Valid || e.NumChildren.V != 1) || s.repeated && e.RepetitionType.V == format.Repeated {
			return s
		}
		switch e.RepetitionType.V {
		case format.Optional:
			s.definition++
		case format.Repeated:
			s.definition++
			s.repeated, s.list = true, s.definition
		}
	}
	s.leaf = leaf
	s.Type, s.Unit, s.kind, s.Kind = typeOf(last)
	if len(elements) == 1 && !s.repeated {
		return s
	}
	if s.Type == edgelist.String && s.repeated {
		s.Type, s.Kind = edgelist.Strings, "a list of texts"
		return s
	}
	if numeric := s.Type >= edgelist.Integer && s.Type <= edgelist.Double; !numeric || !s.repeated {
		s.Type, s.Kind = edgelist.OtherType, "nested"
		return s
	}
	s.Type, s.Kind = edgelist.Floats, "a list of "+s.Kind
	return s
}

// typeOf returns the type of a leaf, how it is stored, and its name.
func typeOf(e *format.SchemaElement) (t edgelist.Type, unit edgelist.TimeFormat, k kind, name string) {
	physical := e.Type.V
	k.physical, name = physical, physical.String()
	if e.LogicalType.Value != nil {
		name = e.LogicalType.String()
	}
	switch physical {
	case format.Int32, format.Int64:
		t, unit = integerType(e, &k)
	case format.Int96:
		t, unit = edgelist.Timestamp, edgelist.Seconds
	case format.Boolean:
		t = edgelist.Bool
	case format.Float:
		t = edgelist.Single
	case format.Double:
		t = edgelist.Double
	case format.ByteArray:
		if textual(e) {
			t = edgelist.String
		}
	}
	return t, unit, k, name
}

// integerType returns the type of integers: numbers, times or dates.
func integerType(e *format.SchemaElement, k *kind) (edgelist.Type, edgelist.TimeFormat) {
	const day = 86400
	switch l := e.LogicalType.Value.(type) {
	case *format.IntType:
		if k.unsigned = !l.IsSigned; k.unsigned && k.physical == format.Int64 {
			return edgelist.Unsigned, 0
		}
		return edgelist.Integer, 0
	case *format.TimestampType:
		switch l.Unit.Value.(type) {
		case *format.MilliSeconds:
			return edgelist.Timestamp, edgelist.Milliseconds
		case *format.MicroSeconds:
			return edgelist.Timestamp, edgelist.Microseconds
		case *format.NanoSeconds:
			return edgelist.Timestamp, edgelist.Nanoseconds
		}
		return edgelist.OtherType, 0
	case *format.DateType:
		k.scale = day
		return edgelist.Timestamp, edgelist.Seconds
	case nil:
	default:
		return edgelist.OtherType, 0
	}
	if !e.ConvertedType.Valid {
		return edgelist.Integer, 0
	}
	switch e.ConvertedType.V {
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		return edgelist.Integer, 0
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32:
		k.unsigned = true
		return edgelist.Integer, 0
	case deprecated.Uint64:
		return edgelist.Unsigned, 0
	case deprecated.TimestampMillis:
		return edgelist.Timestamp, edgelist.Milliseconds
	case deprecated.TimestampMicros:
		return edgelist.Timestamp, edgelist.Microseconds
	case deprecated.Date:
		k.scale = day
		return edgelist.Timestamp, edgelist.Seconds
	}
	return edgelist.OtherType, 0
}

// textual reports whether bytes are text. Old writers do not say that they are.
func textual(e *format.SchemaElement) bool {
	switch e.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType:
		return true
	case nil:
		return !e.ConvertedType.Valid || e.ConvertedType.V == deprecated.UTF8 || e.ConvertedType.V == deprecated.Enum
	}
	return false
}
