package db

import (
	"fmt"

	"kith/index"
)

// part is a part of Options.Memory.
type part int

// The parts. Work is one answer, training, comparison or load; what it takes is checked when it
// begins. Work that runs at the same time is not added up, and an answer's solver may take as much
// besides; see ppr.Solver.
const (
	graphPart    part = iota // the graph with its keys and feature vectors, to which transactions add
	workPart                 // what a piece of work takes besides the graph
	storePart                // the store: records of the last commits, tables that are written, blocks that were read
	statesPart               // cached PageRank states
	versionsPart             // cached versions of models that are not deployed
	parts                    // number of parts
)

// memoryShares returns the share of each part of Options.Memory, in percent. All memory that
// depends on Options.Memory is one of the parts, or a fraction of a part.
//
// INVARIANT: the shares sum to at most 100.
func memoryShares() [parts]int64 {
	return [parts]int64{graphPart: 45, workPart: 25, storePart: 20, statesPart: 7, versionsPart: 3}
}

// memory returns the bytes of the given parts together.
func (o *Options) memory(of ...part) (bytes int64) {
	for _, p := range of {
		bytes += o.Memory * memoryShares()[p] / 100
	}
	return bytes
}

// The fractions of workPart that the kinds of work take.
const (
	rowsFraction      = 2 // of graphPart: blocks of the graph that were read, until the rows are loaded
	splitFraction     = 2 // a file of PyTorch that is read as a whole
	modelFileFraction = 4 // a model file
	bulkFraction      = 2 // what a load takes to collect and sort edges
	tableFraction     = 4 // pages of a Parquet file
)

// answerMemory returns the bytes that an answer may take: a quarter of Options.Memory.
func (db *DB) answerMemory() int64 { return db.opts.memory(workPart) }

// sized is a version of the graph.
type sized interface {
	KeptBytes() int64   // memory that its rows do not take
	LoadedBytes() int64 // memory of all of it
}

// fitsGraph returns ErrTooLarge for a version that must have more in memory than the given parts of
// Options.Memory: all of it if the store is in memory, too, and otherwise what cannot be read on
// demand.
func (db *DB) fitsGraph(s sized, of ...part) error {
	bytes := s.KeptBytes()
	if db.opts.InMemory {
		bytes = s.LoadedBytes()
	}
	return db.checkMemory("the graph needs", bytes, db.opts.memory(of...))
}

// fitsWork returns ErrTooLarge for an answer that takes more bytes than its part of Options.Memory.
func (db *DB) fitsWork(what string, bytes int64) error {
	return db.checkMemory(what+" takes", bytes, db.opts.memory(workPart))
}

// Bytes that an edge and a node take at most, in an estimate of the memory of a graph. An edge is
// in two rows, with a weight and a time.
const (
	edgeBytes = 32
	nodeBytes = 64
)

// modelMemory returns the bytes that the view of a model may take on a graph: the bytes of an
// answer, and what the graph leaves of its part. It depends on the numbers of the graph alone, and
// not on what the process has loaded or changed.
func (db *DB) modelMemory(m *index.Meta) int64 {
	graph := edgeBytes*m.Edges + nodeBytes*m.Nodes + m.FeatureBytes
	return db.opts.memory(workPart) + max(db.opts.memory(graphPart)-graph, 0)
}

// checkMemory returns ErrTooLarge unless bytes are at most limit.
func (db *DB) checkMemory(what string, bytes, limit int64) error {
	if bytes <= limit {
		return nil
	}
	return fmt.Errorf("%w: %s about %d MB, of the %d MB of Options.Memory it may have %d",
		ErrTooLarge, what, bytes>>20, db.opts.Memory>>20, limit>>20)
}

// requiredMemory returns the smallest Options.Memory with which a graph is kept in memory that
// takes so many bytes there.
func requiredMemory(graph int64) int64 {
	return max(minMemory, graph*100/memoryShares()[graphPart]+100)
}
