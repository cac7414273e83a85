// Package why says in words why a link has its score.
//
// [Because] is the short reason beside a link of a ranking, and [Sentences] are all reasons, as the
// statement WHY, the page and MCP show them.
package why

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"kith/db"
	"kith/db/words"
	"kith/query/internal/parse"
)

// Because returns the strongest reason for a link, without a full stop: the rule that leads to it
// and its nodes, or the nodes between its ends, or the word that they share.
func Because(e *db.Evidence, source db.Seeds) string {
	switch {
	case len(e.Rules) > 0:
		return e.Rules[0].String() + pathsOf(&e.Rules[0])
	case e.Common.Count == 0 && len(e.Words) > 0:
		return shares(&e.Words[0], sourceOf(source))
	case e.Common.Count == 0 && e.Common.Directed:
		return "no node between them"
	case e.Common.Count == 0:
		return "no common neighbour"
	}
	noun := "common neighbour"
	if e.Common.Directed {
		noun = "node"
	}
	text := count(&e.Common, noun)
	if e.Common.Directed {
		text += " between them"
	}
	return text + named(&e.Common)
}

// count returns the number of common nodes with a noun.
func count(c *db.Common, noun string) string {
	if c.More {
		return "at least " + words.Count(c.Count, noun)
	}
	return words.Count(c.Count, noun)
}

// named names the first common nodes.
func named(c *db.Common) string {
	var names []string
	for _, k := range c.Nodes {
		names = append(names, plain(k))
	}
	if c.Count > len(names) {
		return ", among them " + parse.Join(names, "and")
	}
	return ": " + parse.Join(names, "and")
}

// sourceOf names the source of a link, or some nodes of a set.
func sourceOf(s db.Seeds) string {
	const most = 3
	var names []string
	for _, n := range s[:min(most, len(s))] {
		names = append(names, plain(n.Node))
	}
	if more := len(s) - most; more > 0 {
		names[most-1] = words.Count(more+1, "other node")
	}
	return parse.Join(names, "and")
}

// commonSentence says which nodes are between the ends of a link.
func commonSentence(c *db.Common, source, target string) string {
	switch {
	case c.Count == 0 && c.Directed:
		return target + " is not two steps away from " + source + "."
	case c.Count == 0:
		return target + " shares no neighbour with " + source + "."
	case c.Directed:
		return target + " is two steps from " + source + " over " + count(c, "node") + named(c) + "."
	}
	return target + " shares " + count(c, "neighbour") + " with " + source + named(c) + "."
}

// shareSentence says which node of a set adds most to a score.
func shareSentence(r *db.Reasons) string {
	adds := func(s db.Share) float64 { return s.Weight * s.Score }
	most := slices.MaxFunc(r.Sources, func(a, b db.Share) int { return cmp.Compare(adds(a), adds(b)) })
	return fmt.Sprintf("Of the nodes of the set, %s adds most to the score: %.3g of %.3g.", plain(most.Node), adds(most), r.Link.Score)
}

// Sentences explains a score in words that need no knowledge of the model and of PageRank.
func Sentences(r *db.Reasons) []string {
	source, target, l := sourceOf(r.Source), plain(r.Link.Target), &r.Link
	all := []string{commonSentence(&r.Common, source, target)}
	place := fmt.Sprintf("%s is number %d of %s for %s", target, l.Rank, words.Count(r.Candidates, "candidate"), source)
	if r.Added {
		place += ", to which it was added for this explanation"
	}
	all = append(all, place+".")
	if len(r.Sources) > 0 && l.Score != 0 {
		all = append(all, shareSentence(r))
	}
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
	return all
}

// ruleSentence says that a rule leads to the link, and over which nodes.
func ruleSentence(r *db.Reason) string {
	s := fmt.Sprintf("A rule that holds for %s of its cases, by chance for %s, leads here, %v", percent(r.Confidence), percent(r.Chance), r.Rule)
	if r.Against() {
		s = fmt.Sprintf("A rule speaks against it: it holds for %s of its cases, by chance for %s, %v", percent(r.Confidence), percent(r.Chance), r.Rule)
	}
	return s + pathsOf(r) + "."
}

// pathsOf names the edges of a path along which a rule leads to a link, and counts the other paths.
func pathsOf(r *db.Reason) (s string) {
	if len(r.Paths) > 0 {
		s = ": " + r.Edges(r.Paths[0])
	}
	if r.Count > 1 {
		s += fmt.Sprintf(", and %s like it", words.Count(r.Count-1, "path"))
	}
	return s
}

// wordSentence says who shares a word of the target.
func wordSentence(w *db.Word, source, target string) string {
	return target + " " + shares(w, source) + "."
}

// shares says which word a target has, and who shares it.
func shares(w *db.Word, source string) string {
	have := fmt.Sprintf("%d of the nodes that %s is linked to", w.Links, source)
	switch {
	case w.Source && w.Links > 0:
		have = source + " and " + have
	case w.Source:
		have = source
	}
	return fmt.Sprintf("has the %s %q, as %s", w.Property, w.Word, have)
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
