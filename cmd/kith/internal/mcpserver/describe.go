package mcpserver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kith/db"
	"kith/db/words"
	"kith/query"
)

// description is the answer of describe.
type description struct {
	Nodes    int64   `json:"nodes"`
	Links    int64   `json:"links"`
	Directed bool    `json:"directed"`
	Labels   []label `json:"labels"`
	// Relations are empty if the links have none.
	Relations  []relation `json:"relations"`
	Properties []property `json:"properties"`
	Models     []learner  `json:"models"`
	Examples   []example  `json:"example_nodes"`
	Try        []string   `json:"statements_to_try"`
	Advice     []string   `json:"advice"`
}

type label struct {
	Label string `json:"label"`
	Nodes int64  `json:"nodes"`
}

type relation struct {
	Relation    string `json:"relation"`
	Links       int64  `json:"links"`
	Directed    bool   `json:"directed"`
	Exclude     bool   `json:"exclude"`
	SourceLabel string `json:"source_label,omitempty"`
	TargetLabel string `json:"target_label,omitempty"`
}

type property struct {
	Property string `json:"property"`
	Type     string `json:"type"`
}

type learner struct {
	Model    string `json:"model"`
	Version  int    `json:"version"`
	Policy   string `json:"policy"`
	Answers  bool   `json:"answers"`
	Trained  bool   `json:"trained"`
	Outcomes int    `json:"outcomes"`
}

type example struct {
	Node  string `json:"node"` // its text
	Label string `json:"label,omitempty"`
	Links int    `json:"links"`
	key   db.Key
}

// descriptionSchema returns the schema of a description.
func descriptionSchema() schema {
	labelName := field{name: "label", is: aText, required: true}
	return objectSchema([]field{
		{name: "nodes", is: anInt, required: true, meaning: "number of nodes"},
		{name: "links", is: anInt, required: true, meaning: "number of links"},
		{name: "directed", is: aFlag, required: true, meaning: "whether links have a direction"},
		{name: "labels", is: objectList, required: true, meaning: `the labels with the most nodes; "" stands for nodes without a label`,
			members: []field{labelName, {name: "nodes", is: anInt, required: true}}},
		{name: "relations", is: objectList, required: true, meaning: `the relations of links, the first ones of many; "" stands for links without one`,
			members: []field{
				{name: "relation", is: aText, required: true},
				{name: "links", is: anInt, required: true},
				{name: "directed", is: aFlag, required: true},
				{name: "exclude", is: aFlag, required: true, meaning: "whether nodes that it joins are no candidates of each other, as after a block"},
				{name: "source_label", is: aText, meaning: "label of the nodes that its links leave; absent: any"},
				{name: "target_label", is: aText, meaning: "label of the nodes that its links lead to; absent: any"},
			}},
		{name: "properties", is: objectList, required: true, meaning: "the properties of nodes, the first ones of many", members: []field{
			{name: "property", is: aText, required: true},
			{name: "type", is: aText, required: true, meaning: "bool, integer, float, string, time or list of strings"},
		}},
		{name: "models", is: objectList, required: true, members: []field{
			{name: "model", is: aText, required: true},
			{name: "version", is: anInt, required: true},
			{name: "policy", is: aText, required: true, meaning: "how it learns"},
			{name: "answers", is: aFlag, required: true, meaning: "whether it answers where no model is named"},
			{name: "trained", is: aFlag, required: true},
			{name: "outcomes", is: anInt, required: true, meaning: "number of outcomes that it has learned from"},
		}},
		{name: "example_nodes", is: objectList, required: true, members: []field{
			{name: "node", is: nodeText, required: true}, {name: "label", is: aText}, {name: "links", is: anInt, required: true},
		}},
		{name: "statements_to_try", is: textList, required: true, meaning: "for run_statement"},
		{name: "advice", is: textList, required: true},
	})
}

const (
	describedLabels = 20   // most labels of a description
	describedNodes  = 5    // most examples of nodes
	searchedNodes   = 1000 // nodes among which the examples are searched
)

