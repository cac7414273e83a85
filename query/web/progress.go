package web

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"kith/query"
)

// progressEvery is the least time between two lines of progress, and before the first.
const progressEvery = 250 * time.Millisecond

// progressState is a [query.Progress] on a line.
type progressState struct {
	What  string  `json:"what"`
	Done  int64   `json:"done"`
	Total int64   `json:"total"`
	Timed bool    `json:"timed,omitempty"`
	Left  float64 `json:"left,omitempty"` // in seconds
}

// progress returns the state as the session of the statement told it.
func (s *progressState) progress() query.Progress {
	return query.Progress{What: s.What, Done: s.Done, Total: s.Total, Timed: s.Timed, Left: time.Duration(s.Left * float64(time.Second))}
}

// teller writes lines of progress before an answer. With the first line, the status of the answer
// is 200, and the line of an error follows if the statement fails.
type teller struct {
	w     http.ResponseWriter
	every time.Duration // least time between lines
	limit time.Duration // for writing a line

	mu    sync.Mutex // protects following fields
	at    time.Time  // of the latest line, or of the beginning
	began bool       // whether a line was written
	over  bool       // whether the statement has ended or the client has gone
}

// end ends the lines, and reports whether there were any.
func (t *teller) end() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	return t.began
}

// tell writes a line, unless one was written a moment ago.
func (t *teller) tell(p query.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || time.Since(t.at) < t.every {
		return
	}
	t.at, t.began = time.Now(), true
	t.w.Header().Set("Content-Type", lines)
	control := http.NewResponseController(t.w)
	err := deadline(control.SetWriteDeadline, time.Now().Add(t.limit))
	if err == nil {
		err = json.NewEncoder(t.w).Encode(progressLine{progressState{p.What, p.Done, p.Total, p.Timed, p.Left.Seconds()}})
	}
	if err == nil {
		err = control.Flush()
	}
	t.over = err != nil
}
