package db

// Assuming calls f with a read-only transaction that sees the database with more edges. Edges that exist already get
// the given weights and times. Nothing is written. Missing end nodes exist only for f. The cached PageRank states do
// not include the edges, so answers are computed from scratch.
//
// It returns ErrInput for an invalid edge, and in an Update that has changed something. In that case, write the edges
// and return an error from the function to discard them.
func (tx *Tx) Assuming(edges []Edge, f func(*Tx) error) error {
	switch {
	case tx.ended:
		return ErrClosed
	case tx.batch != nil && !tx.batch.Empty():
		return inputf("edges cannot be assumed beside changes that are not committed")
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
