package edgelist

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a file contains.
type Kind int

const (
	Edges    Kind = iota // read by NewReader
	Labels               // read by NewNodes
	Features             // read by NewFeatures
)

// Part is one file of a graph in a folder.
type Part struct {
	Name    string
	Kind    Kind
	Keyless bool
	// Label is the label of all nodes of a list of nodes, SrcLabel and DstLabel are those of the
	// sources and targets of edges, and Relation is the relation of edges. They are "" if the list
	// says it for each line, or nothing does.
	Label, SrcLabel, DstLabel, Relation string
	// Relations are the names of relations by their names in the list, as in Options.
	Relations map[string]string
	// Columns says what the columns of a list of nodes mean, as PropertyOptions.NodeColumns; nil if
	// the list says it.
	Columns NodeColumns
	Notes   []Note            // what of the folder is not read
	count   int               // number of nodes, if the file holds nothing else
	beside  [roleCount]string // names of the files with the values of the edges, by role
}

var (
	// errFolder is the error for a folder without a graph.
	errFolder = errors.New("edgelist: not a folder of the Open Graph Benchmark")
	// errFile is the error for a file that is read as a folder.
	errFile = errors.New("edgelist: ogb is the format of a folder, this is a file")
)

// Parts returns the files of a graph in the layout of the Open Graph Benchmark, in the order in
// which to read them: number of nodes, labels, features, names of nodes, edges. folder is the
// folder raw, or contains it. The notes of the last part name the files that are not read.
//
// The edges are in raw/edge.csv.gz, with the weights of raw/edge_weight.csv.gz and the times of
// raw/edge_year.csv.gz, or, if split is not "", of the folder split. split is train, valid, test,
// all for the three, or several, separated by commas. If there is more than one way to split, the
// way is named too, as in random0/train.
//
// The folder mapping has names of nodes, as in nodeidx2entityid.csv.gz, which become a property
// such as entity_id, and names of relations, as in reltype2relid.csv.gz.
//
// A folder with nodes of several types, as ogbl-biokg and ogbn-mag, has a folder of edges for each
// relation, whose name holds the types of sources and targets. The types are labels.
func Parts(folder fs.FS, split string) ([]Part, error) {
	raw := ""
	if exists(folder, "raw") {
		raw = "raw/"
	}
	parts, err := rawParts(folder, raw)
	if err != nil {
		return nil, err
	}
	parts, named, err := withNames(folder, parts)
	if err != nil {
		return nil, err
	}
	notes := notesOfUnread(folder, raw, parts, split != "", named)
	if split != "" {
		links, err := splitParts(folder, split)
		if err != nil {
			return nil, err
		}
		names := map[string]string{}
		for _, p := range parts {
			maps.Copy(names, p.Relations)
		}
		for i := range links {
			links[i].Relations = names
		}
		parts = append(slices.DeleteFunc(parts, func(p Part) bool { return p.Kind == Edges }), links...)
	}
	parts[len(parts)-1].Notes = notes
	return parts, nil
}

// notesOfUnread returns a note with the names of the files of a graph that are not read. Without
// withEdges, the files of the edges are not missed. read has the names of further files that are
// read.
func notesOfUnread(folder fs.FS, raw string, parts []Part, split bool, read []string) (notes []Note) {
	known := append(read,
		raw+"num-node-list.csv.gz", raw+"num-edge-list.csv.gz", raw+"num-node-dict.csv.gz", raw+"triplet-type-list.csv.gz",
		raw+"nodetype-has-feat.csv.gz", raw+"nodetype-has-label.csv.gz",
	)
	dirs := []string{path.Clean("./" + raw), "mapping"}
	for _, kind := range []string{"node-feat", "node-label"} {
		types, _ := entries(folder, path.Join(raw, kind)) // there may be no such folder
		for _, of := range types {
			dirs = append(dirs, path.Join(raw, kind, of))
		}
	}
	for _, p := range parts {
		known = append(append(known, p.Name), p.beside[:]...)
	}
	var unread []string
	for _, dir := range dirs {
		names, _ := entries(folder, dir) // there may be no such folder
		for _, name := range names {
			file := path.Join(dir, name)
			isEdges := strings.HasPrefix(name, "edge")
			if slices.Contains(known, file) || split && isEdges || !slices.ContainsFunc(dataSuffixes(), func(s string) bool { return strings.HasSuffix(name, s) }) {
				continue
			}
			unread = append(unread, file)
		}
	}
	if len(unread) > 0 {
		notes = append(notes, Note{Msg: "files not read: " + strings.Join(unread, ", ")})
	}
	return notes
}

