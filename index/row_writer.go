package index

// rowWriter writes one direction of a generation from its entries, in which U is the row and V the neighbour: the blocks,
// their directory and, for out-rows, the degrees.
type rowWriter struct {
	w          Writer
	kind       byte // prefixOut or prefixIn
	generation uint32
	nodes      int
	pack       packer
	directory  directory
	degrees    []float64 // degrees of the nodes of the next block of degrees that has entries
	block      uint32    // its number
}

func newRowWriter(w Writer, kind byte, generation uint32, nodes int) *rowWriter {
	r := &rowWriter{w: w, kind: kind, generation: generation, nodes: nodes}
	r.pack.emit = func(first ID, block []byte) error {
		no := uint32(len(r.directory.first))
		r.directory.first = append(r.directory.first, first)
		return w.Set(makeKey(kind, generation, no), block)
	}
	return r
}

// add adds the next entry. Entries must ascend strictly by row and neighbour.
func (r *rowWriter) add(e Edge) error {
	r.directory.count(e.U, []ID{e.V}, []float32{e.Weight}, []int64{e.Time})
	if err := r.count(e); err != nil {
		return err
	}
	return r.pack.add(e)
}

// count adds the weight of an entry to the degree of its row.
func (r *rowWriter) count(e Edge) error {
	if r.kind != prefixOut {
		return nil
	}
	for r.block < e.U/degreeBlock {
		if err := r.writeDegrees(); err != nil {
			return err
		}
	}
	i := int(e.U % degreeBlock)
	for len(r.degrees) <= i {
		r.degrees = append(r.degrees, 0)
	}
	r.degrees[i] += float64(e.Weight)
	return nil
}

// writeDegrees writes the next block of degrees. Nodes after its last one have degree 0.
func (r *rowWriter) writeDegrees() error {
	err := r.w.Set(makeKey(prefixDegree, r.generation, r.block), withChecksum(appendDegrees(nil, r.degrees)))
	r.degrees = r.degrees[:0]
	r.block++
	return err
}

// close writes the last block and the directory.
func (r *rowWriter) close() error {
	if err := r.pack.close(); err != nil {
		return err
	}
	for r.kind == prefixOut && int(r.block)*degreeBlock < r.nodes {
		if err := r.writeDegrees(); err != nil {
			return err
		}
	}
	return putSplit(r.w, directoryKey(r.kind, r.generation), r.directory.encode())
}
