package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"kith/db"
	"kith/db/words"
	"kith/query/internal/parse"
)

// explanation is the answer of GET /why.
type explanation struct {
	Sentences []string `json:"sentences"`
}

// why answers with sentences that say why a link has its score.
func (h *handler) why(w http.ResponseWriter, r *http.Request) {
	e, err := inView(r.Context(), h, h.visitor(r), func(ctx context.Context, tx *db.Tx) (e explanation, err error) {
		source, err := nodeOf(r, "source")
		if err != nil {
			return e, err
		}
		target, err := nodeOf(r, "target")
		if err != nil {
			return e, err
		}
		const paths = 3
		p := db.PredictOptions{For: source, Model: r.FormValue("model"), Relation: r.FormValue("relation")}
		reasons, err := tx.Why(ctx, p, target, paths)
		if err != nil {
			return e, err
		}
		directed := tx.Stats().Directed
		shared, err := sharedBy(ctx, tx, source, target, directed)
		if err != nil {
			return e, err
		}
		return explanation{sentences(reasons, shared, directed)}, nil
	})
	h.write(w, r, e, err)
}

// sharedNodes are the nodes on paths of two edges from a source to a target.
type sharedNodes struct {
	first []db.Key // some of them
	count int
	more  bool // the source has more edges than were followed
}

// sharedBy follows at most maxFollowed edges of the source.
func sharedBy(ctx context.Context, tx *db.Tx, source, target db.Key, directed bool) (s sharedNodes, err error) {
	const maxFollowed, named = 2000, 3
	followed := 0
	for e, err := range tx.Neighbors(source) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return s, err
		}
		if followed++; followed > maxFollowed {
			s.more = true
			return s, nil
		}
		from, to := target, e.Dst // the row of the target is read once
		if directed {
			from, to = e.Dst, target
		}
		switch _, err := tx.Joined(from, to); {
		case e.Dst == source, e.Dst == target, errors.Is(err, db.ErrNotFound):
		case err != nil:
			return s, err
		default:
			if s.count++; len(s.first) < named {
				s.first = append(s.first, e.Dst)
			}
		}
	}
	return s, nil
}

// sentences explains a score in words that need no knowledge of the model and of PageRank.
func sentences(r *db.Reasons, shared sharedNodes, directed bool) []string {
	source, target, l := plain(r.Source[0].Node), plain(r.Link.Target), &r.Link
	all := []string{shared.sentence(source, target, directed)}
	place := fmt.Sprintf("%s is number %d of %s for %s", target, l.Rank, words.Count(r.Candidates, "candidate"), source)
	if r.Added {
		place += ", to which it was added for this explanation"
	}
	all = append(all, place+".")
	shown := map[bool]int{}
	for _, rule := range r.Rules {
		if shown[rule.Against()]++; shown[rule.Against()] <= 2 {
			all = append(all, ruleSentence(&rule))
		}
	}
	for _, w := range r.Words[:min(2, len(r.Words))] {
		all = append(all, wordSentence(&w, source, target))
	}
	all = append(all, scoreSentences(r, source, target)...)
	if r.PPR > 0 {
		all = append(all, fmt.Sprintf("A walker who starts at %s and follows links at random spends %s of the time at %s%s.",
			source, percent(r.PPR), target, bestPath(r)))
	} else {
		all = append(all, fmt.Sprintf("A walker who starts at %s and follows links at random does not reach %s.", source, target))
	}
	return append(all, "Answered by "+r.AnsweredBy+".")
}

// ruleSentence says that a rule leads to the link, and over which nodes.
func ruleSentence(r *db.Reason) string {
	s := fmt.Sprintf("A rule that holds for %s of its cases, by chance for %s, leads here, %v", percent(r.Confidence), percent(r.Chance), r.Rule)
	if r.Against() {
		s = fmt.Sprintf("A rule speaks against it: it holds for %s of its cases, by chance for %s, %v", percent(r.Confidence), percent(r.Chance), r.Rule)
	}
	if len(r.Paths) > 0 {
		s += ": " + r.Edges(r.Paths[0])
	}
	if r.Count > 1 {
		s += fmt.Sprintf(", and %s like it", words.Count(r.Count-1, "path"))
	}
	return s + "."
}

// wordSentence says who shares a word of the target.
func wordSentence(w *db.Word, source, target string) string {
	have := fmt.Sprintf("%d of the nodes that %s is linked to", w.Links, source)
	switch {
	case w.Source && w.Links > 0:
		have = source + " and " + have
	case w.Source:
		have = source
	}
	return fmt.Sprintf("%s has the %s %q, as %s.", target, w.Property, w.Word, have)
}

