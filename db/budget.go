package db

import "fmt"

// part is a part of Options.Memory.
type part int

// The parts. Work is one answer, training, comparison or load; what it takes is checked when it begins. Work that runs
// at the same time is not added up, and a solver takes solverBytes a node besides.
const (
	graphPart    part = iota // the graph with its keys and feature vectors, to which transactions add
	workPart                 // what a piece of work takes besides the graph
	storePart                // the store: records of the last commits, tables that are written, blocks that were read
	statesPart               // cached PageRank states
	versionsPart             // cached versions of models that are not deployed
	parts                    // number of parts
)

// memoryShares returns the share of each part of Options.Memory, in percent. All memory that depends on Options.Memory
// is one of these parts, or a fraction of one.
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
	rowsFraction      = 4 // of graphPart: decoded blocks of rows, until the rows are loaded
	splitFraction     = 2 // a file of PyTorch that is read as a whole
	modelFileFraction = 4 // a model file
	bulkFraction      = 2 // what a load takes to collect and sort edges
)

// AnswerMemory returns the bytes that an answer may take: a quarter of Options.Memory.
func (db *DB) AnswerMemory() int64 { return db.opts.memory(workPart) }

// fitsGraph returns ErrTooLarge for a graph of more bytes than the given parts of Options.Memory.
func (db *DB) fitsGraph(bytes int64, of ...part) error {
	return db.within("the graph needs", bytes, db.opts.memory(of...))
}

// fitsWork returns ErrTooLarge for an answer that takes more bytes than its part of Options.Memory.
func (db *DB) fitsWork(what string, bytes int64) error {
	return db.within(what+" takes", bytes, db.opts.memory(workPart))
}

// within returns ErrTooLarge unless bytes are at most limit.
func (db *DB) within(what string, bytes, limit int64) error {
	if bytes <= limit {
		return nil
	}
	return fmt.Errorf("%w: %s about %d MB, of the %d MB of Options.Memory it may have %d",
		ErrTooLarge, what, bytes>>20, db.opts.Memory>>20, limit>>20)
}
