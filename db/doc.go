// Package db is an embedded graph database that predicts its own next links.
//
// A [DB] keeps nodes and weighted edges in one directory. All access is through a [Tx]: [DB.View]
// reads a snapshot, [DB.Update] writes, and [DB.Begin] is for transactions that span several
// functions. [DB.Predict] ranks candidates for links from a node with a model that learns from each
// outcome reported to [DB.Observe].
//
// # Parts
//
//	store     the records on the disk, their files and their durability; it alone imports Badger
//	archive   the layout of backups and of model files
//	edgelist  lists of edges, of nodes and of features
//	walk      how the PageRank of a request is computed, which ranks are certain, and what is near a node
//	gonum     the graph as gonum's algorithms want it
//	words     the words of messages
//	ctxio     readers and writers that end with a context
//
// These know nothing of each other and nothing of transactions. Below them, package index turns
// records into a graph and back, package ppr computes PageRank on it, and package model ranks and
// learns. This package connects them. Its files form layers too, and a call goes down:
//
//	holdout*, log, decision, observe,       questions, choices and learning; json is their form on the wire
//	explain
//	model_*, list_*, backup_*               trainings and versions, lists, backups and compactions
//	predict, candidates, traverse           one answer, and many
//	node, edge, hidden, stats               the graph, and the part of it that a comparison hides
//	change_*, change                        the changes of commits, and repeating them in a copy
//	db, tx, commit                          opening, transactions and the group commit
//	options, budget, errors                 what all of them use
//
// Two things call upwards: Open loads the models, and a commit makes them learn and starts
// background work.
//
// budget.go divides Options.Memory, and errors.go has all errors. An error about something that the
// caller named is an [Error], which has its kind, its name, what would have been accepted and what
// was probably meant.
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
// After a power cut, each file has what was last synced. Of later writes, any part may be present,
// missing or zero. Durability rests on the following, by kind of data:
//
//	log of the last writes   (.mem) synced after each group of commits, all of them, and with them
//	                         the directory when it has changed. An incomplete record fails its
//	                         checksum and ends the log. A new log is begun by a group that is
//	                         written when all before it are durable, so no gap precedes a commit.
//	generations, documents   written before the commit that refers to them, and synced by then;
//	                         the next open deletes those that nothing refers to
//	tables                   (.sst) synced before the manifest names them, and the manifest before the
//	                         log that held the same records is deleted
//	manifest                 synced after each change; replaced by a synced file under a temporary
//	                         name, a rename and a sync of the directory
//	newest commit            (NEWEST) written after the sync of each group, and not synced: after a
//	                         power cut it may be older than the logs, never newer
//
// It assumes that a synced file keeps its name, and that all other changes of names in the
// directory reach the disk in the order in which they were made, as on journalling and
// copy-on-write file systems.
//
// If the disk is nearly full, writes are refused with ErrFull before anything changes. A write
// needs 1 MB and its own bytes. When the log of the last writes is full, at 5 to 64 MB depending on
// Options.Memory, and for a load, there must also be eight times that or twice the size of the
// database, whichever is less: a smaller Memory needs less. Views continue, and writes succeed
// again when there is space. Opening and closing a database need no space, whoever filled the disk:
// its last writes then stay in the log. One thing can still end the process: another program that
// takes the whole reserve at once, for example by allocating a large file, within the milliseconds
// in which the database writes a merged table, or the first pages of its logs when it is opened. A
// program that takes the last free inodes in such a moment can lose records, because Badger then
// keeps a merge whose table could not be made; merging waits while fewer than 1,024 are free.
//
// Cached PageRank states only save time. Those that took at least 20,000 edge operations are stored
// when a database that was written to is closed and, in the background, at checkpoints: after a
// checkpoint of a model, and when 2^24 edge operations, about half a second, would be lost by a
// kill. A checkpoint stores up to 4 MB, those states first that the cache would evict last.
// Together the stored states take at most about what cached states may take in memory. After a kill
// they are loaded when they are needed, and brought up to date with the graph.
//
// # Loading
//
// [DB.Load] is atomic: the graph with the new edges is written as a new generation next to the
// present one, and one meta record switches to it. Queries never see a half-loaded list, and an
// interrupted load is started again and gives the same graph. The cost is a pass over the whole
// graph, also for a short list, which an Update adds more cheaply. Data that must be sorted goes to
// unnamed scratch files, so a kill leaves nothing behind. [DB.LoadNodes] and [DB.LoadFeatures]
// commit as they go, because their lines mean the same whenever they are read.
//
// # What is forgotten
//
// An observation is needed until its model has stored what it learned: Open replays it, and so does
// a training that was running when the observation came. After that there are no readers: TRAIN
// FROM LOG uses what the model remembers, which is in its document, and the value of a policy is
// estimated from decisions. When the log is an eighth larger than Options.ObservationBytes, a
// commit makes the models store what they learned up to some version, writes into the meta record
// that the observations up to there are forgotten, and deletes these. Each observation is deleted
// once and none is rewritten, and a model is stored for this at most once per ObservationBytes.
// What a kill leaves undeleted, the next open deletes. A decision is kept until it expires. Commits
// that make or reward decisions delete more expired decisions than they make.
//
// # Damage
//
// Every stored value has a checksum of its own and one of Badger's. Before Open changes anything it
// reads the manifest, the tables without the rows and keys of the graph, and the logs of the last
// writes, and compares them with an inventory, which is written whenever files come or go and has
// the length and checksums of each table. A file that was altered, truncated, deleted or replaced
// is ErrCorrupt, and so are inconsistent records. The inventory has a checksum of the manifest, and
// the identity of the directory, so files of another database are recognized. A failing open
// deletes nothing: tables that the manifest does not name, which Badger deletes, are set aside
// until all records are read.
//
// Rows, keys, labels and vectors of a graph of more than 65,536 edges are read when they are
// needed. If they fit, all are read into memory in the background once questions have read about as
// much, or at [DB.Preload]. A damaged block of them is therefore found later: from then on every
// transaction ends with ErrCorrupt and no write succeeds. All tables are read in full before the
// first write, a backup and a check, at about 1 GB a second.
//
// A log of the last writes that lost its end looks like one that a crash has ended. So the file
// NEWEST, of one kilobyte, names the newest durable commit, and for each log its identity and its
// last commit. It is written in place after each group of commits, without a sync of its own. A
// kill leaves it as it was written, so every durable commit that the logs lack is ErrCorrupt. After
// a power cut it may be as old as the system's page cache, half a minute or so, and what was lost
// of later commits cannot be distinguished from a crash. The same holds if the file is lost. It
// takes about 15 microseconds for a group, measured on a busy machine: 14 % of an Update with
// NoSync, and nothing measurable beside a sync.
//
// A gap in a log is damage if two commits follow, because each was synced before the next was
// written, or one that NEWEST says was durable. Otherwise the database is in the state after the
// commit before the gap. With NoSync a power cut may leave gaps anywhere, and a kill leaves none:
// they are damage if the system has not been started since. Only Linux says whether it has. A file
// that changes between the last inventory and a kill is verified only by its checksums.
//
// Badger writes its files through memory mappings, and a page for which the disk has no space ends
// the process with SIGBUS. So writes, and [DB.Compact], check beforehand that the space they may
// need is free. If other processes fill the disk in that moment, SIGBUS can still happen, but
// nothing acknowledged is lost. [CompactDir] writes its tables itself and returns an error if the
// disk is full.
//
// # Backup and repair
//
// [DB.WriteTo] and [DB.WriteSince] write the records of one version in the layout of package
// archive, which is not Badger's. [Restore] rejects incomplete backups, and puts the database in
// place only after it has been opened once and is durable.
//
// [Diagnose] says what is wrong with a database that cannot be opened, and [Repair] writes it from
// scratch with all records that can be read. It does so in a directory inside the database, so a
// repair that fails changes nothing, and one that is killed while it replaces the files is finished
// by the next Open. Unless it is forced, it fails instead of leaving an empty database. Files of
// another database are left out, and kept under another name. A damaged table costs the blocks with
// wrong checksums, a damaged manifest nothing. What only a damaged record held is lost and
// reported; the log of changes restores what it holds of a damaged block. No edge joins nodes that
// it did not join before. But if the record of a commit is lost, what that commit changed or
// deleted is back in its earlier state. If a table was lost, data that was deleted after the table
// was written, such as a model, may be back as well.
//
// # Prediction
//
// A request is resolved to candidates. The model's scorer computes their contexts from the snapshot
// (features and present structure) and estimates their rewards, and a walk over the graph spreads
// the estimates: v = αPv + (1-α)h. The walk is certified: Bound covers its numerical error, and
// Certain says that no error within the bounds could change the rank.
//
// PageRank comes from cached states, which are repaired when edges have changed: coarse ones of ten
// times the database's epsilon for contexts, others for candidates of PPR and for the walk. With
// NoCache it is computed from scratch, so the answer is a function of graph, model, request and
// Options.Memory, bit for bit, and trainings read the graph in this way. A walk that would take
// more memory than an answer has ends early, and its bounds say how far it came. A state that was
// computed on a graph with the same edges gives the same contexts and candidates, bit for bit.
// After a repair, and when it was loaded from the store, the PageRank of node j in an undirected
// graph differs from that of a solve by at most 20 epsilon times the degree of j, counted in units
// of the mean weight of the source's edges. No rank is Certain if contexts or candidates came from
// such a state, and contexts make Bound infinite; with UntilCertain they are computed from scratch
// then. Without a model, and before a model's first training, the estimate is a fixed prior over
// the structure. Prediction.AnsweredBy says which one was used.
//
// [Tx.PredictEach] answers many questions on all processors, in their order and with NoCache,
// within the memory of one answer. It answers PREDICT LINKS FOR ALL and kith score.
//
// A question may be about a weighted set of nodes, [Seeds], as one source: [Tx.PageRank] starts its
// walk at the nodes by weight, and Predict scores a link as if one of the nodes, drawn by weight,
// made it. All scores are then weighted means of those that the nodes alone would give the same
// candidates, since estimates are averaged and a walk is linear, so no model is asked anything that
// it was not trained for, and [Tx.Why] shows what each node adds. Generated candidates are those
// near any of the nodes; nodes that any of them is linked to are left out.
//
// A training takes a quarter of Options.Memory, whatever the size of the graph: the columns of its
// samples and the vectors of the nodes. Where both do not fit, it draws fewer samples and leaves
// the vectors out (ModelInfo.VectorsLeftOut). It reads all edges once to draw samples and once to
// leave some out. Where a graph is too large to be copied without the edges that are hidden, their
// nodes' rows are changed instead: short ones are copied, long ones lose these edges whenever they
// are read.
//
// [DB.Evaluate] measures how good predictions are: it hides edges, and asks contenders for them on
// the graph without them. All contenders rank the same nodes among the same candidates.
//
// # Versions
//
// One model answers requests that name none: the first that was trained, until [Model.Deploy]
// selects another or Model.Drop removes it. Its name is in the meta record. Without such a model,
// and while its deployed version is untrained, the built-in model answers, whose weights were
// learned on other graphs.
//
// Model.Create makes the first version of a model; the model default is made by the first Observe,
// Choose or Train that needs it. Each [Model.Train] makes another version from the deployed one.
// The deployed version answers requests that name no version, and only it learns from observations.
// Train compares a new version with others ([Comparison]) and deploys it if it is not worse, unless
// told otherwise. [Model.Deploy] and [Model.Rollback] deploy other versions, each in its own state.
// Up to 8 versions of a model are kept on the disk, with everything that their training
// needs to continue; recently used ones are in memory. The reward of a decision teaches the version
// that is deployed when the reward comes. [Model.Freeze] stops a model from learning: observations
// go to the log with a mark that they are not learned, now or by a replay. Models that were trained
// on edges that have changed since are trained again in the background, one at a time; see
// Options.NoRefresh.
//
// [Model.Export] and [Model.Import] move models between databases. Node ids are specific to a
// database, so an exported model refers to nodes by their keys.
//
// # Decisions
//
// [DB.Choose] draws a candidate by probabilities that an [Explorer] derives from the scores, and
// commits the decision before it returns: the candidates, their scores and probabilities, and the
// contexts that the model may need. [DB.Reward] reports the outcome, once, before the decision
// expires. The model then learns what an observation made at the moment of the choice would have
// taught it. A decision is identified by a number that is never reused. Each takes 23 bytes a
// candidate, and 4 bytes for each number of the contexts that its model needs. From the rewarded
// ones [DB.EvaluateLog] estimates what another model would have earned. [Tx.Observations] and
// [Tx.Decisions] are the logs.
//
// # Changes
//
// A database that was opened once with Options.ChangeBytes keeps what its commits do: nodes, edges,
// features, observations, decisions and models. [DB.Changes] yields one change for each commit, in
// order, once it is durable. A reader resumes after the last version that it has seen. [DB.Apply]
// repeats changes in a copy that was restored from a backup and opened with Options.Follower. The
// copy then has the same version, node ids and models as the database that it follows. With NoCache
// it gives the same answers, bit for bit, if binary, architecture and Options.Memory are the same.
// It learns and is trained only by what it applies: it learns an observation again, and the change
// has the document of a version that was trained.
//
// A change is made of records that a commit writes anyway (its log record, its observations and
// decisions, the documents of models), which are kept for longer, and of one more record for what
// these do not tell. See package index, "Changes". Each database has an identity, which its backups
// share, and a checksum over its history. So a change that was applied before is ignored, and one
// that does not come next, comes from another database, or follows another history is refused.
//
// A [DB.Load] is not a change, because it may be larger than everything else that is kept. It
// forgets the changes before it, as does turning the option off. A reader that asks for a forgotten
// version gets ErrForgotten, and a follower begins again with a backup.
//
// How much is kept is a property of the database, which its backups have too: a restored copy keeps
// changes as the database does, so it can be followed in its place.
//
// # How far it goes
//
// One process writes a database and answers from it, on one machine; more machines have copies. The
// graph is in memory if Options.Memory allows, at about 9 bytes an edge; otherwise its rows are
// read from the disk on demand. The offsets of rows in memory have 32 bits, so a graph of 2^31
// undirected or 2^32 directed edges stays on the disk, and 2^32 - 1 nodes, deleted ones included, are the end. Graphs of
// 15 million edges were measured, and the laws of their figures extrapolated to 10^10 edges
// (cmd/prbench/internal/bench).
//
// # Watching
//
// [DB.Stats], [DB.Var] and [Stats.WritePrometheus] return figures, Options.Events receives syncs,
// commits, checkpoints and compactions, Options.Logger logs background work, and a training tells
// how far it has come to EdgePlan.Progress. The results of this package marshal to JSON, by the
// names that the statements of package query use for their columns. A node is a number or a string.
// Numbers that JSON lacks, NaN and the infinities, are null. A [Key] is also an
// [encoding.TextMarshaler] and a [database/sql.Scanner].
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
package db
