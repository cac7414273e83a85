package db

import "fmt"

// Assuming calls f with a transaction that reads the database as it would be with more edges; those that
// are there already have their weights and times changed. Nothing is written, and f cannot write. Nodes
// that an edge lacks are there for f alone. The cached states of PageRank do not know the edges, so
// answers are computed afresh.
//
// It returns ErrInput for an edge that cannot be, and in an Update that has changed something: there,
// write the edges, and let the function return an error.
func (tx *Tx) Assuming(edges []Edge, f func(*Tx) error) error {
	switch {
	case tx.ended:
		return ErrClosed
	case tx.batch != nil && !tx.batch.Empty():
		return fmt.Errorf("%w: edges cannot be assumed beside changes that are not committed", ErrInput)
	}
	over := &Tx{db: tx.db, snap: tx.snap, reader: tx.reader, batch: tx.snap.Begin()}
	defer func() { over.ended = true }()
	for _, e := range edges {
		if err := over.PutEdge(e); err != nil {
			return err
		}
	}
	over.assumed = true
	return f(over)
}
