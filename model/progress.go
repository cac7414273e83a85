package model

import (
	"sync"
	"time"
)

// Progress is how far a computation has come.
type Progress struct {
	Doing string        // what it does at present
	Done  float64       // share of its time, from 0 to 1; it never falls
	Left  time.Duration // estimated time until its end
}

// Phase is a part of a computation. Phases may take turns.
type Phase struct {
	Name  string
	Steps int
	Each  time.Duration // expected time of a step
	Work  string        // kind of work; if one phase is slower than expected, phases of the same kind will be too
}

// Meter tells a function how far a long computation has come, and about how long it still takes. A
// computation is a list of phases, each of a number of steps. The expected time of a step is only a
// guess: the times of finished steps correct the estimates of the steps to come, most of all in the
// same phase, then in phases with the same kind of work, and a little in all others. A nil Meter
// does nothing. A Meter is safe for concurrent use.
type Meter struct {
	now  func() time.Time
	tell func(Progress) // may be nil

	mu      sync.Mutex // protects following fields, and is held during tell
	phases  []meterPhase
	current int       // index of the present phase
	began   time.Time // time of the first call
	at      time.Time // time of the latest step or beginning of a phase
	end     time.Time // when the computation should end; zero: at no certain time
	told    Progress
}

type meterPhase struct {
	Phase
	done    int
	spent   time.Duration
	allowed time.Duration // time that the phase may take; 0 until it begins, or without a limit
}

// NewMeter returns a meter. It calls tell, unless it is nil, when a phase begins, and whenever a
// thousandth of the estimated time has passed.
func NewMeter(now func() time.Time, tell func(Progress)) *Meter { return &Meter{now: now, tell: tell} }

// Expect sets the phases.
func (m *Meter) Expect(phases ...Phase) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phases = m.phases[:0]
	for _, p := range phases {
		p.Steps = max(p.Steps, 0)
		m.phases = append(m.phases, meterPhase{Phase: p})
	}
	m.current = -1
}

// Limit says that the computation should end after a time from now. Each phase may take a part of
// it, in proportion to its expected time among the phases that are left.
func (m *Meter) Limit(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.end = m.now().Add(d)
}

// Spent returns the share of the time of the present phase that has passed. A phase should end when
// it is 1 or more. Without a limit it is 0.
func (m *Meter) Spent() float64 {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.phase()
	if p == nil || p.allowed == 0 {
		return 0
	}
	return float64(p.spent+m.now().Sub(m.at)) / float64(p.allowed)
}

// Fits reports whether the steps that are left of the present phase fit into its time.
func (m *Meter) Fits() bool {
	if m == nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.phase()
	return p == nil || p.allowed == 0 || p.spent+time.Duration(p.Steps-p.done)*p.Each <= p.allowed
}

// phase returns the present phase, or nil if it is not expected. The caller holds the lock.
func (m *Meter) phase() *meterPhase {
	if m.current < 0 || m.current >= len(m.phases) {
		return nil
	}
	return &m.phases[m.current]
}

// allow sets the time of the present phase, which begins for the first time. The caller holds the
// lock.
func (m *Meter) allow() {
	p := m.phase()
	if p == nil || m.end.IsZero() || p.allowed > 0 {
		return
	}
	own, all := p.expected(), 0.0
	for i := range m.phases {
		if q := &m.phases[i]; i >= m.current || q.allowed > 0 {
			all += q.expected()
		}
	}
	p.allowed = max(1, time.Duration(float64(m.end.Sub(m.at))*own/max(all, 1)))
}

// expected returns the expected time of the steps that are left, in nanoseconds.
func (p *meterPhase) expected() float64 { return float64(p.Each) * float64(p.Steps-p.done) }

// Begin says that the steps of a phase follow. A phase that is not expected takes no time in the
// estimates.
func (m *Meter) Begin(name string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pass(0)
	m.current = -1
	for i := range m.phases {
		if m.phases[i].Name == name {
			m.current = i
		}
	}
	m.allow()
	m.report(name)
}

// Step says that steps of the present phase are finished.
func (m *Meter) Step(n int) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pass(n)
	m.report(m.told.Doing)
}

// Finish says that a phase has no more steps, also if fewer than expected were finished.
func (m *Meter) Finish(name string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pass(0)
	for i := range m.phases {
		if p := &m.phases[i]; p.Name == name {
			p.Steps = p.done
		}
	}
	m.report(m.told.Doing)
}

// End says that the computation is finished.
func (m *Meter) End() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phases = nil
	m.say(Progress{Doing: m.told.Doing, Done: 1})
}

// say tells a state. The caller holds the lock.
func (m *Meter) say(s Progress) {
	if m.told = s; m.tell != nil {
		m.tell(s)
	}
}

// pass adds the time since the latest call, and steps, to the present phase.
func (m *Meter) pass(steps int) {
	now := m.now()
	if m.began.IsZero() {
		m.began, m.at = now, now
	}
	if p := m.phase(); p != nil {
		p.spent += now.Sub(m.at)
		p.done = min(p.done+steps, p.Steps)
	}
	m.at = now
}

// report tells the state, if it has changed visibly.
func (m *Meter) report(doing string) {
	passed := float64(m.at.Sub(m.began))
	left := m.left()
	s := Progress{Doing: doing, Done: m.told.Done, Left: time.Duration(min(left, float64(longest)))}
	if passed > 0 {
		s.Done = max(s.Done, min(passed/(passed+left), 0.999))
	}
	if doing != m.told.Doing || s.Done-m.told.Done >= 0.001 {
		m.say(s)
	}
}

// longest is the longest time of Progress.Left.
const longest = 10000 * time.Hour

// Weights of the guesses, as shares of the expected time of the whole computation and of the steps
// of a phase.
const (
	guessShare = 0.01
	stepShare  = 0.02
)

// left returns the estimated time until the end, in nanoseconds.
func (m *Meter) left() (left float64) {
	guess := 0.0
	for i := range m.phases {
		guess += guessShare * float64(m.phases[i].Each) * float64(m.phases[i].Steps)
	}
	all := m.slowness(func(*meterPhase) bool { return true }, 1, guess)
	for i := range m.phases {
		p := &m.phases[i]
		slowness := m.slowness(func(q *meterPhase) bool { return q.Work == p.Work }, all, guess)
		weight := max(1, stepShare*float64(p.Steps))
		each := (float64(p.spent) + weight*slowness*float64(p.Each)) / (float64(p.done) + weight)
		left += each * float64(p.Steps-p.done)
	}
	return left
}

// slowness returns how much longer the finished steps of some phases took than expected. The guess
// counts as much as steps that were expected to take the time weight.
func (m *Meter) slowness(of func(*meterPhase) bool, guess, weight float64) float64 {
	spent, expected := guess*weight, weight
	for i := range m.phases {
		if p := &m.phases[i]; of(p) {
			spent += float64(p.spent)
			expected += float64(p.Each) * float64(p.done)
		}
	}
	if expected == 0 {
		return 1
	}
	return spent / expected
}
