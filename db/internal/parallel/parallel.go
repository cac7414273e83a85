// Package parallel answers questions on all processors, in their order and within a given memory.
package parallel

import (
	"context"
	"iter"
	"runtime"
	"sync"
)

// turnsWaiting limits how many questions are read before the answer to the first of them is
// yielded.
const turnsWaiting = 256

// Prepare prepares a question. It returns the memory that the answer takes, in bytes, and a
// function that computes the answer.
type Prepare[Q, A any] func(ctx context.Context, question Q) (bytes int64, answer func() (A, error), err error)

// Answers yields the answers to questions, in their order, and ends with the first error or the
// error of ctx. Answers that are being computed or wait to be yielded take at most the given memory
// together; an answer that needs more is computed alone. The questions are read in another
// goroutine, and prepare is called in several. All goroutines have ended when the iteration ends.
func Answers[Q, A any](ctx context.Context, questions iter.Seq[Q], memory int64, prepare Prepare[Q, A]) iter.Seq2[A, error] {
	return func(yield func(A, error) bool) {
		b := &batch[Q, A]{prepare: prepare, order: make(chan *turn[Q, A], turnsWaiting), todo: make(chan *turn[Q, A], turnsWaiting)}
		b.memory.free = sync.NewCond(&b.memory.mu)
		b.memory.bytes = memory
		b.run(ctx, questions, yield)
	}
}

// batch is the state of an iteration.
type batch[Q, A any] struct {
	prepare Prepare[Q, A]
	order   chan *turn[Q, A] // the questions in their order
	todo    chan *turn[Q, A] // the same questions, for the goroutines that answer
	memory  allowance
	all     sync.WaitGroup
}

// turn is one question of a batch.
type turn[Q, A any] struct {
	number   int64
	question Q
	bytes    int64 // memory that the answer takes
	answer   A
	err      error
	done     chan struct{} // closed when answer and err are set
}

// run answers the questions and yields the answers. All its goroutines have ended when it returns.
func (b *batch[Q, A]) run(ctx context.Context, questions iter.Seq[Q], yield func(A, error) bool) {
	var none A
	inner, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(inner, b.memory.close)
	defer b.all.Wait()
	defer b.memory.close()
	defer stop()
	defer cancel()
	b.start(inner, questions)
	for t := range b.order {
		select {
		case <-t.done:
		case <-ctx.Done():
			yield(none, ctx.Err())
			return
		}
		if !yield(t.answer, t.err) || t.err != nil {
			return
		}
		b.memory.next(t.bytes)
	}
	if err := ctx.Err(); err != nil {
		yield(none, err)
	}
}

// start starts the goroutines, which end when all questions are answered or ctx ends.
func (b *batch[Q, A]) start(ctx context.Context, questions iter.Seq[Q]) {
	b.all.Go(func() {
		defer close(b.order)
		defer close(b.todo)
		number := int64(0)
		for q := range questions {
			t := &turn[Q, A]{number: number, question: q, done: make(chan struct{})}
			for _, c := range []chan *turn[Q, A]{b.order, b.todo} {
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
func (b *batch[Q, A]) answer(ctx context.Context, t *turn[Q, A]) (none A, err error) {
	if err := ctx.Err(); err != nil {
		return none, err
	}
	bytes, answer, err := b.prepare(ctx, t.question)
	if err != nil {
		return none, err
	}
	t.bytes = bytes
	b.memory.take(t.number, bytes)
	return answer()
}

// allowance is the memory that the answers of a batch share.
type allowance struct {
	mu     sync.Mutex
	free   *sync.Cond // of mu; signals that memory is free or the batch has ended
	bytes  int64      // memory that is free; negative if one answer takes more than there is
	now    int64      // number of the next answer to be yielded
	closed bool
}

// take waits until enough memory is free, or until the answer with the given number is the next to
// be yielded.
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
