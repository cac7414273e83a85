package db

import (
	"runtime"
	"sync"
	"time"
)

// group is commits that become durable together: with one transaction of the store and one sync.
type group struct {
	records *records  // of all of them, later over earlier
	last    *snapshot // the version after them, which readers see once they are durable
	commits int
	sealed  bool          // takes no more: it is being written
	done    chan struct{} // closed when they are durable, or err says why they are not
	err     error
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

// add puts a commit behind those that are queued and returns its group. The writer calls it, in
// commit order.
func (q *groups) add(r *records, next *snapshot) *group {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.queue); n > 0 && !q.queue[n-1].sealed && q.queue[n-1].records.merge(r) {
		q.queue[n-1].last = next
		q.queue[n-1].commits++
		return q.queue[n-1]
	}
	g := &group{records: r, last: next, commits: 1, done: make(chan struct{})}
	q.queue = append(q.queue, g)
	return g
}

// newest returns the group of the newest commit, and the version after that; nil if all are durable.
func (q *groups) newest() (*group, *snapshot) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		return nil, nil
	}
	g := q.queue[len(q.queue)-1]
	return g, g.last
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

// head returns the newest version, durable or not, which is the one to write on, and the group that
// makes it durable, nil if it is.
func (db *DB) head() (*snapshot, *group) {
	if g, last := db.groups.newest(); g != nil {
		return last, g
	}
	return db.now.Load(), nil
}

// settle returns when all commits are durable, or why they are not.
func (db *DB) settle() error {
	_, g := db.head()
	return db.await(g)
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
	if g.err = db.store.write(g.last.ts, g.records); g.err == nil {
		db.publish(g.last)
		db.life.committed(CommitEvent{g.last.Meta.Version, g.commits, time.Since(start)})
	}
	db.groups.end()
	close(g.done)
}
