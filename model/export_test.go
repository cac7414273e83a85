package model

// SmallWorld returns an undirected graph of n nodes with an exact walker, for external tests.
func SmallWorld(n int, edges ...[2]ID) World { return newMesh(n, false, edges...).world(nil) }