// dataSuffixes returns the ends of the names of files with data, unlike the texts that describe
// them.
func dataSuffixes() []string {
	return []string{".csv.gz", ".csv", ".npz", ".npy", ".pt", ".tsv", ".tsv.gz", ".parquet"}
}

// rawParts returns the files of the folder raw, the edges last.
func rawParts(folder fs.FS, raw string) (parts []Part, err error) {
	nodes := Part{Name: raw + "num-node-list.csv.gz", Kind: Labels}
	if exists(folder, nodes.Name) {
		if nodes.count, err = countNodes(folder, nodes.Name); err != nil {
			return nil, fmt.Errorf("edgelist: %s: %w", nodes.Name, err)
		}
		parts = append(parts, nodes)
	}
	for _, p := range []Part{{Name: raw + "node-label.csv.gz", Kind: Labels, Keyless: true}, {Name: raw + "node-feat.csv.gz", Kind: Features, Keyless: true}} {
		if exists(folder, p.Name) {
			parts = append(parts, p)
		}
	}
	if edges := edgesPart(folder, raw); exists(folder, edges.Name) {
		return append(parts, edges), nil
	}
	if name := raw + "data.npz"; exists(folder, name) {
		return append(parts, Part{Name: name, Kind: Edges}), nil
	}
	if relations, _ := entries(folder, path.Join(raw, "relations")); len(relations) > 0 {
		return typedParts(folder, raw, relations)
	}
	return nil, fmt.Errorf("%w: %sedge.csv.gz is not there, nor %[2]sdata.npz", errFolder, raw)
}

// edgesPart returns the edges of a folder, with the values that other files have.
func edgesPart(folder fs.FS, dir string) Part {
	edges := Part{Name: dir + "edge.csv.gz", Kind: Edges}
	for r := range roles {
		if name := dir + roles[r].file; roles[r].file != "" && exists(folder, name) {
			edges.beside[r] = name
		}
	}
	return edges
}

// typedParts returns the files of the folder raw of a graph with nodes of several types. relations
// are folders called SOURCE___RELATION___TARGET.
func typedParts(folder fs.FS, raw string, relations []string) (parts []Part, err error) {
	types, err := countTypes(folder, raw+"num-node-dict.csv.gz")
	if err != nil {
		return nil, fmt.Errorf("edgelist: %snum-node-dict.csv.gz: %w", raw, err)
	}
	for _, of := range types {
		of.Name, of.Kind = raw+"num-node-dict.csv.gz ("+of.Label+")", Labels
		parts = append(parts, of)
		features := Part{Name: raw + "node-feat/" + of.Label + "/node-feat.csv.gz", Kind: Features, Keyless: true, Label: of.Label}
		if exists(folder, features.Name) {
			parts = append(parts, features)
		}
	}
	for _, name := range relations {
		words := strings.Split(name, "___")
		if len(words) != 3 {
			return nil, fmt.Errorf("%w: the folder %srelations/%s is not called SOURCE___RELATION___TARGET", errFolder, raw, name)
		}
		edges := edgesPart(folder, raw+"relations/"+name+"/")
		edges.SrcLabel, edges.Relation, edges.DstLabel = words[0], words[1], words[2]
		if number := edges.beside[roleRelation]; number != "" {
			text, err := readSmall(folder, number)
			if err != nil && !errors.Is(err, io.ErrShortBuffer) {
				return nil, fmt.Errorf("edgelist: %s: %w", number, err)
			}
			first, _, _ := bytes.Cut(text, []byte("\n"))
			edges.Relations = map[string]string{string(bytes.TrimSpace(first)): words[1]}
			edges.beside[roleRelation] = "" // all of its lines have this number
		}
		parts = append(parts, edges)
	}
	return parts, nil
}

// withNames returns the parts with the names of nodes and of relations that the folder mapping has,
// and the names of the files that were read.
func withNames(folder fs.FS, parts []Part) (named []Part, read []string, err error) {
	// In these files the first column has the numbers of nodes, perhaps of a type, or of relations.
	namesOfNodes := regexp.MustCompile(`^(?:(\w+)_)?(?:node|ent)idx2\w+\.csv(?:\.gz)?$`)
	namesOfRelations := regexp.MustCompile(`^rel(?:type|idx)2\w+\.csv(?:\.gz)?$`)
	files, _ := entries(folder, "mapping") // there may be no such folder
	for _, file := range files {
		name := path.Join("mapping", file)
		switch m := namesOfNodes.FindStringSubmatch(file); {
		case m != nil && (m[1] == "" || slices.ContainsFunc(parts, func(p Part) bool { return p.Label == m[1] })):
			columns, err := mappedColumns(folder, name)
			if err != nil {
				return nil, nil, fmt.Errorf("edgelist: %s: %w", name, err)
			}
			if columns != nil {
				named = append(named, Part{Name: name, Kind: Labels, Label: m[1], Columns: columns})
			}
		case namesOfRelations.MatchString(file) && parts[len(parts)-1].Relation == "": // otherwise folders name relations
			relations, err := mappedRelations(folder, name)
			if err != nil {
				return nil, nil, fmt.Errorf("edgelist: %s: %w", name, err)
			}
			parts[len(parts)-1].Relations = relations
			read = append(read, name)
		}
	}
	first := slices.IndexFunc(parts, func(p Part) bool { return p.Kind == Edges })
	return slices.Insert(parts, first, named...), read, nil
}

