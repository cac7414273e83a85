package cli

import (
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Bar shows the progress of some work, with its rate and the remaining time. It appears only on a terminal, and only
// for work that takes longer than patience. It is not safe for concurrent use.
type Bar struct {
	out     *os.File // nil if the output is not a terminal
	began   time.Time
	tracker *progress.Tracker
	ended   chan struct{} // closed when the bar has been drawn for the last time; nil if it has not been drawn
}

const (
	patience  = 500 * time.Millisecond
	frequency = 100 * time.Millisecond // interval of redrawing, and precision of times
)

// NewBar returns a bar that measures time from now. Call End before anything else is written to the terminal.
func NewBar(w io.Writer) *Bar {
	if !IsTerminal(w) {
		return &Bar{}
	}
	b := &Bar{
		out: w.(*os.File), began: time.Now(),
		tracker: &progress.Tracker{AutoStopDisabled: true, DeferStart: true},
	}
	b.tracker.Start() // measures from now, not from when the bar appears
	return b
}

// Show sets the work done out of total; total is 0 if it is unknown.
func (b *Bar) Show(what string, units progress.Units, done, total int64) {
	if b.out == nil {
		return
	}
	if b.ended == nil {
		if time.Since(b.began) < patience {
			return
		}
		b.tracker.Units = units
		b.start()
	}
	b.tracker.UpdateMessage(what)
	b.tracker.UpdateTotal(total)
	b.tracker.SetValue(done)
}

func (b *Bar) start() {
	w := progress.Progress{}
	w.SetOutputWriter(b.out)
	if width, _, err := term.GetSize(int(b.out.Fd())); err == nil {
		w.SetTerminalWidth(width)
	}
	w.SetUpdateFrequency(frequency)
	w.SetAutoStop(true)
	w.SetStyle(barStyle())
	w.AppendTracker(b.tracker)
	b.ended = make(chan struct{})
	go func() {
		defer close(b.ended)
		w.Render() // until the tracker is done
	}()
}

func barStyle() progress.Style {
	style := progress.StyleDefault
	style.Visibility.ETA, style.Visibility.Speed = true, true
	style.Options.PercentFormat = "%3.0f%%"
	style.Options.Separator = " "
	style.Options.ETAString = "left"
	style.Options.SpeedPrecision, style.Options.TimeInProgressPrecision = frequency, frequency
	return style
}

// End removes the bar.
func (b *Bar) End() {
	if b.ended == nil {
		return
	}
	b.tracker.MarkAsDone()
	<-b.ended
	b.ended = nil
	_, _ = io.WriteString(b.out, text.CursorUp.Sprint()+text.EraseLine.Sprint()) // an error means that the terminal is gone
}
