package trial

import "math/rand/v2"

// arm is a candidate and its reward.
type arm struct {
	Pair
	reward int
}

// round is a question: which pair is a link?
type round []arm

// stream draws the rounds of a seed. They depend only on data, protocol and seed, so that all
// players of a seed get the same rounds.
type stream struct {
	data     *Data
	protocol Protocol
	rng      *rand.Rand
}

func newStream(d *Data, p Protocol, seed uint64) *stream {
	return &stream{data: d, protocol: p, rng: rand.New(rand.NewPCG(seed, 2))}
}

// next draws a round.
func (s *stream) next() round {
	r := make(round, 0, s.protocol.Candidates)
	if s.protocol.Listed {
		r = s.rows(r, s.data.Positives, s.protocol.Positives, 1)
		r = s.rows(r, s.data.Negatives, s.protocol.Candidates-s.protocol.Positives, 0)
	} else {
		r = s.candidates(r)
	}
	s.rng.Shuffle(len(r), func(i, j int) { r[i], r[j] = r[j], r[i] })
	return r
}

// rows draws n different rows of a list, which must have at least n rows.
func (s *stream) rows(r round, list []Pair, n, reward int) round {
	taken := make(map[int]bool, n)
	for len(taken) < n {
		if i := s.rng.IntN(len(list)); !taken[i] {
			taken[i] = true
			r = append(r, arm{list[i], reward})
		}
	}
	return r
}

// candidates draws a serving node, its positives, and random non-neighbours up to the number of
// candidates.
func (s *stream) candidates(r round) round {
	source := s.data.Served[s.rng.IntN(len(s.data.Served))]
	links := s.data.Links[source]
	for _, i := range s.rng.Perm(len(links))[:min(s.protocol.Positives, len(links))] {
		r = append(r, arm{Pair{Source: source, Target: links[i]}, 1})
	}
	taken := map[ID]bool{source: true}
	for tries := 100 * s.protocol.Candidates; tries > 0 && len(r) < s.protocol.Candidates; tries-- {
		c := s.offer()
		if !taken[c] && !s.data.Linked(source, c) {
			taken[c] = true
			r = append(r, arm{Pair{Source: source, Target: c}, 0})
		}
	}
	return r
}

// offer draws a node that can be a candidate.
func (s *stream) offer() ID {
	if s.data.Offered != nil {
		return s.data.Offered[s.rng.IntN(len(s.data.Offered))]
	}
	return ID(s.rng.IntN(s.data.Nodes))
}

// without returns the arms that are not yet linked in known.
func (r round) without(known *Graph) (fresh round) {
	for _, a := range r {
		if !known.Has(a.Source, a.Target) {
			fresh = append(fresh, a)
		}
	}
	return fresh
}

// pairs returns the pairs of the arms.
func (r round) pairs() []Pair {
	pairs := make([]Pair, len(r))
	for i, a := range r {
		pairs[i] = a.Pair
	}
	return pairs
}

// best returns the first arm with the best reward, and that reward.
func (r round) best() (link Pair, reward int) {
	for _, a := range r {
		if a.reward > reward {
			link, reward = a.Pair, a.reward
		}
	}
	return link, reward
}