// mappedColumns returns what the columns of a file of names mean: the first has the keys, and
// others are properties. It returns nil for a file without a header of several columns.
func mappedColumns(folder fs.FS, name string) (NodeColumns, error) {
	text, err := readSmall(folder, name)
	if err != nil && !errors.Is(err, io.ErrShortBuffer) {
		return nil, err
	}
	head, _, _ := bytes.Cut(text, []byte("\n"))
	names := strings.Split(strings.TrimSpace(string(head)), ",")
	if len(names) < 2 || slices.Contains(names, "") {
		return nil, nil
	}
	columns := NodeColumns{names[0]: "node"}
	for _, column := range names[1:] {
		property := strings.TrimPrefix(strings.ToLower(column), "ent ")
		columns[column] = strings.ReplaceAll(property, " ", "_")
	}
	return columns, nil
}

// mappedRelations reads the names of relations by their numbers, from the first two columns of a
// file with a header.
func mappedRelations(folder fs.FS, name string) (map[string]string, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, _, err := decompress(f)
	if err != nil {
		return nil, err
	}
	table := csv.NewReader(io.LimitReader(in, maxRelationNames))
	table.FieldsPerRecord, table.ReuseRecord = -1, true
	relations, used := map[string]string{}, map[string]bool{}
	for line := 1; ; line++ {
		record, err := table.Read()
		switch {
		case err == io.EOF:
			return relations, nil
		case err != nil:
			return nil, err
		case len(record) < 2:
			return nil, fmt.Errorf("line %d: columns: found %d, expected the number of a relation and its name", line, len(record))
		case line == 1:
			continue
		case used[record[1]] || record[1] == "":
			continue // it keeps its number, so that it does not become another relation
		}
		relations[record[0]], used[record[1]] = record[1], true
	}
}

// maxRelationNames bounds what is read of a file of names of relations, in bytes.
const maxRelationNames = 64 << 20

// countTypes reads a file with a header of the types of nodes and a line of their numbers. It
// returns a part for each type that has nodes.
func countTypes(folder fs.FS, name string) (types []Part, err error) {
	text, err := readSmall(folder, name)
	if err != nil {
		return nil, err
	}
	lines := strings.Fields(string(text))
	if len(lines) != 2 {
		return nil, fmt.Errorf("%d lines, expected the types of nodes and the numbers of one graph", len(lines))
	}
	names, numbers := strings.Split(lines[0], ","), strings.Split(lines[1], ",")
	if len(names) != len(numbers) {
		return nil, fmt.Errorf("%d types and %d numbers", len(names), len(numbers))
	}
	for i := range names {
		n, err := strconv.Atoi(numbers[i])
		if err != nil || n < 0 || n > maxNodes {
			return nil, fmt.Errorf("%.100q is not the number of nodes of a type", numbers[i])
		}
		if n > 0 {
			types = append(types, Part{Label: names[i], count: n})
		}
	}
	return types, nil
}

// readSmall returns the content of a compressed file, and io.ErrShortBuffer with the start of a
// file that is longer than a file of few numbers.
func readSmall(folder fs.FS, name string) ([]byte, error) {
	const most = 16 << 10
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, _, err := decompress(f)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && len(text) > most {
		err = io.ErrShortBuffer
	}
	return text, err
}

// maxNodes is the largest number of nodes that is accepted.
const maxNodes = 1 << 28

