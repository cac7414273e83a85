// Package walk answers the questions of a request about personalised PageRank: it chooses how to
// compute it, certifies the error, ranks by values with error bounds, and finds the paths that
// carry it.
//
// A [Walker] belongs to one request and one version of the graph. Its strategies are to solve from
// scratch, to update the state of the last request for the same source, and to combine cached
// states of the start nodes, with or without a correction; see strategy.go for how the cost of each
// is predicted. [Best] ranks candidates and says which ranks no error within the bounds could
// change. [Walker.Top] ranks all nodes by their PageRank, and refines it until the ranks are
// certain. It proves that nodes are equal where symmetries make them so; see ties.go.
//
// A Walker must not be used by several goroutines at a time. The package reads the graph and the
// cache of package index and knows nothing of transactions.
package walk
