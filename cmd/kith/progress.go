package main

import (
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// bar shows how far some work has come, with its rate and the remaining time: on a terminal only,
// and only for work that takes longer than patience. One goroutine at a time uses it.
type bar struct {
	out     *os.File // nil: no terminal
	began   time.Time
	tracker *progress.Tracker // nil: not shown yet
	ended   chan struct{}     // closed when the line is gone
}

const (
	patience  = 500 * time.Millisecond
	frequency = 100 * time.Millisecond // of its redrawing
)

// newBar begins to measure. The bar must be ended before anything else is written to the terminal.
func newBar(w io.Writer) *bar {
	b := &bar{began: time.Now()}
	if isTerminal(w) {
		b.out = w.(*os.File)
	}
	return b
}

// show says that so much of total is done; total is 0 where the end is not known.
func (b *bar) show(what string, units progress.Units, done, total int64) {
	if b.out == nil || b.tracker == nil && time.Since(b.began) < patience {
		return
	}
	if b.tracker == nil {
		b.start(what, units)
	}
	b.tracker.UpdateMessage(what)
	b.tracker.UpdateTotal(total)
	b.tracker.SetValue(done)
}

func (b *bar) start(what string, units progress.Units) {
	b.tracker = &progress.Tracker{Message: what, Units: units, AutoStopDisabled: true}
	w := progress.Progress{}
	w.SetOutputWriter(b.out)
	if width, _, err := term.GetSize(int(b.out.Fd())); err == nil {
		w.SetTerminalWidth(width)
	}
	w.SetUpdateFrequency(frequency)
	w.SetAutoStop(true)
	style := progress.StyleDefault
	style.Visibility.ETA, style.Visibility.Speed = true, true
	style.Options.PercentFormat = "%3.0f%%"
	style.Options.SpeedPrecision, style.Options.TimeInProgressPrecision = time.Second, time.Second
	style.Options.Separator = " "
	w.SetStyle(style)
	w.AppendTracker(b.tracker)
	b.ended = make(chan struct{})
	go func() {
		defer close(b.ended)
		w.Render() // until the tracker is done
	}()
}

// end takes the bar away.
func (b *bar) end() {
	if b.tracker == nil {
		return
	}
	b.tracker.MarkAsDone()
	<-b.ended
	_, _ = io.WriteString(b.out, text.CursorUp.Sprint()+text.EraseLine.Sprint()) // a terminal that is gone needs no cleaning
	b.tracker = nil
}
