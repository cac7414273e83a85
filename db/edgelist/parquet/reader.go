package parquet

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"kith/db/edgelist"
)

// Format is Parquet as an [edgelist.Tables].
type Format struct{}

// Create implements [edgelist.Tables]. All types but Unsigned and OtherType can be written.
func (Format) Create(w io.Writer, fields []edgelist.Field) (edgelist.RowWriter, error) {
	return newWriter(w, fields)
}

// rowsPerRead is the maximal number of rows that Next returns.
const rowsPerRead = 1 << 12

// table is an opened file.
type table struct {
	file io.ReaderAt
	size int64
	room room
	meta format.FileMetaData
	all  []source

	group  int // number of row groups that have been opened
	left   int64
	chunks []*chunk // of the row group
	values []edgelist.Vector
}

// Open implements [edgelist.Tables].
func (Format) Open(file io.ReaderAt, size, memory int64) (opened edgelist.Table, err error) {
	defer recovered(&err)
	t := &table{file: file, size: size, room: room{bytes: max(memory, minRoom)}}
	if t.meta, err = readFooter(file, size, t.room.bytes); err != nil {
		return nil, err
	}
	if t.all, err = sourcesOf(t.meta.Schema); err != nil {
		return nil, err
	}
	return t, nil
}

// recovered turns a panic of the library, which a damaged file may cause, into an error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v", errFile, r)
	}
}

func (t *table) Fields() []edgelist.Field {
	fields := make([]edgelist.Field, len(t.all))
	for i := range t.all {
		fields[i] = t.all[i].Field
	}
	return fields
}

func (t *table) Next(fields []int) (rows int, some []edgelist.Vector, err error) {
	defer recovered(&err)
	for t.left == 0 {
		if t.group == len(t.meta.RowGroups) {
			return 0, nil, io.EOF
		}
		if err := t.open(fields); err != nil {
			return 0, nil, err
		}
	}
	rows = int(min(rowsPerRead, t.left))
	for _, c := range t.chunks {
		if err := c.fill(); err != nil {
			return 0, nil, t.wrap(c.Name, err)
		}
		if c.rows == c.taken {
			return 0, nil, t.wrap(c.Name, fmt.Errorf("%w: the last %d rows have no values", errPage, t.left))
		}
		rows = min(rows, c.rows-c.taken)
	}
	t.values = t.values[:0]
	for _, c := range t.chunks {
		t.values = append(t.values, c.take(rows))
	}
	t.left -= int64(rows)
	return rows, t.values, nil
}

// open opens the columns of the next row group.
func (t *table) open(fields []int) error {
	group := &t.meta.RowGroups[t.group]
	t.group++
	if group.NumRows < 0 {
		return fmt.Errorf("%w: row group %d has %d rows", errFile, t.group, group.NumRows)
	}
	t.left, t.chunks = group.NumRows, t.chunks[:0]
	t.room.decoded = bufferBytes * int64(len(fields))
	for _, i := range fields {
		c, err := newChunk(t.file, t.size, &t.room, t.all[i], group)
		if err != nil {
			return t.wrap(t.all[i].Name, err)
		}
		t.chunks = append(t.chunks, c)
	}
	return nil
}

// wrap adds the place to an error.
func (t *table) wrap(column string, err error) error {
	return fmt.Errorf("parquet: row group %d of %d, column %q: %w", t.group, len(t.meta.RowGroups), column, err)
}
