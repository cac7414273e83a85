package db

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"kith/db/internal/feed"
	"kith/db/internal/record"
	"kith/db/internal/store"
	"kith/db/words"
	"kith/index"
	"kith/model"
)

// Tx is a transaction: a snapshot to read and, in an Update, changes to it, which the transaction
// sees. It must not be used by several goroutines at a time. The Tx and all it returned are valid
// until the function that it was made for returns or, for a transaction of [DB.Begin], until it is
// ended. After that its methods return ErrClosed, or nothing if they return no error.
type Tx struct {
	db           *DB
	snap         *snapshot
	whole        *Tx       // sees all edges, where this transaction sees those of via; nil: this one does
	via          index.Via // what a part sees
	head         *int32    // of a part: the direction of the links that a question is about, or nil
	ruled        *ruled    // the built-in model with the rules of this graph
	pinned       *snapshot // snapshot whose records are kept for reading; earlier than snap if snap is not durable yet
	reader       *store.Reader
	batch        *index.Batch          // nil in a View
	observed     []*pendingObservation // what Observe received, in order
	observedIDs  map[string]bool       // the ids of observed
	decided      []*record.Decision    // decisions that Choose and Reward made, in order
	made         *record.Learner       // the model default if the transaction makes it, otherwise nil
	repeats      *feed.Document        // change that it repeats in a follower, or nil
	assumed      bool                  // batch has the edges of Assuming, and no more may be written
	managed      bool                  // run calls a function with the transaction and ends it
	pendingGroup *group                // group of the last commit that it saw or made, nil if that is durable
	ended        bool

	earliest int64 // the value of DB.earliest after this commit has dropped expired decisions
}

// pendingObservation is an observation for a model to learn when the transaction commits.
type pendingObservation struct {
	id       string // see ObserveOptions; "" means none
	model    string
	relation string // relation of the link; "" means all
	decision uint64 // decision that this rewards; 0 means none
	outcome  model.Outcome
	document []byte // its stored form, if it repeats an observation that Changes yielded
}

// view returns the snapshot with the transaction's own changes.
func (tx *Tx) view() *index.Snapshot {
	if tx.batch != nil {
		return tx.batch.View()
	}
	return tx.snap.Snapshot
}

// writable returns the batch to write to.
func (tx *Tx) writable() (*index.Batch, error) {
	switch {
	case tx.ended:
		return nil, ErrClosed
	case tx.batch == nil, tx.assumed:
		return nil, ErrReadOnly
	}
	return tx.batch, nil
}

// Begin begins a transaction that the caller must end with Commit or Rollback. [DB.View] and
// [DB.Update] end theirs themselves. Begin is for transactions that span several functions, such as
// the transactions of a session.
//
// A writable transaction waits until the previous one ends or ctx is done, and blocks all other
// writers until it ends. Close waits for every open transaction. Begin does not use ctx after it
// has returned. It returns the errors of View and Update: ErrClosed, ErrReadOnly, ErrFull.
func (db *DB) Begin(ctx context.Context, writable bool) (*Tx, error) {
	if !writable {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := db.pin()
		if err != nil {
			return nil, err
		}
		return &Tx{db: db, ruled: &db.ruled, snap: s, pinned: s, reader: db.store.Read(s.ts)}, nil
	}
	if db.opts.Follower {
		return nil, errFollower
	}
	return db.begin(ctx)
}

// begin begins a transaction that may write, also to a follower.
func (db *DB) begin(ctx context.Context) (*Tx, error) {
	if err := db.waitForCompaction(ctx); err != nil {
		return nil, err
	}
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	pinned, err := db.pin()
	if err != nil {
		db.unlock()
		return nil, err
	}
	s, pendingGroup := db.head()
	reader := db.store.Read(s.ts, db.groups.records()...)
	return &Tx{db: db, ruled: &db.ruled, snap: s, pinned: pinned, reader: reader, batch: s.Begin(), pendingGroup: pendingGroup}, nil
}

// Commit makes the changes of a transaction durable, as Update does, and ends it. If Commit returns
// an error, nothing has changed, and the transaction has ended nevertheless. It returns ErrClosed
// for a transaction that has ended, and ErrInput for one that View or Update ends.
func (tx *Tx) Commit() error { return tx.finish(true) }

// Rollback ends a transaction and discards its changes. It returns ErrClosed for a transaction that
// has ended, which a deferred Rollback may ignore, and ErrInput for one that View or Update ends.
func (tx *Tx) Rollback() error { return tx.finish(false) }

func (tx *Tx) finish(commit bool) error {
	switch {
	case tx.managed || tx.assumed:
		return inputf("the transaction ends with the function that it was made for")
	case tx.ended:
		return ErrClosed
	}
	return tx.end(commit)
}

