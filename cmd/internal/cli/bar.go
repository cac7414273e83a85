package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// Bar shows the progress of some work. On a terminal it appears for work that takes longer than
// patience. Elsewhere it is lines of text, if these are wanted. It is safe for concurrent use.
type Bar struct {
	out   *os.File  // nil if the output is not a terminal
	lines io.Writer // nil: no lines
	began time.Time

	mu      sync.Mutex // protects following fields
	latest  State
	at      time.Time         // of latest
	timed   bool              // whether the bar that is drawn shows estimates of the time
	tracker *progress.Tracker // nil: no bar is drawn
	drawn   chan struct{}     // closed when the bar has been drawn for the last time
	wait    *time.Timer       // until the bar appears; nil if it has appeared, or nothing was shown
	over    bool
}

// State is how far some work has come.
type State struct {
	What        string
	Units       progress.Units // of Done and Total
	Done, Total int64          // Total is 0 if it is unknown
	// Timed says that Done and Total measure estimated time. The bar then shows Left, which counts
	// down until the next state, instead of amounts and a rate.
	Timed bool
	Left  time.Duration
}

const (
	patience  = 500 * time.Millisecond
	frequency = 100 * time.Millisecond // interval of redrawing, and precision of times
	lineEvery = time.Second            // least interval of lines
)

// ProgressFlag adds the flag --progress, whether a bar that is on no terminal is lines.
func ProgressFlag(f *pflag.FlagSet, lines *bool) {
	f.BoolVar(lines, "progress", false, "print lines of progress on standard error if it is no terminal")
}

// NewBar returns a bar that measures time from now. If w is no terminal, it is lines or nothing.
// Call End before anything else is written to the terminal.
func NewBar(w io.Writer, lines bool) *Bar {
	b := &Bar{began: time.Now()}
	if IsTerminal(w) {
		b.out = w.(*os.File)
	} else if lines {
		b.lines = w
	}
	return b
}

// Show sets the state of the work. The first state that comes early appears after patience, even if
// no other follows.
func (b *Bar) Show(s State) {
	if b.out == nil && b.lines == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lines != nil {
		b.printLine(s)
		return
	}
	b.latest, b.at = s, time.Now()
	switch early := patience - time.Since(b.began); {
	case b.over:
	case b.tracker == nil && early > 0:
		if b.wait == nil {
			b.wait = time.AfterFunc(early, b.appear)
		}
	default:
		b.draw()
	}
}

// printLine prints a state, unless the last line was printed just before. An error of the writer
// does not end the work. The caller holds the lock.
func (b *Bar) printLine(s State) {
	if time.Since(b.at) < lineEvery {
		return
	}
	b.at = time.Now()
	_, _ = io.WriteString(b.lines, s.line()+"\n")
}

// line returns the line of a state.
func (s State) line() string {
	switch {
	case s.Timed:
		return fmt.Sprintf("%d %%: %s", 100*s.Done/max(s.Total, 1), s.message(0))
	case s.Total == 0:
		return fmt.Sprintf("%s: %s", s.What, s.Units.Sprint(s.Done))
	}
	return fmt.Sprintf("%s: %s of %s", s.What, s.Units.Sprint(s.Done), s.Units.Sprint(s.Total))
}

// appear draws the bar if the work has not ended.
func (b *Bar) appear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over && b.tracker == nil {
		b.draw()
	}
}

// draw draws the latest state. The caller holds the lock.
func (b *Bar) draw() {
	s := b.latest
	if b.tracker != nil && b.timed != s.Timed {
		b.erase()
	}
	if b.tracker == nil {
		b.start(s)
	}
	b.tracker.UpdateMessage(s.message(time.Since(b.at)))
	b.tracker.UpdateTotal(s.Total)
	b.tracker.SetValue(s.Done)
}

// message returns the text of a state some time after Show.
func (s State) message(ago time.Duration) string {
	if !s.Timed {
		return s.What
	}
	return fmt.Sprintf("%s, about %v left", s.What, max(s.Left-ago, time.Second).Round(time.Second))
}

func (b *Bar) start(s State) {
	b.timed = s.Timed
	b.tracker = &progress.Tracker{AutoStopDisabled: true, DeferStart: true, Units: s.Units}
	b.tracker.Start()
	w := progress.Progress{}
	w.SetOutputWriter(b.out)
	if width, _, err := term.GetSize(int(b.out.Fd())); err == nil {
		w.SetTerminalWidth(width)
	}
	w.SetUpdateFrequency(frequency)
	w.SetAutoStop(true)
	w.SetStyle(barStyle(s.Timed))
	w.AppendTracker(b.tracker)
	drawn := make(chan struct{})
	b.drawn = drawn
	go func() {
		defer close(drawn)
		w.Render() // until the tracker is done
	}()
	if s.Timed {
		go b.countDown(b.tracker, drawn)
	}
}

// countDown changes the time that is left every second, until a tracker is done.
func (b *Bar) countDown(t *progress.Tracker, drawn <-chan struct{}) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		select {
		case <-drawn:
			return
		case <-ticks.C:
		}
		b.mu.Lock()
		if b.tracker == t {
			t.UpdateMessage(b.latest.message(time.Since(b.at)))
		}
		b.mu.Unlock()
	}
}

func barStyle(timed bool) progress.Style {
	style := progress.StyleDefault
	style.Visibility.ETA, style.Visibility.Speed, style.Visibility.Value = !timed, !timed, !timed
	style.Options.PercentFormat = "%3.0f%%"
	style.Options.Separator = " "
	style.Options.ETAString = "left"
	style.Options.SpeedPrecision, style.Options.TimeInProgressPrecision = frequency, frequency
	return style
}

// End removes the bar.
func (b *Bar) End() {
	if b.out == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if b.wait != nil {
		b.wait.Stop()
	}
	b.erase()
}

// erase removes the bar that is drawn, if there is one. The caller holds the lock.
func (b *Bar) erase() {
	if b.tracker == nil {
		return
	}
	b.tracker.MarkAsDone()
	<-b.drawn
	b.tracker = nil
	// An error means that the terminal is gone.
	_, _ = io.WriteString(b.out, text.CursorUp.Sprint()+text.EraseLine.Sprint())
}
