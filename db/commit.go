package db

import (
	"cmp"
	"runtime"
	"sync"
	"time"

	"kith/db/internal/store"
	"kith/index"
)

// Durability.
//
// After a power cut, each file has its last synced content. Of later writes, any part may be
// present, missing or zero. Durability rests on the following, by kind of data:
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
// needs 1 MB and its own bytes. When the log of the last writes is full, at 5 to 32 MB depending on
// Options.Memory, and for a load, there must also be eight times that or twice the size of the
// database, whichever is less: a smaller Memory needs less. Views continue, and writes succeed
// again when there is space. Opening and closing a database need no space, even on a full disk:
// its last writes then stay in the log. One thing can still end the process: another program that
// takes the whole reserve at once, for example by allocating a large file, within the milliseconds
// in which the database writes a merged table, or the first pages of its logs when it is opened. A
// program that takes the last free inodes in such a moment can lose records, because Badger then
// keeps a merge whose table could not be made; merging waits while fewer than 1,024 are free.

// commitAndUnlock commits the changes if commit is set, and releases the writer lock.
func (tx *Tx) commitAndUnlock(commit bool) error {
	defer tx.db.unlock()
	defer tx.close()
	if commit {
		return tx.commit()
	}
	return nil
}

// commit queues the changes and makes the models learn the observations. The next Update builds on
// both. Readers see them when they are durable.
func (tx *Tx) commit() error {
	db := tx.db
	if tx.batch.Empty() && len(tx.observed) == 0 && len(tx.decided) == 0 {
		return nil
	}
	if tx.batch.Grows() {
		if err := db.fitsGraph(tx.batch, graphPart); err != nil {
			return err
		}
	}
	if err := tx.commitMade(); err != nil {
		return err
	}
	r, c := db.store.NewRecords(), tx.recorded()
	if err := tx.writeObservations(r); err != nil {
		return err
	}
	if err := tx.writeDecisions(r, &c); err != nil {
		return err
	}
	if err := tx.batch.Write(r, c); err != nil {
		return err
	}
	if err := r.CheckSize(); err != nil {
		return err
	}
	if err := db.store.Reserve(r); err != nil {
		return err
	}
	models, err := tx.learn()
	if err != nil {
		db.store.Fail(err)
		return err
	}
	next := &snapshot{Snapshot: tx.batch.Snapshot(), models: models, ts: tx.snap.ts + 1}
	if next.Meta.Model != tx.snap.Meta.Model {
		if err := next.WriteMeta(r); err != nil {
			db.store.Fail(err)
			return err
		}
	}
	tx.pendingGroup = db.groups.add(r, next)
	tx.updateEarliest()
	return db.afterCommit(next)
}

// recorded returns how the commit of the transaction is recorded.
func (tx *Tx) recorded() index.Commit {
	if tx.repeats != nil {
		return tx.db.repeated(tx.repeats)
	}
	return tx.db.recorded()
}

// recorded returns how a commit of now is recorded.
func (db *DB) recorded() index.Commit {
	return index.Commit{Time: db.opts.Now().UnixNano()}
}

// afterCommit does periodic work: it stores a model that has learned much since its last
// checkpoint, for which all commits must be durable, makes a new base when there are many changes,
// trains models again, and forgets observations and changes when there are too many. The commit is
// valid even if this work fails; failed work is repeated again after the next commit.
func (db *DB) afterCommit(s *snapshot) error {
	for _, l := range db.learners {
		if !l.CheckpointDue() {
			continue
		}
		if err := db.waitDurable(); err != nil {
			return err
		}
		if err := db.checkpoint(l); err != nil {
			db.opts.Logger.Error("checkpoint", "err", err)
		}
		db.saveStatesIfDue(1)
	}
	db.compactIfDue(s)
	db.refreshIfDue(s)
	return cmp.Or(db.forgetIfDue(s), db.forgetChangesIfDue(s))
}