// countNodes reads a file with the number of nodes of a graph.
func countNodes(folder fs.FS, name string) (int, error) {
	text, err := readSmall(folder, name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n < 0 || n > maxNodes {
		return 0, fmt.Errorf("%.100q is not the number of nodes of one graph", text)
	}
	return n, nil
}

func exists(folder fs.FS, name string) bool {
	_, err := fs.Stat(folder, name)
	return err == nil
}

// splitParts returns the files with the links of a split.
func splitParts(folder fs.FS, split string) (parts []Part, err error) {
	ways, err := entries(folder, "split")
	if err != nil {
		return nil, fmt.Errorf("edgelist: split %q: the folder has no folder split: %w", split, err)
	}
	way, list, ok := strings.Cut(split, "/")
	if !ok {
		way, list = "", split
	}
	switch {
	case way == "" && len(ways) == 1:
		way = ways[0]
	case !slices.Contains(ways, way):
		return nil, fmt.Errorf("edgelist: split %q: a way to split must be named%s, as in random0/train", split, among(ways))
	}
	if list == "all" {
		list = "train,valid,test"
	}
	files, _ := entries(folder, path.Join("split", way)) // a missing file is reported below
	for name := range strings.SplitSeq(list, ",") {
		if name != "train" && name != "valid" && name != "test" {
			return nil, fmt.Errorf("edgelist: split %q (accepted: train, valid, test, all, several between commas, and the way to split before them, as in random0/train)", split)
		}
		p := Part{Name: path.Join("split", way, name+".pt"), Kind: Edges}
		if !slices.Contains(files, name+".pt") {
			return nil, fmt.Errorf("edgelist: split %q: %s is not there%s", split, p.Name, among(files))
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// entries returns the names in a directory.
func entries(folder fs.FS, dir string) (names []string, err error) {
	list, err := fs.ReadDir(folder, dir)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names, err
}

// among lists up to 10 names, for a message.
func among(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (there are: " + strings.Join(names[:min(len(names), 10)], ", ") + ")"
}

// Open opens the file, to be read according to its kind.
func (p Part) Open(folder fs.FS) (io.ReadCloser, error) {
	if p.count > 0 {
		return io.NopCloser(&counter{n: p.count}), nil
	}
	f, err := folder.Open(p.Name)
	if err != nil {
		return nil, fmt.Errorf("edgelist: %w", err)
	}
	if p.beside == [roleCount]string{} {
		return f, nil
	}
	return p.join(folder, f)
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

// joined is a text with a header. Each of its lines joins a line of each of several files, which
// have a column or more.
type joined struct {
	names []string
	files []io.Closer
	lines []*bufio.Reader
	rest  []byte
	n     int   // number of lines read
	err   error // of the next read, after rest
}

// join returns the edges of a file with the weights and times that other files have in the same
// order.
func (p Part) join(folder fs.FS, edges io.ReadCloser) (io.ReadCloser, error) {
	j := &joined{rest: []byte("source,target")}
	err := j.add(p.Name, edges)
	for r, name := range p.beside {
		if name == "" || err != nil {
			continue
		}
		var f io.ReadCloser
		if f, err = folder.Open(name); err == nil {
			err = j.add(name, f)
		}
		j.rest = append(append(j.rest, ','), roles[r].heads...)
	}
	j.rest = append(j.rest, '\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("edgelist: %w", err), j.Close())
	}
	return j, nil
}

// add adds a file. It decompresses the file, and closes it if it cannot be read.
func (j *joined) add(name string, f io.ReadCloser) error {
	j.files = append(j.files, f)
	in, _, err := decompress(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	j.names, j.lines = append(j.names, name), append(j.lines, bufio.NewReaderSize(in, maxLine))
	return nil
}

// Read implements io.Reader.
func (j *joined) Read(b []byte) (int, error) {
	for len(j.rest) < len(b) && j.err == nil {
		j.err = j.next()
	}
	if len(j.rest) == 0 {
		return 0, j.err
	}
	n := copy(b, j.rest)
	j.rest = j.rest[:copy(j.rest, j.rest[n:])]
	return n, nil
}

// next appends the next line to rest. It returns io.EOF if all files end.
func (j *joined) next() error {
	ended := 0
	for i, in := range j.lines {
		line, err := in.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			err = errors.New("line is longer than 1 MiB")
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: line %d: %w", j.names[i], j.n+1, err)
		}
		if err == io.EOF && len(line) == 0 {
			ended++
		}
		if i > 0 && ended > 0 && ended <= i {
			return fmt.Errorf("%s and %s do not have the same number of lines: one has %d", j.names[0], j.names[i], j.n)
		}
		if i > 0 && ended == 0 {
			j.rest = append(j.rest, ',')
		}
		j.rest = append(j.rest, bytes.TrimRight(line, "\r\n")...)
	}
	if ended > 0 {
		return io.EOF
	}
	j.rest = append(j.rest, '\n')
	j.n++
	return nil
}

// Close implements io.Closer.
func (j *joined) Close() (err error) {
	for _, f := range j.files {
		err = errors.Join(err, f.Close())
	}
	return err
}
