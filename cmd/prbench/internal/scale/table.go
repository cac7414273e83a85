package scale

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"kith/db/words"
)

// targets returns the numbers of edges that the table extrapolates to.
func targets() []float64 { return []float64{1e8, 1e9, 1e10} }

// near is the relative distance up to which a measured size counts as the size of a column.
const near = 0.1

// Table has the figures of graphs of all sizes.
type Table struct {
	setting Setting
	cluster Cluster
	sizes   []float64          // measured numbers of edges, ascending
	points  map[string][]point // of each figure
}

// NewTable returns the table of measurements, which must have one setting.
func NewTable(all []Measurement, c Cluster) *Table {
	t := &Table{cluster: c, points: map[string][]point{}}
	for _, m := range all {
		t.setting = m.Setting
		n := float64(m.Edges)
		t.sizes = append(t.sizes, n)
		for key, value := range m.Figures {
			if value > 0 {
				t.points[key] = append(t.points[key], point{n, value})
			}
		}
	}
	slices.Sort(t.sizes)
	t.sizes = slices.Compact(t.sizes)
	for _, p := range t.points {
		slices.SortFunc(p, func(a, b point) int { return int(math.Copysign(1, a.n-b.n)) })
	}
	return t
}

// columns returns the numbers of edges of the columns: the measured ones and the targets, without
// those measured ones that count as a target.
func (t *Table) columns() []float64 {
	all := targets()
	for _, n := range t.sizes {
		if !slices.ContainsFunc(targets(), func(target float64) bool { return isNear(n, target) }) {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

func isNear(n, of float64) bool { return math.Abs(n/of-1) <= near }

// value returns a measured figure for n edges, or its law's value, or NaN if neither is known.
// Name "" is the number of edges.
func (t *Table) value(key string, n float64) (x float64, measured bool) {
	if key == "" {
		return n, false
	}
	for _, p := range t.points[key] {
		if isNear(p.n, n) {
			return p.value, true
		}
	}
	for _, f := range figures() {
		if f.key != key {
			continue
		}
		if law, ok := f.law.fitted(t.points[key]); ok {
			return law.at(n), false
		}
	}
	return math.NaN(), false
}

// at returns a function that returns the figures for n edges.
func (t *Table) at(n float64) func(key string) float64 {
	return func(key string) float64 {
		x, _ := t.value(key, n)
		return x
	}
}

// cell returns a figure for n edges as text. "~" before it says that it is extrapolated.
func (t *Table) cell(f figure, n float64) string {
	x, measured := math.NaN(), false
	switch {
	case f.loaded && !loadable(n):
	case f.derive != nil:
		x = f.derive(t.at(n), t.cluster)
	default:
		x, measured = t.value(f.key, n)
	}
	switch {
	case math.IsNaN(x):
		return "-"
	case measured:
		return f.unit.text(x)
	}
	return "~" + f.unit.text(x)
}

// law describes the law of a figure.
func (t *Table) law(f figure) string {
	if f.derive != nil {
		return "from the others"
	}
	fit, ok := f.law.fitted(t.points[f.key])
	switch {
	case ok:
		return fit.String()
	case f.law == bounded:
		return bounded.String()
	}
	return "two sizes are needed"
}

func (t *Table) label(f figure) string {
	return strings.ReplaceAll(f.label, "$m", fmt.Sprintf("%d machines", t.cluster.Machines))
}

// Write writes the table, and what stops the larger graphs, in lines with a prefix.
func (t *Table) Write(w io.Writer, prefix string) error {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	columns := t.columns()
	fmt.Fprintf(&text, "measured on %s with %s; machines of %s and %s\n\n",
		words.Count(t.setting.Cores, "core"), memory(t.setting.Memory), words.Count(t.cluster.Cores, "core"), memory(t.cluster.Memory))
	fmt.Fprint(table, "edges")
	for _, n := range columns {
		fmt.Fprintf(table, "\t%s", edges(n))
	}
	fmt.Fprint(table, "\tlaw, residual\n")
	for _, f := range figures() {
		fmt.Fprint(table, t.label(f))
		for _, n := range columns {
			fmt.Fprintf(table, "\t%s", t.cell(f, n))
		}
		fmt.Fprintf(table, "\t%s\n", t.law(f))
	}
	_ = table.Flush() // a strings.Builder takes all
	for _, n := range targets() {
		fmt.Fprintf(&text, "\n%s edges:\n", edges(n))
		for _, l := range t.limits(n) {
			fmt.Fprintf(&text, "  %s\n", l)
		}
	}
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(prefix+line, " \n\t")); err != nil {
			return err
		}
	}
	return nil
}

// memory writes the memory of a setting or of a machine.
func memory(bytes int64) string {
	if bytes == 0 {
		return "the default --memory"
	}
	return scaled(float64(bytes), 1024, "B", "KiB", "MiB", "GiB", "TiB") + " of memory"
}

// edges writes a number of edges.
func edges(n float64) string {
	if slices.Contains(targets(), n) {
		return fmt.Sprintf("10^%.0f", math.Log10(n))
	}
	return inCount.text(n)
}
