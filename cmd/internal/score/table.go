package score

import (
	"io"

	"kith/db"
	"kith/db/edgelist"
	"kith/db/edgelist/parquet"
)

// table writes rows as a Parquet file.
type table struct{ to edgelist.RowWriter }

// newTable returns a writer of a Parquet file. Keys are integers if all keys of the database are,
// and otherwise texts, so that the files of all shards have the same columns.
func newTable(w io.Writer, tx *db.Tx) (*table, error) {
	key := edgelist.Integer
	keys, err := tx.Keys("", 0)
	if err != nil {
		return nil, err
	}
	for k := range keys {
		if _, isInt := k.Int(); !isInt {
			key = edgelist.String
			break
		}
	}
	to, err := parquet.Format{}.Create(w, []edgelist.Field{
		{Name: "source", Type: key}, {Name: "target", Type: key}, {Name: "rank", Type: edgelist.Integer}, {Name: "score", Type: edgelist.Double},
	})
	return &table{to}, err
}

// Write implements [Writer].
func (t *table) Write(rows []Row) error {
	for _, r := range rows {
		for _, k := range []db.Key{r.Source, r.Target} {
			if err := t.to.Key(token(k)); err != nil {
				return err
			}
		}
		t.to.Int(int64(r.Rank))
		t.to.Double(r.Score)
		if err := t.to.End(); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [Writer].
func (t *table) Close() error { return t.to.Close() }

// token returns the name of a node as lists have it.
func token(k db.Key) edgelist.Token {
	n, isInt := k.Int()
	s, _ := k.Str()
	return edgelist.Token{Int: n, Str: s, IsInt: isInt}
}