func (c *call) describe() (answer, error) {
	d := &description{Labels: []label{}, Relations: []relation{}, Properties: []property{}, Models: []learner{}, Examples: []example{}, Try: []string{}, Advice: []string{}}
	s, err := c.DB.Stats()
	if err != nil {
		return nil, err
	}
	d.Nodes, d.Links, d.Directed = s.Nodes, s.Edges, s.Directed
	slices.SortStableFunc(s.Labels, func(a, b db.LabelStats) int { return cmp.Compare(b.Nodes, a.Nodes) })
	for _, l := range s.Labels[:min(len(s.Labels), describedLabels)] {
		d.Labels = append(d.Labels, label{l.Name, l.Nodes})
	}
	err = c.DB.View(c.ctx, func(tx *db.Tx) error {
		all, err := tx.Relations()
		if err != nil {
			return err
		}
		if len(all) > 1 {
			for _, r := range all[:min(len(all), describedLabels)] {
				d.Relations = append(d.Relations, relation{r.Name, r.Edges, r.Directed, r.Exclude, r.SourceLabel, r.TargetLabel})
			}
		}
		for _, name := range tx.PropertyNames() {
			if len(d.Properties) < describedLabels {
				d.Properties = append(d.Properties, property{name, tx.PropertyType(name)})
			}
		}
		for _, m := range tx.Models() {
			d.Models = append(d.Models, learner{m.Name, m.Version, m.Policy, m.Answers, m.Trained, m.Rounds})
		}
		return d.findExamples(tx)
	})
	d.advise(c.Write)
	return d, err
}

// findExamples sets the examples to the nodes with the most links among the first ones.
func (d *description) findExamples(tx *db.Tx) error {
	seen := 0
	for n, err := range tx.Nodes() {
		if err != nil {
			return err
		}
		if seen++; seen > searchedNodes {
			break
		}
		node, err := n.Key.MarshalText()
		if err != nil {
			return err
		}
		d.Examples = append(d.Examples, example{string(node), n.Label, n.Edges, n.Key})
	}
	slices.SortStableFunc(d.Examples, func(a, b example) int { return cmp.Compare(b.Links, a.Links) })
	d.Examples = d.Examples[:min(len(d.Examples), describedNodes)]
	return nil
}

// advise sets what the model may try next.
func (d *description) advise(write bool) {
	tell := func(format string, args ...any) { d.Advice = append(d.Advice, fmt.Sprintf(format, args...)) }
	answers := slices.IndexFunc(d.Models, func(m learner) bool { return m.Answers })
	switch {
	case d.Nodes == 0 && write:
		tell("the database is empty: insert adds nodes and links")
		return
	case d.Nodes == 0:
		tell("the database is empty, and this server only reads")
		return
	case answers >= 0:
		tell("predict_links without a model asks %s", d.Models[answers].Model)
	default:
		tell("no model is trained: predict_links without a model asks a network trained on other graphs")
	}
	tell("evaluate says how good such answers are on this graph")
	k := d.Examples[0].key
	d.Try = append(d.Try, fmt.Sprintf("PREDICT LINKS FOR %v AMONG NEIGHBORS(2) TOP 5", k.Literal()),
		fmt.Sprintf("DESCRIBE NODE %v", k.Literal()), fmt.Sprintf("NEIGHBORS OF %v TOP 5", k.Literal()), "SHOW MODELS", "HELP")
	if l := d.Labels; len(l) > 0 && l[0].Label != "" {
		d.Try = append(d.Try, "NODES LABEL "+query.Name(l[0].Label)+" TOP 5")
	}
}

// String returns the description as a few lines.
func (d *description) String() string {
	kind := "undirected"
	if d.Directed {
		kind = "directed"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %s\n", words.Count(d.Nodes, "node"), words.Count(d.Links, "link"), kind)
	for _, l := range d.Labels {
		fmt.Fprintf(&b, "label %q: %s\n", l.Label, words.Count(l.Nodes, "node"))
	}
	for _, r := range d.Relations {
		fmt.Fprintf(&b, "relation %q: %s, directed %t, excluding %t", r.Relation, words.Count(r.Links, "link"), r.Directed, r.Exclude)
		if r.SourceLabel+r.TargetLabel != "" {
			fmt.Fprintf(&b, ", from label %q to label %q", r.SourceLabel, r.TargetLabel)
		}
		b.WriteString("\n")
	}
	for _, p := range d.Properties {
		fmt.Fprintf(&b, "property %q: %s\n", p.Property, p.Type)
	}
	for _, m := range d.Models {
		fmt.Fprintf(&b, "model %s: version %d, policy %s, trained %t, answers where no model is named %t, %s learned\n",
			m.Model, m.Version, m.Policy, m.Trained, m.Answers, words.Count(m.Outcomes, "outcome"))
	}
	for _, n := range d.Examples {
		fmt.Fprintf(&b, "node %v: %s\n", n.key.Literal(), words.Count(n.Links, "link"))
	}
	for _, s := range d.Advice {
		b.WriteString(s + "\n")
	}
	b.WriteString("statements to try: " + strings.Join(d.Try, "; "))
	return b.String()
}
