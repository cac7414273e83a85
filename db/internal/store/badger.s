// Package store declares a function of Badger without a body; see flush.go. Go demands a file in assembly for that.
