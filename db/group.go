package db

import (
	"runtime"
	"sync"
)

// group is commits that become durable together: with one transaction of the store and one sync.
type group struct {
	records *records      // of all of them, later over earlier
	last    *snapshot     // the version after them, which readers see once they are durable
	sealed  bool          // takes no more: it is being written
	done    chan struct{} // closed when they are durable, or err says why they are not
	err     error
}

// durable reports whether the commits are, or cannot be any more.
func (g *group) durable() bool {
	select {
	case <-g.done:
		return true
	default:
		return false
	}
}

// groups are the commits on their way to the disk, in commit order.
//
// INVARIANT: a group is written when all before it are durable; so the store holds the commits up to
// one of them, whatever moment the power fails at, and not one after a gap.
type groups struct {
	turn  chan struct{} // holds a token while nobody writes a group
	mu    sync.Mutex    // protects following fields
	queue []*group      // the last one takes more if it is not sealed
}

func (q *groups) init() {
	q.turn = make(chan struct{}, 1)
	q.turn <- struct{}{}
}

// add puts a commit behind those that are queued. The writer calls it, in commit order.
func (q *groups) add(r *records, next *snapshot) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.queue); n > 0 && !q.queue[n-1].sealed && q.queue[n-1].records.merge(r) {
		q.queue[n-1].last = next
		return
	}
	q.queue = append(q.queue, &group{records: r, last: next, done: make(chan struct{})})
}

// newest returns the group of the newest commit, nil if all are durable.
func (q *groups) newest() *group {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		return nil
	}
	return q.queue[len(q.queue)-1]
}

// head returns the version after the newest commit, nil if all are durable.
func (q *groups) head() *snapshot {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		return nil
	}
	return q.queue[len(q.queue)-1].last
}

// seal returns the group whose turn it is, nil if there is none.
func (q *groups) seal() *group {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		return nil
	}
	q.queue[0].sealed = true
	return q.queue[0]
}

// end takes the group out that was written.
func (q *groups) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = q.queue[1:]
}

// head returns the newest version, durable or not: the one to write on.
func (db *DB) head() *snapshot {
	if last := db.groups.head(); last != nil {
		return last
	}
	return db.now.Load()
}

// await returns when the commits of g, nil for none, are durable and readers see them, or why they
// are not. Of those who wait one writes, for all who have come by then.
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
			db.groups.turn <- struct{}{}
		}
	}
	return nil
}

// maxYields bounds how often a group waits for commits that are about to come.
const maxYields = 16

// writeGroup makes the group durable whose turn it is, and shows readers its last version. First it
// lets those run who can, as long as they commit: mostly the writers of the group before, who would
// otherwise have to wait for the next one.
func (db *DB) writeGroup() {
	for i, last := 0, (*snapshot)(nil); i < maxYields && last != db.head(); i++ {
		last = db.head()
		runtime.Gosched()
	}
	g := db.groups.seal()
	if g == nil {
		return
	}
	if g.err = db.store.write(g.last.ts, g.records); g.err == nil {
		db.publish(g.last)
	}
	db.groups.end()
	close(g.done)
}
