package trial

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// pool plays several runs concurrently.
type pool struct {
	trial  *Trial
	runs   []Run
	curves []Curve // of each run
	errs   []error // of each run

	mu   sync.Mutex // guards done and serialises the calls of Progress and Finished
	done int        // number of rounds played
}

func newPool(t *Trial, runs []Run) *pool {
	return &pool{trial: t, runs: runs, curves: make([]Curve, len(runs)), errs: make([]error, len(runs))}
}

// play plays all runs. It returns after the last one has ended.
func (p *pool) play(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	next := make(chan int)
	var workers sync.WaitGroup
	for range max(1, min(p.trial.Workers, runtime.GOMAXPROCS(0), len(p.runs))) {
		workers.Go(func() {
			for i := range next {
				if p.one(ctx, i); p.errs[i] != nil {
					stop()
				}
			}
		})
	}
	for i := range p.runs {
		next <- i
	}
	close(next)
	workers.Wait()
	return p.cause()
}

// one plays the i-th run.
func (p *pool) one(ctx context.Context, i int) {
	t, r := p.trial, p.runs[i]
	if p.errs[i] = ctx.Err(); p.errs[i] != nil {
		return
	}
	c, err := t.run(ctx, r, p.progress)
	if err != nil {
		p.errs[i] = fmt.Errorf("trial: %s, seed %d: %w", r.Entrant.Name, r.Seed, err)
		return
	}
	p.curves[i] = c
	if t.Finished != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		t.Finished(c)
	}
}

// progress counts a round.
func (p *pool) progress() {
	if p.trial.Progress == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.trial.Progress(p.done, p.trial.Rounds*len(p.runs))
}

// cause returns the error that ended the runs: the first one that is not a consequence of the cancellation, if there is
// one.
func (p *pool) cause() (cause error) {
	for _, err := range p.errs {
		if err != nil && (cause == nil || errors.Is(cause, context.Canceled) && !errors.Is(err, context.Canceled)) {
			cause = err
		}
	}
	return cause
}
