package edgelist

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"strconv"

	"github.com/klauspost/compress/gzip"
)

// OGB is one graph in the layout of the folder raw of the Open Graph Benchmark.
type OGB struct {
	Nodes    int
	Edges    [][2]uint32
	Features [][]float32 // a row for each node; nil if the folder has none
	Labels   []int       // a label for each node; nil if the folder has none
}

// maxNodes is the largest number of nodes that is accepted.
const maxNodes = 1 << 28

// ReadOGB reads raw/edge.csv.gz, raw/num-node-list.csv.gz and, if they exist, raw/node-feat.csv.gz and
// raw/node-label.csv.gz of a folder.
func ReadOGB(folder fs.FS) (*OGB, error) {
	g := &OGB{}
	err := eachRow(folder, "raw/num-node-list.csv.gz", g.setNodes)
	if err == nil {
		err = eachRow(folder, "raw/edge.csv.gz", g.addEdge)
	}
	if err == nil && exists(folder, "raw/node-feat.csv.gz") {
		err = eachRow(folder, "raw/node-feat.csv.gz", g.addFeatures)
	}
	if err == nil && exists(folder, "raw/node-label.csv.gz") {
		err = eachRow(folder, "raw/node-label.csv.gz", g.addLabel)
	}
	if err != nil {
		return nil, err
	}
	if g.Features != nil && len(g.Features) != g.Nodes || g.Labels != nil && len(g.Labels) != g.Nodes {
		return nil, fmt.Errorf("edgelist: %d nodes, features of %d and labels of %d", g.Nodes, len(g.Features), len(g.Labels))
	}
	return g, nil
}

func exists(folder fs.FS, name string) bool {
	_, err := fs.Stat(folder, name)
	return err == nil
}

func (g *OGB) setNodes(row []float64) error {
	if len(row) != 1 || !(row[0] >= 0 && row[0] <= maxNodes) || row[0] != math.Trunc(row[0]) || g.Nodes != 0 {
		return fmt.Errorf("not the number of nodes of one graph")
	}
	g.Nodes = int(row[0])
	return nil
}

func (g *OGB) addEdge(row []float64) error {
	if len(row) != 2 {
		return fmt.Errorf("%d columns, expected 2", len(row))
	}
	var e [2]uint32
	for i, v := range row {
		if !(v >= 0 && v < float64(g.Nodes)) || v != math.Trunc(v) {
			return fmt.Errorf("node %v of %d", v, g.Nodes)
		}
		e[i] = uint32(v)
	}
	g.Edges = append(g.Edges, e)
	return nil
}

func (g *OGB) addFeatures(row []float64) error {
	if len(g.Features) > 0 && len(g.Features[0]) != len(row) || len(g.Features) >= g.Nodes {
		return fmt.Errorf("%d features of node %d of %d", len(row), len(g.Features), g.Nodes)
	}
	features := make([]float32, len(row))
	for i, v := range row {
		features[i] = float32(v)
		if features[i]-features[i] != 0 {
			return fmt.Errorf("%v is not finite in 32 bits", v)
		}
	}
	g.Features = append(g.Features, features)
	return nil
}

func (g *OGB) addLabel(row []float64) error {
	if len(row) != 1 || math.Abs(row[0]) > math.MaxInt32 || row[0] != math.Trunc(row[0]) {
		return fmt.Errorf("not one label")
	}
	g.Labels = append(g.Labels, int(row[0]))
	return nil
}

// eachRow calls f for each line of a gzipped table of numbers. The row is valid until f returns.
func eachRow(folder fs.FS, name string, f func(row []float64) error) error {
	file, err := folder.Open(name)
	if err != nil {
		return fmt.Errorf("edgelist: %w", err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("edgelist: %s: %w", name, err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, maxLine)
	var row []float64
	for n := 1; lines.Scan(); n++ {
		if row, err = numbers(row[:0], lines.Bytes()); err == nil {
			err = f(row)
		}
		if err != nil {
			return fmt.Errorf("edgelist: %s, line %d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("edgelist: %s: %w", name, err)
	}
	return nil
}

// numbers appends the comma-separated numbers of a line to row.
func numbers(row []float64, line []byte) ([]float64, error) {
	for more := true; more; {
		var field []byte
		field, line, more = bytes.Cut(line, []byte(","))
		v, err := strconv.ParseFloat(string(bytes.TrimSpace(field)), 64)
		if err != nil {
			return row, err
		}
		row = append(row, v)
	}
	return row, nil
}
