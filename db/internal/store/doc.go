// Package store keeps the records of a database on the disk or in memory: pairs of keys and values,
// each with the timestamp of the commit that wrote it. It alone imports Badger, and no type of
// Badger appears in its API.
//
// A [Store] is open in one process at a time, or in many that only read. The store runs in Badger's
// managed mode: a commit sets its timestamp, and a [Reader] reads at a timestamp, so the two agree
// without a lock. One goroutine writes at a time. [Records] collects the writes of a commit,
// [Store.Write] makes them durable as one transaction, and [Store.Batch] writes what no reader uses
// yet in many. [Store.Bulk] writes a new generation of a graph as tables, past Badger, and removes
// tables whose records are all deleted (bulk.go).
//
// A reader sees its version for as long as it is open. When much was written since, the store keeps
// for it the tables that there were, not the versions of records (pin.go), so neither memory nor
// disk grows with the commits.
//
// A store is opened for writing by its first write (instance.go). Until then nothing on the disk
// changes, except that [Open] makes tables of the logs that a killed process left, if the disk has
// space for them. So opening takes a millisecond, whatever the size: Badger makes no log and starts
// no compaction, and Open leaves out of its checks the records that are read on demand, whose loss
// a reader notices. [Store.Verify] checks these too, and so does the first write, because Badger
// would merge damaged tables.
//
// Badger ends the process on some kinds of damage to its files and silently omits data on others.
// So [Open] reads the files before Badger does (files.go, table_check.go), compares them with an
// inventory (inventory.go) and with the newest durable commit (newest.go), and looks for gaps in
// the logs of the last writes (log.go). [Examine] reports the faults of the files. [Rebuild] makes
// new files of all readable records of damaged files (table.go, log.go, rebuild.go), and
// [Rebuilt.Install] puts the new files in their place (install.go). [Compact] merges the tables of
// a closed store.
//
// Badger writes through memory mappings, where a page for which the disk has no space ends the
// process, even if another program filled the disk. So the blocks of its logs are reserved before
// each commit (log_space.go). The store makes the tables of its logs itself, when they are full
// (flush.go) and when Badger is closed or opened (settle.go), and merges them itself (merge.go). If
// the disk is full then, the logs and the tables stay, and nothing is lost. One case remains:
// another program takes the last 1 MB of the disk within the milliseconds in which a database is
// opened for writing, when Badger makes the first page of a log and of a value log.
package store
