package serve

import (
	"net"
	"net/http"
	"sync"
)

// connections bounds the number of connections of a server. Beyond it, a new one replaces the one that has been without
// a request for longest, so that clients that send nothing, or send their headers slowly, do not shut out others.
type connections struct {
	most int // maximum number of connections

	mu      sync.Mutex          // protects following fields
	open    map[net.Conn]uint64 // moment since which a connection has had no request; 0 means that it has one
	moments uint64              // number of moments so far
}

func newConnections(most int) *connections {
	return &connections{most: most, open: map[net.Conn]uint64{}}
}

// note is the ConnState of an http.Server, which calls it with StateNew before it reads from a connection.
func (s *connections) note(c net.Conn, state http.ConnState) {
	if excess := s.record(c, state); excess != nil {
		excess.Close() // the server notices
	}
}

// record records the state of a connection. It returns a connection to close, or nil.
func (s *connections) record(c net.Conn, state http.ConnState) net.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(s.open, c)
	case http.StateActive:
		s.open[c] = 0
	case http.StateNew, http.StateIdle:
		s.moments++
		s.open[c] = s.moments
	}
	if len(s.open) <= s.most {
		return nil
	}
	longest := c
	for other, since := range s.open {
		if since != 0 && since < s.open[longest] {
			longest = other
		}
	}
	delete(s.open, longest)
	return longest
}