// group is a group of commits that become durable together, with one transaction of the store and
// one sync.
type group struct {
	records *store.Records // records of all the commits; later ones replace earlier ones
	last    *snapshot      // version after the group, which readers see once the group is durable
	commits int
	sealed  bool          // accepts no more commits because it is being written
	done    chan struct{} // closed when the group is durable or has failed, after err is set
	err     error
}

// groups is the queue of commits that are not yet durable, in commit order.
//
// INVARIANT: a group is written only when all before it are durable. So after a power cut at any
// moment, the store holds all commits up to some commit and none after a gap.
type groups struct {
	turn  token      // held while a group is written
	mu    sync.Mutex // protects following fields
	queue []*group   // the last group accepts more commits if it is not sealed
}

// add appends a commit to the queue and returns its group. The writer calls it, in commit order.
func (q *groups) add(r *store.Records, next *snapshot) *group {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.queue); n > 0 && !q.queue[n-1].sealed && q.queue[n-1].records.Merge(r) {
		q.queue[n-1].last = next
		q.queue[n-1].commits++
		return q.queue[n-1]
	}
	g := &group{records: r, last: next, commits: 1, done: make(chan struct{})}
	q.queue = append(q.queue, g)
	return g
}

// newest returns the group of the newest commit and the version after it. It returns nil if all
// commits are durable.
func (q *groups) newest() (*group, *snapshot) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		return nil, nil
	}
	g := q.queue[len(q.queue)-1]
	return g, g.last
}

// records returns the records of the queued commits, in commit order. They stay as they are while
// the caller holds the writer lock.
func (q *groups) records() (all []*store.Records) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, g := range q.queue {
		all = append(all, g.records)
	}
	return all
}

// seal seals the first group of the queue and returns it, or nil if the queue is empty.
func (q *groups) seal() *group {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		return nil
	}
	q.queue[0].sealed = true
	return q.queue[0]
}

// end removes the first group, which was written.
func (q *groups) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = q.queue[1:]
}

// head returns the newest version, durable or not, on which the next commit builds, and the group
// that makes it durable, or nil if it is durable.
func (db *DB) head() (*snapshot, *group) {
	if g, last := db.groups.newest(); g != nil {
		return last, g
	}
	return db.now.Load(), nil
}

// waitDurable returns when all commits are durable, or with the reason why they are not.
func (db *DB) waitDurable() error {
	_, g := db.head()
	return db.await(g)
}

// await returns when the commits of g are durable and visible to readers, or with the reason why
// they are not. A nil g is durable. One of the waiters writes the group for all of them.
func (db *DB) await(g *group) error {
	for g != nil {
		select {
		case <-g.done:
			return g.err
		default:
		}
		select {
		case <-g.done:
		case <-db.groups.turn:
			db.writeGroup()
			db.groups.turn.release()
		}
	}
	return nil
}

// maxYields bounds how often writeGroup yields to other writers.
const maxYields = 16

// writeGroup makes the first group of the queue durable and publishes its last version. Before that
// it yields to other goroutines while commits arrive. These are mostly writers of the previous
// group, which would otherwise have to wait for the next one.
func (db *DB) writeGroup() {
	for i, last := 0, (*snapshot)(nil); i < maxYields; i++ {
		head, _ := db.head()
		if head == last {
			break
		}
		last = head
		runtime.Gosched()
	}
	g := db.groups.seal()
	if g == nil {
		return
	}
	start := time.Now()
	if g.err = db.store.Write(g.last.ts, g.records); g.err == nil {
		db.publish(g.last)
		db.counters.committed(CommitEvent{g.last.Meta.Version, g.commits, time.Since(start)})
	}
	db.groups.end()
	close(g.done)
}

// publish makes s, which must be durable, the version that readers see.
func (db *DB) publish(s *snapshot) {
	db.now.Store(s)
	db.discard()
	db.published.send()
}
