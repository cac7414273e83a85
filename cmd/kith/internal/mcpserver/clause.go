package mcpserver

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kith/db"
	"kith/db/words"
	"kith/query"
)

// named returns a name as a statement writes it.
func named(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// relation returns an argument of [relationField] as a statement writes it after a word, or "".
func (c *call) relation(word string) string {
	if name := c.text("relation"); name != "" {
		return word + named(name)
	}
	return ""
}

// via returns the VIA clause of the relations that the call names.
func (c *call) via() string {
	list := texts(c.list("via"))
	if len(list) == 0 {
		return ""
	}
	for i, name := range list {
		list[i] = named(name)
	}
	return " VIA " + strings.Join(list, ", ")
}

// texts returns a list of strings.
func texts(list []any) (all []string) {
	for _, v := range list {
		all = append(all, v.(string))
	}
	return all
}

// options returns the WITH clause of some options and of the weights of relations.
func (c *call) options(all ...string) (string, error) {
	if given, has := c.arguments["relation_weights"].(query.Object); has && len(given) > 0 {
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(given)) {
			w, ok := aNumber.value(given[name])
			if !ok {
				return "", fmt.Errorf("relation_weights: the weight of %q must be a number, got %s", name, words.Value(given[name]))
			}
			pairs = append(pairs, fmt.Sprintf("%s = %v", named(name), w))
		}
		all = append(all, "relation_weights = ("+strings.Join(pairs, ", ")+")")
	}
	if len(all) == 0 {
		return "", nil
	}
	return " WITH (" + strings.Join(all, ", ") + ")", nil
}

// links returns PREDICT LINKS with the relation that the call names.
func (c *call) links() string {
	if c.flag("inverse") {
		return "PREDICT LINKS" + c.relation(" INVERSE ")
	}
	return "PREDICT LINKS" + c.relation(" ")
}

// arrow returns the arrow of a link of the relation that the call names.
func (c *call) arrow() string {
	if relation := c.relation(" -["); relation != "" {
		return relation + "]-> "
	}
	return " -> "
}

// mostCandidates is the number of candidates of a set without a size.
const mostCandidates = 1000

// among returns the AMONG clause of the candidates that the call selects, with its parameters.
func (c *call) among() (clause string, parameters []any, err error) {
	var sets []db.Candidates
	via, except := texts(c.list("via")), texts(c.list("except_via"))
	along := func(set db.Candidates) db.Candidates {
		if len(via) > 0 {
			return set.Via(via...)
		}
		return set
	}
	if list := c.list("candidates"); list != nil {
		sets = append(sets, db.Keys(list...))
	}
	if depth := c.integer("depth"); depth > 0 {
		sets = append(sets, along(db.Neighbors(depth)))
	}
	if label := c.text("label"); label != "" {
		sets = append(sets, db.Label(label))
	}
	if near := c.list("near"); near != nil {
		sets = append(sets, db.Near(vector(near), mostCandidates))
	}
	left, err := c.excepted(except)
	switch {
	case err != nil:
		return "", nil, err
	case len(sets) == 0 && len(via)+len(except) == 0:
		return "", nil, nil
	case len(sets) == 0:
		sets = append(sets, along(db.PPR(mostCandidates)))
	case len(via) > 0 && c.integer("depth") == 0:
		return "", nil, errors.New("via needs a depth beside candidates, label or near")
	}
	set := sets[0]
	for _, s := range sets[1:] {
		set = set.Intersect(s)
	}
	if len(except) > 0 {
		set = set.Except(left)
	}
	return " AMONG ?", []any{set}, nil
}

// sources returns where the walk of a call begins, as RANK NODES writes it, with its parameters.
func (c *call) sources() (sources string, parameters []any, err error) {
	list, near := c.list("nodes"), c.list("near")
	switch {
	case (list == nil) == (near == nil):
		return "", nil, errors.New("give nodes, or a vector near, and one of these only")
	case list == nil:
		label := ""
		if name := c.text("label"); name != "" {
			label = " LABEL " + named(name)
		}
		return fmt.Sprintf("NEAR(?, %d%s%s)", c.integer("near_nodes"), label, c.where()), []any{vector(near)}, nil
	case c.text("label")+c.text("where") != "":
		return "", nil, errors.New("label and where need near: they select the nodes where the walk begins")
	}
	sources = strings.Repeat(", ?", len(list))[2:]
	if len(list) > 1 {
		sources = "(" + sources + ")" // one walk that begins at all of them
	}
	return sources, list, nil
}

// vector returns a list of numbers as a vector.
func vector(list []any) []float32 {
	v := make([]float32, len(list))
	for i, x := range list {
		v[i] = float32(x.(float64))
	}
	return v
}

// excepted returns the nodes that links of relations lead to.
func (c *call) excepted(relations []string) (set db.Candidates, err error) {
	text := c.text("except_within")
	switch {
	case text != "" && len(relations) == 0:
		return set, errors.New("except_within needs except_via")
	case text != "":
		within, err := query.ParseDuration(text)
		if err != nil || within <= 0 {
			return set, fmt.Errorf("except_within %q is not a duration above 0, %s", text, durationHelp)
		}
		return db.Neighbors(1).Via(relations...).Within(within), nil
	case len(relations) == 0:
		return set, nil
	}
	return db.Neighbors(1).Via(relations...), nil
}

// where returns the WHERE clause of the condition that the call gives.
func (c *call) where() string {
	if condition := c.text("where"); condition != "" {
		return " WHERE " + condition
	}
	return ""
}

// using returns the USING clause of the model that the call names.
func (c *call) using() string {
	if name := c.text("model"); name != "" {
		return " USING " + query.Name(name)
	}
	return ""
}
