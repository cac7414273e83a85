package edgelist

import "io"

// Tables is a format of files with typed columns, such as Parquet, that a program adds to the
// formats of this package.
type Tables interface {
	// Open opens a file. The table may take about as many bytes of memory as memory says.
	Open(file io.ReaderAt, size, memory int64) (Table, error)
	// Create returns a writer of a file with the given columns.
	Create(w io.Writer, fields []Field) (RowWriter, error)
}

// Table is an opened file with typed columns.
type Table interface {
	// Fields returns the columns in the order of the file.
	Fields() []Field
	// Next returns the next rows: their number and, for each index of fields, the values of that
	// column. They are valid until the next call. fields is the same for all calls. After the last
	// row it returns io.EOF.
	Next(fields []int) (rows int, values []Vector, err error)
}

// Field is a column of a table.
type Field struct {
	Name string
	Type Type
	Unit TimeFormat // unit of a Timestamp
	Kind string     // type of the column in the words of the format, for messages
}

// Type is the type of the values of a column.
type Type int

const (
	OtherType Type = iota // not read
	Integer               // int64
	Unsigned              // uint64, in the bits of an int64
	Single                // float32
	Double                // float64
	String
	Timestamp // integer in a unit of time
	Floats    // list of float32
)

// Vector is the values of some rows of a column.
type Vector struct {
	Ints    []int64   // of an Integer, Unsigned or Timestamp
	Numbers []float64 // of a Single, Double or Floats
	Strings []string
	Ends    []int  // of Floats: where the list of each row ends in Numbers
	Null    []bool // the rows without a value; nil if every row has one
}

// RowWriter writes a list row by row, column by column. Each method but End and Close writes the
// next column of the row.
type RowWriter interface {
	Key(Token) error
	Text(string) error
	Int(int64)
	Float(float32)
	Double(float64)
	Time(int64) // in seconds since 1970; 0 means none
	Floats([]float32)
	// End ends the row.
	End() error
	// Close completes the file. It does not close the writer below.
	Close() error
}
