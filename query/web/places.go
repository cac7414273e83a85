package web

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync"
)

// clientOf returns what distinguishes the client of a request from others: its address, or the
// network of an IPv6 address, because one machine has all addresses of it.
func clientOf(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "local" // a socket that is a file
	}
	const network = 64
	addr := at.Addr().Unmap()
	if p, err := addr.Prefix(network); addr.Is6() && err == nil {
		return p.String()
	}
	return addr.String()
}

// places are a number of places that requests occupy at the same time, such as those whose body
// arrives.
type places struct {
	most int
	what string // what requests do there, for errors

	mu    sync.Mutex // protects following fields
	taken []*place   // the earliest first
}

// place is the place of a request.
type place struct {
	in     *places
	client string
	end    func() // makes the request end; called once at most, with mu held
	ended  bool   // guarded by in.mu
}

func newPlaces(most int, what string) *places { return &places{most: most, what: what} }

// take takes a place. If all are taken, the client that has most of them gives way with its
// earliest place, whose request ends. A client that would itself have most replaces its own
// earliest place, or is refused.
func (s *places) take(client string, replaces bool, end func()) (*place, error) {
	p := &place{in: s, client: client, end: end}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.taken) >= s.most {
		gives := s.victim(client, replaces)
		if gives == nil {
			return nil, s.busy()
		}
		s.remove(gives)
		gives.ended = true
		gives.end()
	}
	s.taken = append(s.taken, p)
	return p, nil
}

// busy returns the error of a request without a place.
func (s *places) busy() error { return fmt.Errorf("%d clients %s: %w", s.most, s.what, errBusy) }

// victim returns the place that gives way to a new one of a client, or nil. The caller holds mu.
func (s *places) victim(client string, replaces bool) *place {
	count, largest := map[string]int{client: 1}, client
	for _, p := range s.taken {
		if count[p.client]++; count[p.client] > count[largest] {
			largest = p.client
		}
	}
	switch {
	case count[largest] > count[client]:
		return s.earliest(largest)
	case !replaces || len(s.taken) == 0:
		return nil
	case count[client] > 1:
		return s.earliest(client)
	}
	return s.taken[0]
}

// earliest returns the earliest place of a client that has one. The caller holds mu.
func (s *places) earliest(client string) *place {
	return s.taken[slices.IndexFunc(s.taken, func(p *place) bool { return p.client == client })]
}

// remove removes a place. The caller holds mu.
func (s *places) remove(p *place) {
	s.taken = slices.DeleteFunc(s.taken, func(q *place) bool { return q == p })
}

// leave gives a place back. It returns errBusy if the place was needed for another client.
func (p *place) leave() error {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	if p.ended {
		return p.in.busy()
	}
	p.in.remove(p)
	return nil
}