// run calls f and ends the transaction. It commits the changes if f returns nil.
func (tx *Tx) run(f func(*Tx) error) error {
	tx.managed = true
	returned := false
	defer func() {
		if !returned { // f panicked, or ended its goroutine
			_ = tx.end(false)
		}
	}()
	err := f(tx)
	returned = true
	if failed := tx.end(err == nil); failed != nil {
		return failed
	}
	return err
}

// end ends the transaction. It returns after everything that the transaction read and wrote is
// durable, or with the reason why it is not.
func (tx *Tx) end(commit bool) error {
	defer tx.db.unpin(tx.pinned)
	unread := tx.snap.Err() // an answer may lack what could not be read
	if tx.batch == nil {
		tx.close()
		return unread
	}
	err := tx.commitAndUnlock(commit && unread == nil)
	return cmp.Or(tx.db.await(tx.pendingGroup), unread, err)
}

func (tx *Tx) close() {
	tx.expire()
	tx.db.saveStatesIfDue(unsavedOps)
	tx.reader.Close()
}

// expire ends the use of the transaction, which sees an empty database from then on.
func (tx *Tx) expire() { tx.ended, tx.snap, tx.batch = true, tx.db.nothing, nil }

// Savepoint calls f, which writes to the transaction. If f returns an error or panics, Savepoint
// undoes the writes of f, and returns the error. Savepoints nest. In a transaction that
// cannot write, Savepoint returns ErrReadOnly without calling f.
func (tx *Tx) Savepoint(f func() error) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	observed, decided, snap, made := len(tx.observed), len(tx.decided), tx.snap, tx.made
	kept := false
	defer func() {
		if !kept {
			tx.undoObservations(observed)
			tx.decided, tx.snap, tx.made = tx.decided[:decided], snap, made
		}
	}()
	err = b.Savepoint(f)
	kept = err == nil
	return err
}

// Variable is a small value that the application keeps in the database under a name, in the same
// commits as the graph: the position up to which it has read a queue, for example.
type Variable struct {
	Name  string `json:"variable"`
	Value []byte `json:"value,omitzero"` // of a change, no bytes mean that the variable was removed
}

// The limits of variables. All variables are in memory.
const (
	MaxVariables     = index.MaxVariables     // number of variables: 1,024
	MaxVariable      = index.MaxVariable      // bytes of a value: 64 KB
	MaxVariableBytes = index.MaxVariableBytes // bytes of all names and values together: 1 MB
)

// Set sets a variable when the transaction commits. A value without bytes removes the variable. The
// database, its backups and its followers keep the value as it is. Set returns ErrTooLarge for a
// value of more than MaxVariable bytes, for a variable beyond MaxVariables, and if all of them
// would take more than MaxVariableBytes; and ErrInput for a name that is empty, longer than 1,024
// bytes or not plain UTF-8. Each is an [Error] of kind variable.
func (tx *Tx) Set(name string, value []byte) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	if err := b.SetVariable(name, value); err != nil {
		is := ErrInput
		if errors.Is(err, index.ErrTooLarge) {
			is = ErrTooLarge
		}
		return &Error{Kind: kindVariable, Name: name, Err: is, cause: err}
	}
	return nil
}

// Get returns the value of a variable, or nil if the variable is not set. It returns ErrClosed if
// the transaction has ended.
func (tx *Tx) Get(name string) ([]byte, error) {
	if tx.ended {
		return nil, ErrClosed
	}
	return bytes.Clone(tx.view().Variable(name)), nil
}

// Variables yields the variables, ascending by name, as they are when the iteration begins.
func (tx *Tx) Variables() iter.Seq2[Variable, error] {
	return func(yield func(Variable, error) bool) {
		if tx.ended {
			yield(Variable{}, ErrClosed)
			return
		}
		for _, v := range tx.view().Variables() {
			if !yield(newVariable(v), nil) {
				return
			}
		}
	}
}

// newVariable returns the exported form of a variable.
func newVariable(v index.Variable) Variable { return Variable{v.Name, bytes.Clone(v.Value)} }

// changeBytes is the memory of a change until it is in a base. hiddenBytes is about the largest
// memory of an edge that is hidden by changes of the rows of its nodes. Both are in bytes.
const (
	changeBytes = 256
	hiddenBytes = 4 << 10
)

// without returns a read-only transaction without the given edges, which must ascend: on a second
// graph if there is memory for it, otherwise on the same graph with changed rows. It returns
// ErrTooLarge if there is no memory for these either, or the error of ctx.
func (tx *Tx) without(ctx context.Context, pairs [][2]index.ID) (*Tx, error) {
	edges := tx.snap.Graph.Joining(pairs)
	switch {
	case tx.fitsSecond():
		return tx.copyWithout(ctx, edges)
	case len(pairs) > tx.mostHidden():
		what := fmt.Sprintf("the graph is too large to be copied, and to hide %s takes", words.Count(len(pairs), "edge"))
		return nil, tx.db.checkMemory(what, hiddenBytes*int64(len(pairs)), tx.db.opts.memory(workPart)/2)
	}
	return tx.hiding(ctx, edges)
}