// scoreSentences says what the parts of a score mean.
func scoreSentences(r *db.Reasons, source, target string) (all []string) {
	l := &r.Link
	exploit := ""
	switch {
	case r.AddsTo == "log-odds":
		exploit = "the model expects this link in " + percent(l.Exploit) + " of such cases, from what it has learned"
	case len(r.Inputs) > 0:
		exploit = "what the model expects from what it has learned"
	case l.Exploit != 0:
		exploit = "the value that the policy computes for this link, which tells something only beside those of other candidates"
	}
	if exploit != "" {
		all = append(all, fmt.Sprintf("Exploit %.3g: %s.", l.Exploit, exploit))
	}
	if ups := strongest(r.Inputs, source, target); len(ups) > 0 && r.AddsTo != "" {
		all = append(all, "What speaks most for it is "+strings.Join(ups, ", and then ")+".")
	}
	if l.Explore > l.Score/100 {
		all = append(all, fmt.Sprintf("Explore %.3g: what trying this link would teach the model, which is unsure about it.", l.Explore))
	}
	if l.PPR != 0 {
		all = append(all, fmt.Sprintf("PPR %.3g: what the walk over the graph adds.", l.PPR))
	}
	return all
}

// sentence says which nodes both ends share.
func (s sharedNodes) sentence(source, target string, directed bool) string {
	what := "shares " + words.Count(s.count, "neighbor") + " with " + source
	if directed {
		what = "is two steps from " + source + " over " + words.Count(s.count, "node")
	}
	if s.more {
		what = strings.Replace(what, fmt.Sprint(s.count), fmt.Sprint("at least ", s.count), 1)
	}
	if s.count == 0 {
		what = "shares no neighbor with " + source
		if directed {
			what = "is not two steps away from " + source
		}
	}
	var names []string
	for _, k := range s.first {
		names = append(names, plain(k))
	}
	switch {
	case len(names) == 0:
		return target + " " + what + "."
	case s.count > len(names):
		return target + " " + what + ", among them " + parse.Join(names, "and") + "."
	}
	return target + " " + what + ": " + parse.Join(names, "and") + "."
}

// strongest says which groups of inputs raise an estimate most, at most two.
func strongest(inputs []db.Input, source, target string) []string {
	sum := map[string]float64{}
	var order []string
	for _, in := range inputs {
		if in.Tells == "" || math.IsNaN(in.Adds) {
			continue
		}
		if _, known := sum[in.Tells]; !known {
			order = append(order, in.Tells)
		}
		sum[in.Tells] += in.Adds
	}
	order = slices.DeleteFunc(order, func(m string) bool { return sum[m] <= 0 })
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(sum[b], sum[a]) })
	for i, tells := range order {
		order[i] = strings.NewReplacer("{target}", target, "{source}", source).Replace(tells)
	}
	return order[:min(len(order), 2)]
}

// bestPath names the path on which most of the walkers arrive, unless they arrive on many others.
func bestPath(r *db.Reasons) string {
	if len(r.Paths) == 0 || len(r.Paths[0].Nodes) < 3 {
		return ""
	}
	const least = 0.05 // share of the walkers
	best := r.Paths[0]
	if best.Mass < least*r.PPR {
		return ""
	}
	var via []string
	for _, k := range best.Nodes[1 : len(best.Nodes)-1] {
		via = append(via, plain(k))
	}
	return fmt.Sprintf(", %s of that after coming by way of %s", percent(math.Min(best.Mass/r.PPR, 1)), parse.Join(via, "and"))
}

// plain returns the key of a node as people write it: without quotes, shortened, and so that its
// characters do not change the direction of the text around it.
func plain(k db.Key) string {
	const most = 60
	name := []rune(k.String())
	if len(name) > most {
		name = append(name[:most-1:most-1], '…')
	}
	if slices.ContainsFunc(name, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }) {
		const isolate, end = "\u2068", "\u2069"
		return isolate + string(name) + end
	}
	return string(name)
}

// percent returns a share with two digits.
func percent(x float64) string {
	const unit = "\u00a0%"
	switch p := 100 * x; {
	case p > 99.5 && p < 100:
		return "more than 99" + unit
	case p >= 10:
		return strconv.FormatFloat(p, 'f', 0, 64) + unit
	case p >= 0.001:
		return strconv.FormatFloat(p, 'g', 2, 64) + unit
	}
	return "less than 0.001" + unit
}
