package edgelist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
)

// Kind is what a file tells of a graph.
type Kind int

const (
	Edges    Kind = iota // what NewReader reads
	Labels               // what NewNodes reads
	Features             // what NewFeatures reads
)

// Part is one file of a graph in a folder.
type Part struct {
	Name    string
	Kind    Kind
	Keyless bool
	count   int // of the nodes, where the file holds nothing else
}

// errFolder is what every folder that holds no graph comes to.
var errFolder = errors.New("edgelist: not a folder of the Open Graph Benchmark")

// Parts returns the files of one graph as the Open Graph Benchmark lays it out in a folder raw, which
// is in the one given or is itself that, in the order in which to read them: how many nodes there
// are, labels, features, edges.
func Parts(folder fs.FS) (parts []Part, err error) {
	raw := ""
	if exists(folder, "raw") {
		raw = "raw/"
	}
	nodes := Part{Name: raw + "num-node-list.csv.gz", Kind: Labels}
	if exists(folder, nodes.Name) {
		g := &OGB{}
		if err := eachRow(folder, nodes.Name, g.setNodes); err != nil {
			return nil, err
		}
		nodes.count = g.Nodes
		parts = append(parts, nodes)
	}
	for _, p := range []Part{{Name: raw + "node-label.csv.gz", Kind: Labels, Keyless: true}, {Name: raw + "node-feat.csv.gz", Kind: Features, Keyless: true}} {
		if exists(folder, p.Name) {
			parts = append(parts, p)
		}
	}
	for _, name := range []string{raw + "edge.csv.gz", raw + "data.npz"} {
		if exists(folder, name) {
			return append(parts, Part{Name: name, Kind: Edges}), nil
		}
	}
	return nil, fmt.Errorf("%w: %sedge.csv.gz is not there, nor %[2]sdata.npz", errFolder, raw)
}

// Open opens the file, to be read as its kind says.
func (p Part) Open(folder fs.FS) (io.ReadCloser, error) {
	if p.count > 0 {
		return io.NopCloser(&counter{n: p.count}), nil
	}
	f, err := folder.Open(p.Name)
	if err != nil {
		return nil, fmt.Errorf("edgelist: %w", err)
	}
	return f, nil
}

// counter is a text of the numbers below n, one a line.
type counter struct {
	next, n int
	rest    []byte
}

// Read implements io.Reader.
func (c *counter) Read(b []byte) (int, error) {
	for len(c.rest) < len(b) && c.next < c.n {
		c.rest = append(strconv.AppendInt(c.rest, int64(c.next), 10), '\n')
		c.next++
	}
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.rest)
	c.rest = c.rest[:copy(c.rest, c.rest[n:])]
	return n, nil
}
