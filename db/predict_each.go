package db

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"time"
)

// Keys yields the keys of the nodes with a label, or of all nodes if label is "", in the order in which the nodes were
// added. It leaves out the first skip of them. It returns ErrNotFound for a missing label.
func (tx *Tx) Keys(label string, skip int64) (iter.Seq[Key], error) {
	v := tx.view()
	ids := v.Nodes()
	if label != "" {
		l, ok := v.Meta.LabelNumber(label)
		if !ok {
			return nil, noLabel(label, v)
		}
		ids = v.Labelled(l)
	}
	return func(yield func(Key) bool) {
		left := skip
		for id := range ids {
			if left--; left < 0 && !yield(tx.key(id)) {
				return
			}
		}
	}, nil
}

// PredictEach answers questions on all processors and yields the answers in the order of the questions. Each answer is
// that of [Tx.Predict] with NoCache, bit for bit, whatever the number of processors. The iteration ends with the error of the
// first question that has one, or with that of ctx.
//
// Answers that are being computed or wait to be yielded take at most a quarter of Options.Memory together; an answer that
// needs more is computed alone. The transaction must not write while PredictEach runs. The questions are read in another
// goroutine.
func (tx *Tx) PredictEach(ctx context.Context, questions iter.Seq[Prediction]) iter.Seq2[*Ranking, error] {
	questions = withNow(questions, tx.db.opts.Now())
	if tx.batch != nil { // what a transaction has changed is read by one goroutine
		return func(yield func(*Ranking, error) bool) {
			for p := range questions {
				if r, err := tx.Predict(ctx, p); !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
	return func(yield func(*Ranking, error) bool) {
		b := &batch{tx: tx, order: make(chan *turn, turnsWaiting), todo: make(chan *turn, turnsWaiting)}
		b.within.free = sync.NewCond(&b.within.mu)
		b.within.bytes = tx.db.opts.memory(workPart)
		b.run(ctx, questions, yield)
	}
}

// withNow gives questions the present time and keeps them from using the cache, so that all answers are of one time.
func withNow(questions iter.Seq[Prediction], now time.Time) iter.Seq[Prediction] {
	return func(yield func(Prediction) bool) {
		for p := range questions {
			if p.NoCache = true; p.Now.IsZero() {
				p.Now = now
			}
			if !yield(p) {
				return
			}
		}
	}
}

// turnsWaiting limits how many questions are read before the answer to the first of them is yielded.
const turnsWaiting = 256

// batch is the state of a PredictEach.
type batch struct {
	tx     *Tx
	order  chan *turn // the questions in their order
	todo   chan *turn // the same questions, for the goroutines that answer
	within allowance
	all    sync.WaitGroup
}

// turn is one question of a batch.
type turn struct {
	number   int64
	question Prediction
	bytes    int64 // memory that the answer takes
	answer   *Ranking
	err      error
	done     chan struct{} // closed when answer and err are set
}

// run answers the questions and yields the answers. All its goroutines have ended when it returns.
func (b *batch) run(ctx context.Context, questions iter.Seq[Prediction], yield func(*Ranking, error) bool) {
	within, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(within, b.within.close)
	defer b.all.Wait()
	defer b.within.close()
	defer stop()
	defer cancel()
	b.start(within, questions)
	for t := range b.order {
		select {
		case <-t.done:
		case <-ctx.Done():
			yield(nil, ctx.Err())
			return
		}
		if !yield(t.answer, t.err) || t.err != nil {
			return
		}
		b.within.next(t.bytes)
	}
	if err := ctx.Err(); err != nil {
		yield(nil, err)
	}
}

// start starts the goroutines, which end when all questions are answered or ctx ends.
func (b *batch) start(ctx context.Context, questions iter.Seq[Prediction]) {
	b.all.Go(func() {
		defer close(b.order)
		defer close(b.todo)
		number := int64(0)
		for p := range questions {
			t := &turn{number: number, question: p, done: make(chan struct{})}
			for _, c := range []chan *turn{b.order, b.todo} {
				select {
				case c <- t:
				case <-ctx.Done():
					return
				}
			}
			number++
		}
	})
	for range runtime.GOMAXPROCS(0) {
		b.all.Go(func() {
			for t := range b.todo {
				t.answer, t.err = b.answer(ctx, t)
				close(t.done)
			}
		})
	}
}

// answer answers a question when memory is free for it.
func (b *batch) answer(ctx context.Context, t *turn) (*Ranking, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q, err := b.tx.prepare(ctx, t.question)
	if err != nil {
		return nil, err
	}
	t.bytes = answerBytes(&t.question, len(q.candidates))
	b.within.take(t.number, t.bytes)
	scores, err := q.score(ctx, b.tx)
	if err != nil {
		return nil, err
	}
	return q.rank(b.tx, &t.question, scores), nil
}

// allowance is the memory that the answers of a batch share.
type allowance struct {
	mu     sync.Mutex
	free   *sync.Cond // of mu; signals that memory is free or the batch has ended
	bytes  int64      // memory that is free; negative if one answer takes more than there is
	now    int64      // number of the next answer to be yielded
	closed bool
}

// take waits until enough memory is free, or until the answer with the given number is the next to be yielded.
func (a *allowance) take(number, bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for bytes > a.bytes && number != a.now && !a.closed {
		a.free.Wait()
	}
	a.bytes -= bytes
}

// next frees the memory of the answer that was yielded, and makes the one after it the next.
func (a *allowance) next(bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bytes += bytes
	a.now++
	a.free.Broadcast()
}

// close ends all waiting.
func (a *allowance) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.free.Broadcast()
}
