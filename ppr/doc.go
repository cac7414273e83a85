// Package ppr computes personalised PageRank on a graph that changes.
package ppr
