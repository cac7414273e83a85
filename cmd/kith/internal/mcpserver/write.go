package mcpserver

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"kith/db"
	"kith/db/edgelist"
	"kith/query"
)

// writingTools returns the tools that change the database.
func writingTools() []tool {
	return []tool{
		{
			name: "observe", title: "Tell a model what became of a link", writes: true, run: (*call).observe,
			meaning: `Tells a model what became of a link that it predicted; its next answers take that into account at once. Call it once for each outcome: a second call counts as a second outcome, unless both have the same id. Example: {"source": "ann", "target": "dan", "reward": 1, "insert": true} after ann and dan have become friends.`,
			arguments: []field{
				nodeField("source", "where the link begins"), nodeField("target", "where it ends"),
				{name: "reward", is: aNumber, low: 0, high: 1, required: true, meaning: "1 if the link was made or accepted, 0 if not, or a value between"},
				{name: "insert", is: aFlag, byDefault: false, meaning: "with a reward of 1, add the link to the graph too"},
				relationField("the link is of this relation"),
				{name: "candidates", is: nodeList, meaning: "the nodes that the link was one of, as they were shown"},
				{name: "model", is: aText, meaning: "a model that describe lists. Absent: the model that describe marks with answers"},
				{name: "id", is: aText, meaning: "name of the outcome, such as click 17: the same one again changes nothing and returns no row"},
			},
			columns: []field{
				nodeColumn("source"), nodeColumn("target"), {name: "reward", is: aNumber}, {name: "model", is: aText},
				{name: "edge_added", is: aFlag, meaning: "whether the link was added"},
			},
		},
		{
			name: "insert", title: "Add nodes and links", writes: true, repeatable: true, run: (*call).insert,
			meaning: `Adds nodes and links, all of them or, if one is wrong, none. A node that a link names is added too, so nodes are needed only for labels, properties and features. What exists already is changed: a link gets the given weight, a node the given label, properties and features. Example: {"links": [{"source": "ann", "target": "bob"}], "nodes": [{"node": "ann", "label": "person", "properties": {"lang": "en"}}]}.`,
			arguments: []field{
				{name: "links", is: objectList, meaning: "links to add", members: []field{
					nodeField("source", "where the link begins"), nodeField("target", "where it ends"),
					{name: "relation", is: aText, meaning: "what the link means, such as likes; a relation that does not exist is made. Absent: the relation without a name"},
					{name: "weight", is: aNumber, byDefault: 1.0, meaning: "strength of the link"},
					{name: "time", is: aValue, meaning: "when the link was made: a date such as 2026-11-01 or 2026-11-01T12:00:00Z, or seconds since 1970"},
				}},
				{name: "nodes", is: objectList, meaning: "nodes to add", members: []field{
					nodeField("node", "the node"),
					{name: "label", is: aText, meaning: "kind of the node, such as person"},
					{name: "properties", is: aRecord, meaning: "values by name: true or false, a number, a string, a list of strings, or null to remove the property; " +
						"a time is a string such as 2026-11-01 or 2026-11-01T12:00:00Z. The first value of a property decides its type"},
					{name: "features", is: numberList, high: 4096, meaning: "what the node is like, as numbers; all nodes of a label need the same number of them"},
				}},
			},
			columns: []field{
				{name: "nodes_added", is: anInt}, {name: "links_added", is: anInt},
			},
		},
	}
}

func (c *call) observe() (answer, error) {
	among, set, err := c.among()
	if err != nil {
		return nil, err
	}
	text := "OBSERVE ?" + c.arrow() + "? = ?" + among + c.using()
	if id := c.text("id"); id != "" {
		text, set = text+" WITH (id = ?)", append(set, id)
	}
	if c.flag("insert") {
		text += " AND INSERT"
	}
	r, err := c.ask(1, text, append([]any{c.node("source"), c.node("target"), c.number("reward")}, set...)...)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (c *call) insert() (answer, error) {
	if c.list("nodes") == nil && c.list("links") == nil {
		return nil, errors.New("neither links nor nodes are given")
	}
	var row []any
	err := c.DB.Update(c.ctx, func(tx *db.Tx) error {
		nodes, links := tx.Counts()
		if err := c.put(tx); err != nil {
			return err
		}
		nodesNow, linksNow := tx.Counts()
		row = []any{nodesNow - nodes, linksNow - links}
		return nil
	})
	return &rows{Rows: query.Rows{Columns: names(c.tool.columns), Rows: [][]any{row}}}, err
}

// put adds the nodes and links of the call.
func (c *call) put(tx *db.Tx) error {
	for i, n := range c.objects("nodes") {
		node := db.Node{Key: n.node("node"), Label: n.text("label")}
		for _, f := range n.list("features") {
			node.Features = append(node.Features, float32(f.(float64)))
		}
		if given, has := n["properties"].(query.Object); has {
			node.Properties = make(map[string]any, len(given))
			for _, name := range slices.Sorted(maps.Keys(given)) {
				var err error
				if node.Properties[name], err = tx.Literal(name, given[name]); err != nil {
					return fmt.Errorf("nodes[%d]: node %v: %w", i, node.Key.Literal(), err)
				}
			}
		}
		if err := tx.PutNode(node); err != nil {
			return fmt.Errorf("nodes[%d]: %w", i, err)
		}
	}
	for i, l := range c.objects("links") {
		e := db.Edge{Src: l.node("source"), Dst: l.node("target"), Relation: l.text("relation"), Weight: float32(l.number("weight"))}
		var err error
		if e.Time, err = timeOf(l["time"]); err != nil {
			return fmt.Errorf("links[%d].time: %w", i, err)
		}
		if err := tx.PutEdge(e.Src, e.Dst, db.Via(e.Relation), db.Weight(e.Weight), db.At(e.Time)); err != nil {
			return fmt.Errorf("links[%d]: %w", i, err)
		}
	}
	return nil
}

// timeOf returns the time of a link, a date or a number of seconds since 1970, or the zero time if
// it is absent.
func timeOf(v any) (time.Time, error) {
	switch v := v.(type) {
	case string:
		return edgelist.ParseTime(v)
	case int64:
		return time.Unix(v, 0), edgelist.CheckTime(v)
	case float64:
		whole, part := math.Modf(v)
		return time.Unix(int64(whole), int64(part*1e9)), edgelist.CheckTime(int64(whole))
	}
	return time.Time{}, nil
}
