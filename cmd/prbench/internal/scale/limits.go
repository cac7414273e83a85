package scale

import (
	"fmt"

	"kith/index"
)

// loadable reports whether the rows of an undirected graph with n edges can be in memory.
func loadable(n float64) bool { return 2*n <= index.MaxEntries }

// limits says what stops a graph of n edges, or makes it slow, beginning with the gravest.
func (t *Table) limits(n float64) (found []string) {
	at, c := t.at(n), t.cluster
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if at(Nodes) > index.MaxNodes { // false for NaN, as the comparisons below
		add("not possible: the graph has %s nodes, a database takes %d", t.cell(figure{key: Nodes}, n), int64(index.MaxNodes))
	}
	if !loadable(n) {
		add("rows stay on disk, whatever the memory: they have %s entries, memory takes %d in each direction", inCount.text(2*n), int64(index.MaxEntries))
		add("training, and all figures with rows in memory, are not measured with rows on disk")
	} else if required(at, c) > float64(c.Memory) {
		add("rows stay on disk with less than %s of memory: a machine has %s", t.cell(figure{derive: required, unit: inBytes}, n), inBytes.text(float64(c.Memory)))
	}
	if n*repairBytes > float64(c.Memory) {
		add("check --repair takes %s of memory: a damaged database must be restored from a backup", inBytes.text(n*repairBytes))
	}
	const long = 3600
	for _, of := range []struct{ key, what string }{{Load, "a load"}, {Train, "a training"}, {Restore, "a restore"}, {Check, "a check"}} {
		if at(of.key) > long && (of.key != Train || loadable(n)) {
			add("%s takes %s", of.what, t.cell(figure{key: of.key, unit: inSeconds}, n))
		}
	}
	if len(found) == 0 {
		add("no limit is met")
	}
	return found
}
