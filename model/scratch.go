package model

import (
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/internal/graph"
	"kith/model/internal/rules"
	"kith/model/internal/spectral"
	"kith/model/nn"
)

// scratch is the working memory of scoring and learning. Row i of its matrices belongs to the i-th
// pair of a batch.
type scratch struct {
	column.Reader                   // graph around the pairs
	common        column.Common     // common neighbours of the pairs
	near          column.Near       // nodes two edges from a source
	best          []Ranked          // of these
	walks         []float64         // weight of the walks of three edges to each target; -1: not counted
	net           nn.Tape           // pass of a network
	times         timeScratch       // pass of a forecast
	features      column.Features   // of the nodes around the pairs
	similarity    column.Similarity // of a source
	x             blas32.General    // contexts
	pooled        blas32.General    // their φ, or the inputs of a belief
	product       blas32.General    // inputs times covariance
	ranked        blas32.General    // input of the ranker
	forms         []float64         // quadratic forms, or output of the ranker
	related       bool              // contexts have the log-odds of relations in place of a forecast
	evidence      rules.Reader      // of a question about one relation
	opinions      [views][]float64  // of the ranker about the targets of such a question; nil: none
	vectors       *spectral.Vectors // vectors that contexts read; nil: none
	spectral      spectral.Source   // of a source
	forecast      *forecastSnapshot // forecast that contexts read; nil: none
	source        []float32         // features of a source
	order         []uint64          // scratch of the start vector
	start         Start             // start values of a walk
	sources       Start             // sources of pairs
}

// open makes t read a world. What t knows of a source is kept until the next open.
func (t *scratch) open(w World) {
	t.features.Open(w)
	t.similarity.Release()
	t.spectral.Release()
}

// sourcesOf returns the source of each run of pairs, with weight 1.
func (t *scratch) sourcesOf(pairs []Pair) Start {
	t.sources.Node, t.sources.Value = t.sources.Node[:0], t.sources.Value[:0]
	for _, run := range graph.BySource(pairs) {
		t.sources.Node, t.sources.Value = append(t.sources.Node, run[0].Source), append(t.sources.Value, 1)
	}
	return t.sources
}

// newScratch returns the working memory of a model with the given configuration.
func newScratch(c *config) *scratch {
	return &scratch{features: column.Features{Content: c.content()}}
}

// scratchesFor returns a pool of working memory for the scorers of a model.
func scratchesFor(c *config) *sync.Pool { return &sync.Pool{New: func() any { return newScratch(c) }} }

// newScratches returns a pool of working memory that reads no content.
func newScratches() *sync.Pool { return &sync.Pool{New: func() any { return new(scratch) }} }
