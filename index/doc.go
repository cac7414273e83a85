// Package index is what kith keeps of a graph: the key space of the store, the records in it, and
// everything that is derived from them in memory.
//
// It knows no transactions. It is handed a [Reader] that sees the store at one version and a
// [Writer] that belongs to somebody's commit; only package db knows what stands behind them.
//
// # Types
//
// A [Snapshot] is the graph at one version: adjacency ([Graph]), keys ([Dict]), labels, feature
// vectors and the recent changes ([Log]). It is immutable. A [Batch] is the next version in the
// making, parts of which can be taken back ([Batch.Savepoint]); it writes its records and becomes a
// Snapshot. A [Bulk] makes a version out of a whole edge list, of which what does not fit into memory
// waits in a scratch file. [States] caches the PageRank states of single sources and brings them up to
// the version of whoever asks.
//
// # Key space
//
// One prefix byte each, numbers big-endian, so that a scan is in order. Values stay below the size
// at which Badger would move them to its value log; longer ones (*) are split into numbered parts
// under one checksum.
//
//	m                (*)  meta: format, options, counters, and what of the rest counts
//	b generation     (*)  a copy of meta, as it was when the generation became the base
//	k generation first    dictionary: the keys of up to 4096 consecutive ids, from the first on
//	n generation block    node records (label, deleted) of 16384 consecutive ids
//	x generation block    adjacency: a run of the edges in (U, V) order, 32 KB
//	t generation block    1024 of the newest events: edges with times, as they were added
//	f block          (*)  feature vectors of 16 consecutive ids
//	l version        (*)  what one commit did to keys, nodes and edges
//	s form alpha source
//	                 (*)  a PageRank state: its estimate alone
//	o version number (*)  an observation, in commit order; those up to a version that meta tells are
//	                      forgotten
//	d number         (*)  a decision
//	e end number          that a decision ends then
//	v name serial    (*)  a model's document
//	w name           (*)  which documents of a model count, and what it has learned
//
// # Life of a version
//
// A commit writes one log record, the meta record and the feature blocks it touched, however many
// edges the graph has. Open reads the blocks of the generation that meta names and applies the log
// from there. When the log has grown, the graph is written as a new generation, and the meta record
// of one commit makes that the base. Blocks of another generation are leftovers of something that
// did not finish, and are deleted. A bulk load is the same: a generation that one meta record makes
// count, whole or not at all.
//
// # Damage
//
// Open refuses records that do not fit together. Each block tells which ids it is about, and each log
// record the version of the one before, so a record that is lost shows, and [Salvage] knows what the
// others mean without it: no key moves to another node. The copy of the meta record stands first in
// the key space and the adjacency last, so that a table that was cut short loses edges before keys.
//
// # In memory
//
// A graph is compressed sparse rows, 4 bytes an entry (4 more for weights and 8 for times, each only where some
// edge has one), and an overlay: a persistent array of pages in which changed rows stand in full.
// A commit copies the pages and rows it touches and nothing else; readers of older versions keep
// theirs. An undirected edge is stored once, under its smaller id, and stands in both rows in
// memory; symmetry cannot break on disk.
//
// The dictionary is in memory whole, both ways, instead of being looked up in the store block by
// block: a ranking of 100 candidates asks for 100 keys, and a look-up in the store costs more than
// scoring a candidate. Ids are never reused. A key keeps its id while its node is deleted, and gets
// it back with the node, so one growing dictionary serves the readers of all versions.
//
// # PageRank states
//
// What is stored of a state is its estimate y. The residual r = b - Q y is derived on load from the
// graph as it is then, so a stored state is exact, and a warm start, whatever has changed in between;
// the log is needed only to repair states in memory.
//
// # Caveats
//
// Bytes that were not written by this package are ErrCorrupt, with the place, and never a panic.
// Sums of weights are taken in row order, so that a degree is the same bits whatever the history.
package index
