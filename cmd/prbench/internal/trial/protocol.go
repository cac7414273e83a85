package trial

import (
	"fmt"
	"strings"
)

// Protocol defines how rounds are drawn.
type Protocol struct {
	Name       string
	Candidates int  // number of candidates of a round
	Positives  int  // maximum number of links among them
	Fresh      bool // links that the player knows are left out of its candidates
	Listed     bool // candidates are rows of the data's lists, each with its own source
	Reveal     bool // a player that did not choose a link is shown one
}

// Paper is the protocol of the PRB paper, section 5.1: 100 candidates, up to 10 of them true
// neighbours.
func Paper() Protocol { return Protocol{Name: "paper", Candidates: 100, Positives: 10} }

// Fresh is Paper without the pairs that a player already knows: remembering links earns nothing.
func Fresh() Protocol { return Protocol{Name: "fresh", Candidates: 100, Positives: 10, Fresh: true} }

// Released is the protocol of the PRB authors' program: ten unrelated pairs, one of them a link.
func Released() Protocol {
	return Protocol{Name: "released", Candidates: 10, Positives: 1, Listed: true}
}

// Classify is the node classification of the PRB paper, section 4, on data made by [Classes]. The
// candidates are all classes. In the text of the paper, a player that missed the true class is
// shown it; in its listing (PRB-N) it is not.
func Classify(classes int) Protocol {
	return Protocol{Name: "classify", Candidates: classes, Positives: 1, Reveal: true}
}

// ProtocolOf returns the named protocol of link prediction.
func ProtocolOf(name string) (Protocol, error) {
	var names []string
	for _, p := range []Protocol{Paper(), Released(), Fresh()} {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Protocol{}, fmt.Errorf("trial: unknown protocol %q (accepted: %s)", name, strings.Join(names, ", "))
}

// check returns an error if rounds cannot be drawn from d.
func (p Protocol) check(d *Data) error {
	negatives := p.Candidates - p.Positives
	switch {
	case p.Candidates < 2 || p.Positives < 1 || negatives < 1:
		return fmt.Errorf("trial: %d candidates, %d positives", p.Candidates, p.Positives)
	case p.Listed && (len(d.Positives) < p.Positives || len(d.Negatives) < negatives):
		return fmt.Errorf("trial: protocol %s draws %d of %d listed links and %d of %d listed pairs that are none",
			p.Name, p.Positives, len(d.Positives), negatives, len(d.Negatives))
	}
	return nil
}
