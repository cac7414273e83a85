// Package db is an embedded graph database that predicts its own next links.
//
// A [DB] keeps nodes and weighted edges in one directory. All access is through a [Tx]: [DB.View]
// reads a snapshot, [DB.Update] writes, and [DB.Begin] is for transactions that span several
// functions. [DB.Predict] ranks candidates for links from a node with a model that learns from each
// outcome reported to [DB.Observe].
//
// The zero value of every option is a good default. A method takes XxxOptions and returns an Xxx. A
// method of DB is a transaction of its own with the method of Tx that has its name. Add refuses
// what exists, and Put overwrites it. [DB.Model] is a handle of a model, which has
// the verbs of models. A parameter of type any that names a node takes a [Key], a string or an
// integer.
//
// # Parts
//
//	internal/store      the records on the disk, their files and their durability; it alone imports Badger
//	internal/record     the documents of observations, decisions and models
//	internal/feed       the binary form of changes
//	internal/archive    the layout of backups and of model files
//	internal/modelfile  the file of a model
//	internal/repair     what is wrong with a damaged database, and what can be read of it
//	internal/walk       how the PageRank of a request is computed, which ranks are certain, and what is near a node
//	internal/candidate  the nodes that a source may be linked to
//	internal/hidden     edges that are hidden from models, and how well they are found
//	internal/parallel   many answers on all processors, within a memory
//	internal/gonum      the graph as gonum's algorithms want it
//	internal/wire       results as JSON
//	internal/ctxio      readers and writers that end with a context
//	edgelist            lists of edges, of nodes and of features
//	words               the words of messages
//
// These know nothing of transactions. Below them, package index turns records into a graph and
// back, package ppr computes PageRank on it, and package model ranks and learns. This package
// connects them. Its files form layers too, and a call goes down; the tops of files have the
// details of their parts:
//
//	holdout, evaluate, log, explain, stats    how good answers are, and why; figures
//	model_train, model_compare                trainings
//	list_*, backup                            lists; backups and repairs
//	change*                                   the changes of commits, and repeating them in a copy
//	decision, observe                         choices and learning
//	predict, traverse, candidates             one answer, and many
//	model, model_store, model_version         models and their versions, in the store and in files
//	node, edge, property                      the graph
//	db, tx, commit, background                opening, transactions, the group commit, jobs
//	options, errors                           what all of them use
//
// Two things call upwards: Open loads the models, and a commit makes them learn and starts
// background work.
//
// # Life of an Update
//
//	lock     one writer at a time, in the order of arrival
//	f(tx)    changes are collected in an index.Batch, which the transaction itself sees
//	queue    log record, meta record, feature blocks, observations join those of other commits
//	learn    the models learn the observations in order and train when due
//	unlock   the next Update builds on this one
//	write    one waiter writes the queue: one Badger transaction, one sync
//	publish  readers that begin from here on see the edges and the models that learned of them
//
// While a group of commits is written, later commits join the next group, so concurrent writers
// share a sync. Groups are written one after the other, each when the previous one is durable.
// Before the next Update begins, a model that has learned much since its last checkpoint gets a new
// checkpoint. A new base of the graph is made in the background when the changes have grown to a
// tenth of the edges, or to 131,072, or take a quarter of the memory of the graph. If they come
// faster than bases are made and take half of it, an Update waits for the next base before it
// begins.
//
// An Update sees all earlier commits, durable or not, and returns when they are durable, even if
// its own function failed: no answer depends on data that may be lost. A View sees only durable
// commits. If a write or a sync fails, all commits that wait for it return the error, readers keep
// the last durable version, and every further write is refused until the database is reopened,
// because a second sync of the same pages may succeed without having written them.
//
// The store runs in Badger's managed mode: a commit sets its timestamp and a reader reads at the
// timestamp of its snapshot, so memory and store agree without a lock between readers and the
// writer. Views do not wait for a writer, except that a new one waits some milliseconds while the
// tables of a load or of a compaction are put in place.
//
// # What survives
//
// When Update, Observe, Choose, Reward, Load, Model.Create, Model.Drop, Train, Deploy, Rollback,
// Freeze or Model.Import has returned nil, its effect survives the death of the process and, unless
// Options.NoSync is set, a power cut. A call that had not returned has happened completely or not
// at all. Models come back exactly: Open reads a stored document and replays the observations after
// it, using the contexts stored with them. So after a kill, the next Predict with NoCache gives the
// same answer, bit for bit, as without the kill.
//
// Durability rests on a log of the last writes, which is synced after each group of commits, and on
// tables and documents that are synced before a record refers to them. It assumes that a synced
// file keeps its name, and that all other changes of names in the directory reach the disk in the
// order in which they were made, as on journalling and copy-on-write file systems. If the disk is
// nearly full, writes are refused with ErrFull before anything changes, and views continue. Every
// stored value has a checksum, and damage is [ErrCorrupt] and never a wrong answer:
// commit.go has the details, and package internal/repair what damage is found when.
//
// A [DB.Load] and a [DB.LoadNodes] are atomic; a [DB.LoadFeatures] commits as it goes. An
// observation is forgotten when its model has stored what it learned (Options.ObservationBytes), a
// decision when it expires, a change when newer ones need the room (Options.ChangeBytes). Cached
// PageRank only saves time, and a kill may lose it.
//
// # What is forgotten
//
// [Tx.DeleteNode] removes a node from the graph; its key stays in the dictionary, because
// decisions, observations and changes name the node. [Tx.Erase] forgets the key as well, such as
// the key of a person who asks for it. The section "Forgetting a node" of query/LANGUAGE.md lists
// everything that is kept of a node, where, and what Erase does with it. [DB.Compact] and
// [CompactDir] then remove the bytes from the files; Stats.Erased counts the nodes for which that is
// still to be done.
//
// # Caveats
//
// A Tx and all it returned are valid only inside their function; a slice or key that outlives the
// function must be copied unless it is a string or a number. After a write inside a transaction
// returned an error, the function should return it: the transaction may hold a part of that write,
// unless it was made in a [Tx.Savepoint]. One process opens a directory. If a model learns from the
// candidates of an observation, these are stored with it: 5 bytes a node, for up to 4,096 of them.
// Close waits for open transactions, so it must not be called inside one.
//
// Long work checks its context regularly, and returns its error within a fraction of a second.
// Exceptions: a sync of the disk, and a merge of tables that [DB.Compact] has begun.
//
// With NoCache an answer is a function of graph, model, request and Options.Memory, bit for bit, on
// the same binary and architecture. Without it, PageRank that was repaired since the graph changed
// may differ by its bound, and no rank that depends on such a state is Exact.
//
// One process writes a database and answers from it; more machines have copies ([DB.Changes],
// [DB.Apply]). The graph is in memory if Options.Memory allows, at about 9 bytes an edge; otherwise
// its rows are read from the disk on demand. The vectors of nodes of a model that was opened are
// read on demand, too, and then stay in memory. A graph of 2^31 undirected or 2^32 directed edges
// stays on the disk, and 2^32 - 1 nodes, deleted ones included, are the end.
package db
