// Package db is an embedded graph database that predicts its own next links.
//
// A [DB] keeps nodes and weighted edges in one directory. All access is through a [Tx]: [DB.View]
// reads a snapshot, [DB.Update] writes; [DB.Begin] is for who cannot do either in one function.
// [DB.Predict] ranks candidates for links from a node with a model that learns from each outcome it is
// told of with [DB.Observe].
//
// # Parts
//
// This package owns the store (Badger; store.go and the files*.go alone know it), the transactions and
// the models, and wires the rest together: package index turns records into a graph and back,
// package ppr computes PageRank on it, package model ranks and learns, package edgelist reads files.
// None of those knows another but index, which knows ppr.
//
// # Life of an Update
//
//	lock     one writer at a time, in the order of arrival
//	f(tx)    changes gather in an index.Batch, which the transaction itself sees
//	queue    log record, meta record, feature blocks, observations join those of other commits
//	learn    the models observe what was observed, in order; on their schedule they train
//	unlock   the next Update builds on this one
//	write    one of those who wait writes what is queued: one Badger transaction, one sync
//	publish  readers that begin from here see the edges and the models that know of them
//
// While a group of commits is written, the next one gathers; so the syncs are shared by however many
// write at the same time. Groups are written one after the other, each when the one before it is
// durable. Before the next Update begins, a model that has learned much since its last checkpoint
// gets one; a new base of the graph is made in the background when the changes have grown to a tenth
// of it.
//
// An Update sees the commits before it, durable or not, and returns when they are durable, even if
// its own function failed: no answer rests on what may be lost. A View sees durable commits alone.
// Where a write or a sync fails, all commits that wait for it return the error, readers keep the last
// durable version, and every further write is refused until the database is opened anew: a second
// sync of the same pages may succeed without having written them.
//
// The store runs in Badger's managed mode: a commit names its timestamp and a reader reads at the
// timestamp of its snapshot, so memory and store agree without a lock between readers and the writer.
// Views never wait for a writer.
//
// # What survives
//
// When Update, Observe, Choose, Reward, Load, CreateModel, DropModel, Train, Deploy, Rollback, Freeze or
// ImportModel has returned nil, its effect survives the death of the process and, unless Options.NoSync
// was set, a power cut. What had not returned has happened whole or not at all. Models come back exactly: a stored document, and the
// observations after it learned again, from the contexts stored with them. So a database that was
// killed answers the next Predict with NoCache bit for bit as if it had not been.
//
// A power cut leaves of each file what was last synced; of what was written later any part, or
// zeros. What this rests on, by what is written:
//
//	log of the last writes   (.mem) synced after each group of commits, all of them, and with them
//	                         the directory when it has changed. A record that is not whole fails its
//	                         checksum and ends the log. A new log is begun by a group that is
//	                         written when all before it are durable, so no gap precedes a commit.
//	generations, documents   written ahead of the commit that makes them count, and synced by then;
//	                         what is there beyond that is deleted by the next open
//	tables                   (.sst) synced by Badger before the manifest names them, and the manifest
//	                         before the log goes that held the same records
//	manifest                 synced by Badger after each change; replaced by a synced file under a
//	                         temporary name, a rename and a sync of the directory
//
// It assumes that a file which was synced keeps its name, and that names in the one directory otherwise
// come and go on the disk in the order in which they did, as journalling and copy-on-write file
// systems have it.
//
// A disk that is nearly full refuses writes with ErrFull, before anything is changed, while there is
// still the room that the store needs to keep itself in order; views go on, and so do writes when
// there is room again.
//
// Cached PageRank states are stored when the database is closed, and are only ever a head start.
//
// # Loading
//
// [DB.Load] is whole or nothing, whatever the length of the list and whatever the database holds: the
// graph with the edges is written as a new generation, beside the one that counts, and one meta record
// makes it count. There are no batches to resume, and nothing half loaded that queries could see: a
// load that was interrupted is begun again, which gives the same graph. That costs a pass over the
// whole graph, also for a short list, which an Update adds for less. What has to wait for its order
// does so in scratch files that have no name, so that a kill leaves nothing. [DB.LoadNodes] and
// [DB.LoadFeatures] commit as they go, because a line of theirs means the same whenever it is read.
//
// # What is forgotten
//
// An observation is of use until its model has stored what it learned: an open learns it again, and so
// does a training that was under way when it came. Afterwards nobody reads it: TRAIN FROM LOG goes by
// what the model remembers, which is in its document, and the value of a policy is estimated from
// decisions. So the log keeps what Options.ObservationBytes says. When it is an eighth beyond that, a
// commit has the models store what they learned up to some version, writes into the meta record that
// the observations up to there are forgotten, and deletes these: each is deleted once, none is
// rewritten, and a model is stored for it at most once in as many bytes as are kept. What a kill leaves
// behind there the next open deletes. A decision is kept until its time is over; commits that make or
// reward decisions delete more of those that have ended than they make.
//
// # Damage
//
// Every stored value is under a checksum, of its own and of Badger's. Before Open changes anything it
// reads the manifest, all tables and the logs of the last writes, and compares them with the inventory
// (files_inventory.go), which is written whenever files come or go and tells of each table its length
// and the checksum of its index. A file that was altered, cut short, deleted or replaced by another is
// ErrCorrupt, and so are records that do not fit together. An open that fails deletes nothing: tables
// that the manifest does not name, which Badger deletes, are set aside until all records are read.
//
// A gap in the log of the last writes is damage if two commits follow, as each was synced before the
// next was written. Where at most one follows, damage cannot be told from a crash, and the database is
// as it was after the commit before. A file that changes between the last inventory and a kill is
// compared with nothing but its checksums.
//
// Badger writes its files through mappings, and a page for which the disk has no room ends the process
// with SIGBUS. So writes, and [DB.Compact], ask beforehand for the room that they may take. Where other
// processes fill the disk in that moment it can still happen; nothing acknowledged is lost by it.
// [CompactDir] writes its tables itself, and a full disk is an error.
//
// # Backup
//
// [DB.WriteTo] writes the records of one version, as index has them, in a layout that is not Badger's:
// framed, each frame under a crc32c and all of them under a SHA-256; archive.go has it byte for byte.
// [DB.WriteSince] leaves the values out that an earlier backup has, found by digest, so it rests on
// nothing but that file. [Restore] reads them back, takes nothing that is not whole, and puts a
// database in its place when it has been opened once and is on the disk.
//
// [Diagnose] says what is wrong with a database that cannot be opened, and [Repair] writes it from
// scratch with all that can be read of it. A damaged table costs the blocks whose checksums are wrong,
// a damaged manifest nothing. What only a damaged record held is lost and named; the log of changes
// gives back what it holds of a damaged block. No edge joins nodes that it did not join: a node whose
// key is lost is dropped with its edges. But where the record of a commit is lost, what that commit
// changed or deleted is there again as it was before, and where a table had been set aside, so may be
// what was deleted since it was written, such as a model.
//
// # Prediction
//
// A request is resolved to candidates; the model's scorer computes their contexts from the snapshot
// (features, and structure as it is now), estimates their rewards, and a walk over the graph spreads
// the estimates: v = αPv + (1-α)h. Contexts use PageRank solved afresh, to ten times the database's
// epsilon, so that what the model sees is a function of the graph; the walk may combine cached states
// and is certified: Bound covers its numerical error, and Certain says that no error within the bounds
// could change the rank.
// Without a model, and before a model's first training, the estimate is a fixed prior over the
// structure; Ranking.AnsweredBy says what it was.
//
// # Versions
//
// One model answers requests that name none: the first that was trained, until [DB.Deploy] makes another
// one it, or DropModel leaves none. While there is none, and while its deployed version is untrained, the
// learned start answers. The model's name is in the meta record.
//
// A model has versions: CreateModel makes the first, [DB.Train] each of the others, out of the one that
// is deployed. The deployed version answers where no version is named, and it alone learns from what is
// observed; the others stand still where they were. A training from the edges of a graph with
// 200 or more of them leaves some out, and compares the new version on these with the version before, the learned start and
// heuristics ([Comparison]). It deploys a version that is not worse, unless told otherwise. A version that is not deployed
// can be asked (Prediction.Version, LogEvaluation.Version), and then deployed by [DB.Deploy].
// [DB.Rollback] goes back to the version that was deployed before, and from there further back. Which
// version goes on, goes on from what it knew: what was observed while it was not deployed it does not
// learn. A model whose columns another version of this package stored is untrained until the next Train, and says so: see
// ModelInfo.Outdated. At most [MaxVersions] of a model are kept; of more the oldest go that are neither deployed nor
// the one to go back to. A version that is not deployed is on the disk, with all that its training
// needs to go on; those asked for lately are in memory, within a 32nd of Options.Memory.
//
// A model that was trained on the edges is trained again, in the background, when a tenth of the edges has changed since, and at
// least 1,000: one model at a time, as Train would do it. The new version is deployed if its comparison says that it is better than
// the one before, and dropped otherwise; Options.Logger hears of both. Options.NoRefresh turns that off.
//
// [DB.Freeze] keeps a model, in whatever version, as it is: what is observed goes to the log with a mark
// that it is not learned, now or by a replay. The reward of a decision teaches the version that is
// deployed when it comes.
//
// [DB.ExportModel] writes a model to a file of its own, and [DB.ImportModel] makes a model, or a version
// of one, of that; export_model.go has the layout. Ids of nodes are a database's own, so what a model
// remembers of nodes goes by their keys, and is left out where they are not known. [Tx.Observations] and
// [Tx.Decisions] are the logs.
//
// [Tx.Holdout] tells how good predictions are: it hides edges (a share drawn at random, those after a time, or those of a list),
// and [HoldoutSet.Ask] asks for them on the graph without them, among candidates or among fixed pairs without a link. Contenders are models as they are, models that are made for it and never saw what is hidden, and the structural
// prior; all of one set are asked about the same nodes and candidates.
//
// # Decisions
//
// [DB.Choose] draws a candidate by probabilities that an [Explorer] makes of the scores, and commits the
// decision before it returns: the candidates, their scores and probabilities, and the contexts that the
// model may need. [DB.Reward] tells what became of it, once, until its time is over; the model then
// learns what an Observation made at the moment of the choice would have taught it. A decision is
// identified by a number that is given once. Commits of decisions and rewards remove decisions whose
// time is over, so the log holds what was decided within the TTLs: one takes 23 bytes a
// candidate, and 4 bytes for each number of the contexts that its model needs. From the rewarded ones
// [DB.EvaluateLog] estimates what another model would have earned.
//
// # Watching
//
// [DB.Stats] are the figures of a database: [DB.Var] is an expvar.Var of them, which nobody has
// published, and [Stats.WritePrometheus] writes them for Prometheus. Options.Events are told of syncs,
// commits, checkpoints and compactions; Options.Logger hears of what runs by itself.
//
// # JSON
//
// What the package answers with marshals to JSON, by the names that the statements of package query have for their
// columns: a node is a number or a string, and numbers that JSON lacks, NaN and the infinities, are null. A [Key] is
// also an [encoding.TextMarshaler] and a [database/sql.Scanner].
//
// # Caveats
//
// A Tx and all it returned are valid only inside their function; a slice or key that is to live on
// must be copied unless it is a string or a number. After a write inside a transaction returned an
// error, the function should return it: the transaction may hold a part of that write, unless it was
// made in a [Tx.Savepoint]. One process opens a directory. An observation is stored with what it was
// chosen from where its model learns that: 5 bytes a node, for up to 4,096 of them. Close waits for open
// transactions, so it must not be called inside one, and one of Begin must be ended before it; trainings
// it cancels.
//
// Long work checks its context as it goes, and returns its error within a fraction of a second. Exceptions:
// a sync of the disk, a merge of tables that [DB.Compact] has begun, and the dense matrices of policy
// ease, which are factorized in one step.
package db
