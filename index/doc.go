// Package index defines how kith stores a graph: the key space of the store, the records in it, and
// the in-memory structures derived from them.
//
// It has no notion of transactions. Callers pass a [Reader], which reads the store at one version,
// and a [Writer], which belongs to the caller's transaction. Only package db knows the store behind
// them.
//
// # Types
//
// A [Snapshot] is the graph at one version: adjacency ([Graph]), keys, labels, feature
// vectors and the recent changes. It is immutable. A [Batch] builds the next version; parts
// of it can be undone ([Batch.Savepoint]). It writes its records and becomes a Snapshot. A [Bulk]
// builds a version from a whole edge list and keeps edges and keys that do not fit into memory in a
// scratch file. [States] caches the PageRank states of single sources and brings them up to the
// version of each caller.
//
// The files form layers. A reader goes down, and nothing refers back up:
//
//	salvage*, verify, open*    read a whole store
//	bulk*, batch, change,
//	generation, documents,
//	erase                      make the next version and write it; records of package db
//	states*                    PageRank states of a version
//	snapshot, events, log      one version
//	graph, adjacency, edit,
//	base, dict*                its graph and keys
//	nodes, properties          labels of nodes and which are deleted, feature vectors, and values of
//	                           properties
//	stored, meta               rows that are read from the store on demand; the meta record
//	kv                         ids, keys, errors, the store, the keys of its records, and variables
//	package block              encodings of blocks, and the cache of blocks that were read
//	package column             values of properties, blocks of them, and tests
//	package pages              a persistent array
//	package spill              sorting of more edges than memory holds
//
// # Key space
//
// Each key starts with one prefix byte. Numbers are big-endian, so that scans are in numeric order.
// Values stay below the size at which Badger would move them to its value log. Longer values,
// marked (*), are split into numbered parts under one checksum.
//
//	m                (*)  meta: format, options, counters, and which records of other kinds are valid
//	b generation     (*)  a copy of meta from the time when the generation became the base
//	k generation first    dictionary by id: the keys of consecutive ids, starting at id first, 4 KB
//	j generation block    dictionary by key, if ids are not in key order: keys and ids in key order, 4 KB
//	n generation block    node records (label, deleted) of 4096 consecutive ids, unless all are zero
//	p generation block    values of a property of up to 4096 consecutive ids
//	x generation block    out-rows: a run of their edges, 4 KB
//	y generation block    in-rows, in the same form, if some relation is directed
//	i generation kind (*) directory of the blocks x or y: the first row of each block; of the dictionary:
//	                      the first id and key of each block; of the blocks n: which are stored; of the
//	                      blocks p: the first id of each block of each property
//	g generation block    degrees of 2048 consecutive ids
//	t generation block    1024 of the newest events: edges with times, in the order of their addition
//	f block          (*)  feature vectors of 16 consecutive ids
//	l version        (*)  the changes of a commit to keys, nodes, edges and values
//	s form alpha accuracy source
//	                 (*)  a PageRank state: its estimate alone
//	o version number (*)  an observation, in commit order; those up to a version stored in meta are
//	                      forgotten
//	h hash           (*)  the version that made the observation whose id has the hash
//	c version        (*)  what else a commit did, if its change is kept: labels, vectors, decisions, variables
//	u version        (*)  the same for a commit that changed a model, and which documents it wrote
//	d number         (*)  a decision
//	e end number          end time of a decision
//	v name serial    (*)  a model's document, in parts of 8 KB; vectors of nodes are read on demand
//	w name           (*)  which documents of a model are in use, its progress in learning, and a note
//	r name           (*)  a variable of the application
//
// # Life of a version
//
// A commit writes one log record, the meta record and the feature blocks it touched, whatever the
// number of edges in the graph. Open reads the directories of the generation that meta names and
// applies the log. A row that the log has changed is made when it is first read. When the log has
// grown, the graph is written as a new generation, and the meta record of a commit makes that
// generation the base. Blocks of other generations are leftovers of unfinished work and are
// deleted. A bulk load works the same way: it writes a generation that one meta record makes valid,
// entirely or not at all.
//
// # Changes
//
// A database that others follow keeps the changes of its last commits, up to Meta.KeepBytes. The
// change of a version is its log record, its observations and its change record. The change record
// has the data that the records of other kinds hold only until they are written again. Records of
// the log and observations, and documents of models that a change names, stay until the change is
// forgotten, even if nothing else needs them. The versions after Meta.Kept have a change. A bulk
// load keeps no change, so it moves Kept to its own version. Meta.History is a checksum over all
// commits, their times and their records; a change states it before and after. [Batch.Replay] makes
// the same version from a change: the same ids, and the same log record.
//
// # Damage
//
// Open is a salvage that must find nothing wrong, except that it reads keys, node records, vectors
// and rows only on demand: an unreadable block is an error of every answer from then on
// ([Snapshot.Err]). What only all blocks together show, such as a key that occurs twice, is
// verified by [Snapshot.Check] and by [Snapshot.Load]; that the log fits the rows, by
// [Snapshot.Verify]. Each block states which ids it covers, and each log record states the version
// of the previous record, so a lost record is detected, and [Salvage] can interpret the remaining
// records without it: no key moves to another node. Each edge is in the rows of both of its nodes,
// so a lost block of rows costs only the edges between nodes of that block. The copy of the meta
// record sorts first in the key space and the adjacency last, so that a truncated table loses edges
// before keys.
//
// # In memory
//
// A graph consists of a base and an overlay. The rows of the base are in the store until
// [Snapshot.Load] makes compressed sparse rows of them, 4 bytes an entry (4 more for weights and 8
// for times, each only if some edge has one). Until then, the directory takes 20 bytes a block of 4
// KB, 28 if edges have several relations, degrees take 4 bytes for each node in a block that was
// read (8 with weights), and a cache holds decoded blocks within a budget. All versions with the
// same base move over together. The overlay is a persistent array of pages that holds each changed
// row in full. A commit copies only the pages and rows it touches; readers of older versions keep
// the old ones.
//
// Node records take 8 bytes for each block of 4096 nodes, and 2 bytes a node where a block is in
// memory; blocks of zero records are not stored. If there are feature vectors, they take half a
// byte a node, and where a block of 16 nodes is in memory, 24 bytes a node and 4 a number. A block
// of vectors that a commit writes stays in memory, in full, until the next base: vectors are read
// at the version of the base, and so are all blocks that have not been written since. Counts of
// labels and of the bytes of vectors are in the meta record.
//
// Records hold whole rows, as memory does: an undirected edge in the rows of both of its nodes, a
// directed one in an out-row and an in-row. If some relation is directed, an undirected edge is in
// the out-rows and the in-rows of both. Load compares the rows by sums of hashes.
//
// # Relations
//
// An edge is a source, a relation and a target. A stored row has its edges in the order of their
// neighbours and relations. A block whose edges are not all of relation 0 lists its relations once,
// and has the index of one for each edge, in as many bits as that takes: three for five relations.
//
// In memory, a graph has joined rows, with one entry for each neighbour, for what concerns the
// edges of all relations together. If the edges have several relations, it has them by relation
// too: in the rows of a base, 6 bytes for each node and relation, and 4 bytes an edge (4 more for
// weights, 8 for times). A graph whose edges all have the same relation takes no more memory than
// one without relations.
//
// Predictions about one relation read the rows of a node by relation, in both directions
// ([Graph.Rows]). Such rows are made when they are asked for, and the cache of blocks holds them,
// also when the rows of the base are in memory: 4 bytes an edge, 8 for each relation of a node, and
// 240 a node. Versions with the same base share them; a row is made again after a commit that
// changed it.
//
// The dictionary is in the store, too, until it is loaded. In memory it takes 8 bytes for an
// integer key, 16 and the string for a string key, and 4 more if ids are not in key order. In the
// store, its directory takes 20 bytes for each block of about 2000 integer keys, or 28 and a key
// for each block of strings; blocks are 4 KB. The cache holds blocks as they are stored, and a
// look-up decodes up to 64 keys of a block. If ids are not in key order, as after commits that
// added nodes, the dictionary is stored twice, by id and by key, and the directory takes 12 bytes
// more for each block by id. Keys added since the base are in a list with a hash table, up to 100
// bytes each. Ids are never reused. A key keeps its id while its node is deleted, and gets the same
// id when the node is re-created, so one growing dictionary serves the readers of all versions.
//
// An erased node loses its key for ever. Its id stays, because decisions, observations and models
// name nodes by id, and has a key that says nothing but the id: a zero byte and the id in decimal.
// A version knows which nodes were erased since the base, and the next base has their last keys. If
// the key is added again, it gets another id. What the records of earlier versions still have of
// erased nodes, [Snapshot.Scrub] removes; until then Meta.Erased counts the nodes.
//
// # Properties
//
// A node has values of properties, each with a name. All values of a property have the same type.
// The blocks of a property have the values of the nodes that have one, 16 KB of them, in the order
// of their ids: numbers as multiples of a step above the least one, strings as indices in a list of
// the block. They are read when they are asked for, and the cache holds decoded blocks; a directory
// takes 12 bytes a block. Values that were set since the base are in memory, about 100 bytes each.
//
// The values are also words that say what a node is like ([Snapshot.Words]). Whether a property
// identifies nodes, and has no words, which ranges of its numbers have about as many values each,
// and which words most of its values have, is learned from all values or a sample of 4096 to 8192
// nodes, for each property. It is a function of the sample, and learned again when that has
// changed.
//
// # PageRank states
//
// Only the estimate y of a state is stored. The residual r = b - Q y is computed on load from the
// current graph, so a stored state is exact, and a warm start, whatever has changed since. The log
// is needed only to repair states in memory.
//
// # Caveats
//
// Bytes that this package did not write result in ErrCorrupt with the place, never in a panic.
// Weights are summed in row order, so that a degree has the same bits whatever the history.
package index
