// Package spectral computes vectors of the nodes of a graph, and columns of pairs of nodes from
// them: a truncated singular value decomposition of the adjacency matrix, averages of the nodes'
// words over neighbourhoods, and products of the words near both ends.
//
// A [Plan] computes the [Vectors] of the graphs of a training. A [Source] fills the columns of the
// pairs of one source, which [Columns] describes. Vectors are immutable. Equal graphs and seeds
// give vectors that are equal bit for bit, for any number of processors. A [Document] is their
// stored form.
//
//	vectors                  the vectors of a graph, and the columns of its pairs
//	profile, wordproducts    columns of words
//	spectrum                 columns of links
//	words                    words, topics and averages over a graph
package spectral

import "kith/model/internal/graph"

type (
	ID    = graph.ID
	Pair  = graph.Pair
	Graph = graph.Graph
	World = graph.World
)