// copyWithout returns a read-only transaction on a copy of the graph without some of the edges.
func (tx *Tx) copyWithout(ctx context.Context, edges []index.Edge) (*Tx, error) {
	g, err := tx.all().snap.Graph.Without(ctx, edges)
	if err != nil {
		return nil, err
	}
	return tx.onGraph(g, edges...), nil
}

// hiding returns a read-only transaction on the graph that takes some of the edges out of the rows
// that it reads.
func (tx *Tx) hiding(ctx context.Context, edges []index.Edge) (*Tx, error) {
	g, err := tx.all().snap.Graph.Hide(ctx, edges)
	if err != nil {
		return nil, err
	}
	return tx.onGraph(g, edges...), nil
}

// fitsSecond reports whether there is memory for the graph and a second one. The result does not
// depend on which rows were read before.
func (tx *Tx) fitsSecond() bool {
	g := tx.all().snap.Graph
	changes := tx.snap.NumChangesSince(tx.snap.Meta.Base)
	first := min(tx.snap.LoadedBytes(), tx.db.opts.memory(graphPart))
	return first+g.LoadedBytes()+changeBytes*int64(changes) <= tx.db.opts.memory(graphPart, workPart)
}

// mostHidden returns the number of edges that can be hidden without a second graph.
func (tx *Tx) mostHidden() int { return int(tx.db.opts.memory(workPart) / 2 / hiddenBytes) }

// withoutFew returns a read-only transaction without some of the edges, which should be few.
// Changed rows are copied if the graph is in memory, so that reading them costs nothing. It returns
// the error of ctx if that ends. The transaction must not use cached states, because these include
// the edges.
func (tx *Tx) withoutFew(ctx context.Context, pairs [][2]index.ID) (*Tx, error) {
	return tx.withoutEdges(ctx, tx.snap.Graph.Joining(pairs))
}

// withoutEdges is withoutFew for a list of edges.
func (tx *Tx) withoutEdges(ctx context.Context, edges []index.Edge) (*Tx, error) {
	if !tx.snap.Graph.Loaded() {
		return tx.hiding(ctx, edges)
	}
	e := tx.all().snap.Graph.Edit()
	for i, x := range edges {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x.Weight = 0
		e.Set(x)
	}
	return tx.onGraph(e.Graph(), edges...), nil
}

// onGraph returns a read-only transaction on another graph, of which it sees the same part. The
// graph lacks the given edges.
func (tx *Tx) onGraph(g *index.Graph, absent ...index.Edge) *Tx {
	view := *tx.all().snap.Snapshot
	view.Graph = g
	view.Meta.Relations = slices.Clone(view.Meta.Relations) // a part counts its edges by them
	for _, e := range absent {
		view.Meta.Relations[e.Relation].Edges--
	}
	on := &Tx{db: tx.db, ruled: new(ruled), snap: &snapshot{Snapshot: &view, models: tx.snap.models, ts: tx.snap.ts}, reader: tx.reader}
	if tx.whole != nil {
		on = on.part(tx.via)
		on.head = tx.head
	}
	return on
}

// all returns the transaction that sees all edges.
func (tx *Tx) all() *Tx { return cmp.Or(tx.whole, tx) }

// openReaders counts the open transactions by the timestamp they read at, so that the store keeps
// what they may read and Close can wait for them.
type openReaders struct {
	mu     sync.Mutex // protects following fields
	at     map[uint64]int
	closed bool
	idle   *sync.Cond // signals that no transaction is open
}

func newOpenReaders() *openReaders {
	r := &openReaders{at: map[uint64]int{}}
	r.idle = sync.NewCond(&r.mu)
	return r
}

// pin counts and returns the present snapshot. It returns ErrClosed if the database is closed.
func (r *openReaders) pin(now *atomic.Pointer[snapshot]) (*snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	s := now.Load()
	r.at[s.ts]++
	return s, nil
}

// unpin counts the end of a transaction. It calls ended after the last one at its timestamp, and
// before close returns.
func (r *openReaders) unpin(s *snapshot, ended func(at map[uint64]int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at[s.ts]--; r.at[s.ts] == 0 {
		delete(r.at, s.ts)
		ended(r.at)
	}
	if len(r.at) == 0 {
		r.idle.Broadcast()
	}
}

// call calls f with the number of transactions by timestamp, which does not change meanwhile.
func (r *openReaders) call(f func(at map[uint64]int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r.at)
}

// close refuses new transactions and waits for the open ones. It reports whether it was the first
// to do so.
func (r *openReaders) close() (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first, r.closed = !r.closed, true
	for first && len(r.at) > 0 {
		r.idle.Wait()
	}
	return first
}

// open returns the number of open transactions.
func (r *openReaders) open() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range r.at {
		n += of
	}
	return n
}
