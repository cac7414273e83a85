// Command prbench-gnn trains graph neural networks that predict links on the splits that prbench offline uses, and ranks the
// held-out links with them. It is a module of its own, so that nothing of it reaches kith.
package main
