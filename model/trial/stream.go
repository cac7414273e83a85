package trial

import (
	"fmt"
	"math/rand/v2"
)

// Protocol says how rounds are drawn.
type Protocol struct {
	Name       string
	Candidates int  // of a round
	Positives  int  // true neighbours among them, at most
	Fresh      bool // links that the player has won before are left out of its candidates
}

// Paper is the protocol of the PRB paper, section 5.1: 100 candidates, up to 10 of them true neighbours.
func Paper() Protocol { return Protocol{Name: "paper", Candidates: 100, Positives: 10} }

// Fresh is Paper without the pairs that a player has won already: remembering them earns nothing.
func Fresh() Protocol { return Protocol{Name: "fresh", Candidates: 100, Positives: 10, Fresh: true} }

// ProtocolOf returns the protocol of that name.
func ProtocolOf(name string) (Protocol, error) {
	for _, p := range []Protocol{Paper(), Fresh()} {
		if p.Name == name {
			return p, nil
		}
	}
	return Protocol{}, fmt.Errorf("trial: unknown protocol %q (accepted: paper, fresh)", name)
}

// round is one question: which of these pairs is a link?
type round []Pair

// stream draws the rounds of one seed. They depend on nothing but data, protocol and seed, so that all players of a
// seed see the same.
type stream struct {
	data     *Data
	protocol Protocol
	rng      *rand.Rand
}

func newStream(d *Data, p Protocol, seed uint64) *stream {
	return &stream{data: d, protocol: p, rng: rand.New(rand.NewPCG(seed, 2))}
}

// next draws a serving node, its positives, and random non-neighbours up to the number of candidates.
func (s *stream) next() round {
	source := s.data.Served[s.rng.IntN(len(s.data.Served))]
	var r round
	links := s.data.Links[source]
	for _, i := range s.rng.Perm(len(links))[:min(s.protocol.Positives, len(links))] {
		r = append(r, Pair{Source: source, Target: links[i]})
	}
	taken := map[ID]bool{source: true}
	for tries := 100 * s.protocol.Candidates; tries > 0 && len(r) < s.protocol.Candidates; tries-- {
		c := s.offer()
		if !taken[c] && !s.data.Linked(source, c) {
			taken[c] = true
			r = append(r, Pair{Source: source, Target: c})
		}
	}
	s.rng.Shuffle(len(r), func(i, j int) { r[i], r[j] = r[j], r[i] })
	return r
}

// offer draws a node that may be a candidate.
func (s *stream) offer() ID {
	if s.data.Offered != nil {
		return s.data.Offered[s.rng.IntN(len(s.data.Offered))]
	}
	return ID(s.rng.IntN(s.data.Nodes))
}
