package main

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/db/edgelist"
	"kith/db/edgelist/parquet"
	"kith/db/words"
	"kith/query"
)

// load implements the subcommand load.
type load struct {
	directed         bool
	dryRun           bool
	progress         bool  // print lines of progress
	memory           int64 // Options.Memory
	options          db.LoadOptions
	labels, features []string // files
	keyless          bool
	properties       edgelist.PropertyOptions
	nodeLabel        string // label of the nodes in files of labels and features
	sha256           string
	errors           string    // file for all malformed lines; "" means none
	rejected         io.Writer // the opened file of errors
	lines            int64     // number of lines of edges loaded
	stdin            io.Reader
	stdout           io.Writer
	stderr           io.Writer
}

const (
	loadText = `Load adds the edges of files to a database, which it makes if it does not exist. A file
is an edge list of the SNAP collection (two keys per line, separated by blanks, with an
optional relation, weight or time), CSV or TSV with or without a header, lists of a node and all nodes
that it links to (--format lists), Matrix Market, a NumPy array
of two or three columns (.npy, .npz), the links of a split (.pt), N-Triples (.nt), lines of
JSON (.jsonl), or Parquet; plain, gzip, zstd or bzip2. The format is detected from the first bytes. A file may be - for standard input, a
URL, or a folder of the Open Graph Benchmark, whose labels, features, relations, weights and
years are loaded too. Other formats, such as GraphML, DOT or a pointer of Git LFS, are refused
with an error that says what to do instead. Notes name what was not read: columns, arrays
of a .npz or .pt file, files of a folder.

Separators, quotes, comments and a header are detected from the first lines. What is in doubt
is told in a note, with the flag that reads the file otherwise: --separator, --quotes,
--comments or --header. Lines that begin with # or % are comments, unless most lines begin so
or the file is a table with a header.

Columns are detected from the header or the first lines, unless --columns gives their order
(src,dst,time) or their names or places (src=user_id,dst=item_id,time=4). A column relation, as
in src,relation,dst, names the relation of each edge; --relation gives all edges one, and
--negative sends the edges with a negative weight to one of their own. Times may be
seconds, milliseconds or smaller units since 1970, with fractions too, dates such as
2006-01-02 and 2006/01/02, 2006-01-02 15:04 in UTC or with a zone as +02, +0200 or Z, RFC 3339,
Mon, 02 Jan 2006 15:04:05 GMT, or years. An empty time or 0 means no time, and times after
the year 9999 are refused. The summary says what was read and which columns were not used.

A list of edges is loaded completely or not at all, whatever its length. An edge that is
repeated, or exists, gets the last weight, so loading a list again changes nothing. With
--repeats sum its weights are added up, with --repeats count its lines are counted, both
in addition to the weight it had. The latest time is kept. Loops are kept. In an undirected
graph a-b and b-a are one edge.

A list may use the same numbers for nodes of two kinds, such as users and items. With
--source-label user --target-label item the source 7 is the node 'user:7', the target 7 is
the node 'item:7', and the nodes have these labels.

A line of labels has a key and a label, a line of features a key and numbers. The further columns
of a file of labels with a header are properties of the nodes; --types, --node-columns, --skip and
--list-separator say what its header and values do not. Tables in the
notation of Neo4j (:START_ID, :END_ID(Film), :TYPE; :ID(Film), :LABEL) are read too: 7 of the
space Film is the node 'Film:7', and of several labels a node gets the first. Labels and features are
loaded before the edges. A list of labels is loaded completely or not at all; features are
committed while they are read. Loading them again changes nothing.

With --format gorse the files are the users, items and feedback that Gorse exports, as CSV or lines
of JSON, in any order. The user 7 becomes the node 'user:7' with label user, an item 'item:7'. A
type of feedback is a relation, its value the weight. Labels and categories become the property
tags; hidden, timestamp and comment are properties too.`

	loadExamples = `  kith load social.kith facebook_combined.txt
  kith load wiki.kith --directed wiki-Vote.txt
  kith load messages.kith --columns src,dst,time --repeats count CollegeMsg.txt.gz
  kith load shop.kith --columns src=user_id,dst=item_id,time=created_at visits.csv
  kith load movies.kith --source-label user --target-label item --columns src,dst,weight,time u.data
  kith load gowalla.kith --format lists --source-label user --target-label item train.txt
  kith load shop.kith --format gorse users.csv items.csv feedback.csv
  kith load cora.kith --split random0/train cora/
  kith load shop.kith --labels kinds.csv --features vectors.parquet bought.csv.zst
  kith load facts.kith --directed --columns src,relation,dst train.tsv.gz
  kith load trust.kith --directed --relation trust --negative distrust epinions.txt
  kith load web.kith --sha256 3f2a... https://example.org/web.txt.gz
  generate | kith load big.kith --max-errors 100 --errors rejected.txt -
  kith load big.kith --dry-run rmat.txt`
)

func newLoad() *cobra.Command {
	l := load{options: db.LoadOptions{Tables: parquet.Format{}}}
	cmd := &cobra.Command{
		Use:     "load DB [FILE...]",
		Short:   "Add edge lists to a database",
		Long:    loadText,
		Example: loadExamples,
		Args:    cobra.MatchAll(cli.AtLeast("DB"), filesFrom(1, 0)),
		PreRunE: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 && len(l.labels)+len(l.features) == 0 {
				return errors.New("a file is missing")
			}
			if l.sha256 != "" && len(slices.DeleteFunc(slices.Concat(args[1:], l.labels, l.features), isFile)) != 1 {
				return errors.New("--sha256 needs exactly one FILE that is a URL")
			}
			return nil
		},
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			l.stdin, l.stdout, l.stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			return l.run(ctx, args[0], args[1:])
		}),
	}
	l.flags(cmd)
	return cmd
}

func (l *load) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&l.directed, "directed", false, "make a directed graph, or directed relations in an existing graph")
	parsed := func(name, usage string, to encoding.TextUnmarshaler) {
		f.Func(name, usage, func(text string) error { return to.UnmarshalText([]byte(text)) })
	}
	parsed("format", "format of the files: snap, csv, tsv, mtx, npy, npz, pt, parquet, nt, jsonl, lists, gorse or ogb, a folder (default: detected)", &l.options.Format)
	f.Func("columns", "columns: src, relation, dst, weight and time in their order, as src,dst,time, or their names: src=user_id,dst=item_id,time=at (default: detected)", l.options.SetColumns)
	parsed("times", "format of times: s, ms, us or ns since 1970, rfc3339, datetime, date, year or rfc2822 (default: detected)", &l.options.Times)
	parsed("repeats", "weight of a repeated edge: last, sum, count (its lines) or error (default: last)", &l.options.Repeats)
	f.StringVar(&l.nodeLabel, "node-label", "", "label of the nodes in files of labels and features: 7 is the node 'LABEL:7'")
	f.StringVar(&l.options.Split, "split", "", "edges of a folder: train, valid, test or all of its split, as random0/train where it has several (default: those of raw)")
	f.StringVar(&l.options.Relation, "relation", "", "relation of all edges, which is made if it does not exist (default: the column of relations, if there is one)")
	f.StringVar(&l.options.Negative, "negative", "", "relation of edges with a negative weight, which is made positive (default: such lines are malformed)")
	f.StringVar(&l.options.SourceLabel, "source-label", "", "label of the sources: 7 becomes the node 'LABEL:7'")
	f.StringVar(&l.options.TargetLabel, "target-label", "", "label of the targets: 7 becomes the node 'LABEL:7'")
	parsed("header", "whether the first line names the columns: yes or no (default: detected)", &l.options.Header)
	parsed("separator", "what separates columns: blank, tab, comma, semicolon, bar, or characters such as :: (default: detected)", &l.options.Separator)
	parsed("quotes", "whether quotes enclose columns: yes, no, or backslash, if \\\" stands for a quote in them (default: detected)", &l.options.Quotes)
	parsed("comments", "whether lines that begin with # or % are comments: yes or no (default: detected)", &l.options.Comments)
	f.StringArrayVar(&l.labels, "labels", nil, "file with a key and a label per line and, with a header, properties; may be repeated")
	f.StringArrayVar(&l.features, "features", nil, "file with a key and numbers per line, a .npy array, or Parquet; may be repeated")
	parsed("node-columns", "columns of a file of labels whose names do not say what they mean: node, label or a property, as label=kind,points=score", &l.properties.NodeColumns)
	parsed("skip", "columns of a file of labels that are not read, as comment,7", &l.properties.Skip)
	parsed("types", "types of properties, as price:float,tags:list; bool, integer, float, string, time or list (default: from the header, as price:float, or the values)", &l.properties.Types)
	f.StringVar(&l.properties.ListSeparator, "list-separator", "", "what separates the strings of a list; a column in which it occurs has lists (default: ; or | in a column of type list)")
	f.BoolVar(&l.keyless, "keyless", false, "the files of labels and features have no keys: the first line is node 0")
	f.IntVar(&l.options.MaxErrors, "max-errors", 0, "number of malformed lines of a file to skip; a file with more is not loaded; -1 means any number")
	f.StringVar(&l.errors, "errors", "", "file to write all malformed lines to")
	f.StringVar(&l.sha256, "sha256", "", "checksum of the file at the URL")
	f.BoolVar(&l.dryRun, "dry-run", false, "load nothing; print what would be loaded and how much memory and disk it needs")
	cli.ProgressFlag(f, &l.progress)
	cli.MemoryFlag(f, &l.memory)
	offered(cmd, "format", edgelist.Formats()...)
	offered(cmd, "columns", "src,dst", "src,dst,weight", "src,dst,time", "src,dst,weight,time", "src,relation,dst")
	offered(cmd, "header", "yes", "no")
	offered(cmd, "separator", "blank", "tab", "comma", "semicolon", "bar")
	offered(cmd, "quotes", "yes", "no", "backslash")
	offered(cmd, "comments", "yes", "no")
	offered(cmd, "repeats", "last", "sum", "count", "error")
	offered(cmd, "times", edgelist.TimeFormats()...)
}

// run loads the files in turn. If no file could be loaded, it removes the database that it created.
func (l *load) run(ctx context.Context, path string, files []string) (err error) {
	list, err := l.all(files)
	if err != nil {
		return err
	}
	if l.errors != "" {
		f, err := query.OpenFile(ctx, l.errors, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			return err
		}
		l.rejected = f
		defer func() { err = errors.Join(err, f.Close()) }()
	}
	o := limited(l.memory)
	if l.directed {
		l.options.Direction = db.Directed
		if cli.MissingOrEmpty(path) {
			o.Direction = db.Directed
		}
	}
	_, err = os.Lstat(path)
	made, loaded := errors.Is(err, os.ErrNotExist) && !l.dryRun, 0
	if o.ReadOnly = l.dryRun; l.dryRun && cli.MissingOrEmpty(path) {
		path, o.ReadOnly, o.InMemory = "", false, true
	}
	// The memory of a load stays in use until it ends. Collecting twice as often costs no time and
	// saves a third of the memory.
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	err = with(path, o, func(g *db.DB) error {
		for _, in := range list {
			if err := l.file(ctx, g, in); err != nil {
				return err
			}
			loaded++
		}
		return nil
	})
	if made && loaded == 0 && err != nil && !errors.Is(err, syscall.EROFS) {
		return errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// all returns the files to load, nodes before edges, and checks them before anything is loaded.
func (l *load) all(files []string) (list []input, err error) {
	for _, group := range []struct {
		files []string
		kind  edgelist.Kind
	}{{l.labels, edgelist.Labels}, {l.features, edgelist.Features}, {files, edgelist.Edges}} {
		for _, file := range group.files {
			some, err := l.inputs(file, group.kind)
			if err != nil {
				return nil, err
			}
			list = append(list, some...)
		}
	}
	if l.options.Split != "" && !slices.ContainsFunc(list, func(in input) bool { return in.part != nil }) {
		return nil, errors.New("--split needs a FILE that is a folder")
	}
	return list, nil
}

// file loads one file and prints a summary. With --dry-run, it prints what loading a list of edges
// would add, and the memory and disk space that the graph would need.
func (l *load) file(ctx context.Context, g *db.DB, in input) error {
	if l.dryRun && in.kind != edgelist.Edges {
		return nil
	}
	f, size, err := in.open(ctx)
	if err != nil {
		return err
	}
	o := l.options
	if o.Name = in.name; in.part != nil {
		o = o.ForPart(*in.part)
	}
	o.Malformed = func(err error) { l.reject(in.name, err) }
	began, bar := time.Now(), cli.NewBar(l.stderr, l.progress)
	watched := &edgelist.Meter{R: f, Tell: func(read int64, ended bool) {
		if ended { // the remaining time is unknown
			bar.Show(cli.State{What: in.name + ", read; sorting and writing", Units: progress.UnitsBytes, Done: read})
		} else {
			bar.Show(cli.State{What: in.name, Units: progress.UnitsBytes, Done: read, Total: size})
		}
	}}
	var refused *edgelist.Refusal
	o.DryRun = l.dryRun
	var report *db.LoadReport
	kind, r, err := edgelist.KindOf(watched, o.Format)
	if in.kind == edgelist.Edges {
		in.kind = kind
	}
	if skipped := l.dryRun && in.kind != edgelist.Edges; err == nil && !skipped {
		report, err = in.read(ctx, g, r, o, l.properties)
	}
	bar.End()
	if err = errors.Join(err, f.Close()); err == nil && report == nil {
		return nil
	}
	l.malformed(in.name, report)
	switch {
	case errors.Is(err, db.ErrLines):
		return fmt.Errorf("%s: not loaded because of malformed lines; kith load --max-errors N skips up to N", in.name)
	case errors.As(err, &refused):
		spell := asFlag
		if in.kind != edgelist.Edges {
			spell = asNodeFlag
		}
		return fmt.Errorf("%s: not loaded: %s", in.name, refused.Text(spell))
	case err != nil:
		return fmt.Errorf("%s: not loaded: %w", in.name, err)
	}
	return l.summarize(in, report, time.Since(began))
}

// read loads an opened file.
func (in *input) read(ctx context.Context, g *db.DB, r io.Reader, o db.LoadOptions, properties edgelist.PropertyOptions) (*db.LoadReport, error) {
	if in.kind == edgelist.Edges {
		return g.Load(ctx, r, o)
	}
	load := g.LoadNodes
	if in.part != nil && in.part.Columns != nil {
		properties = edgelist.PropertyOptions{NodeColumns: in.part.Columns}
	}
	if in.kind == edgelist.Features {
		load, properties = g.LoadFeatures, edgelist.PropertyOptions{}
	}
	return load(ctx, r, db.LoadNodesOptions{
		Format: o.Format, Name: o.Name, Dialect: o.Dialect, Label: in.label, Keyless: in.keyless, Tables: o.Tables, PropertyOptions: properties,
		MaxErrors: o.MaxErrors, Malformed: o.Malformed, Progress: o.Progress,
	})
}

// summarize prints the report of a file.
func (l *load) summarize(in input, r *db.LoadReport, took time.Duration) error {
	text := nodesSummary(r)
	if in.kind == edgelist.Edges {
		text = edgesSummary(r)
		l.lines += r.Lines
	}
	for _, note := range slices.Concat(r.Notes, in.notes) {
		fmt.Fprintf(l.stderr, "kith: %s: %s\n", in.name, note.Text(asFlag))
	}
	text = fmt.Sprintf("%s: %s, %.2f s\n", in.name, text, took.Seconds())
	if l.dryRun {
		text += fmt.Sprintf("%s: nothing was loaded; the whole graph would take %s of memory, which it has with --memory %s or more, and up to %s on disk\n",
			in.name, byteSize(r.Memory), byteSize(r.Required), byteSize(r.Disk))
	}
	_, err := io.WriteString(l.stdout, text)
	return err
}

// reject writes a malformed line to the file of errors.
func (l *load) reject(name string, err error) {
	var line *edgelist.LineError
	if l.rejected != nil && errors.As(err, &line) {
		fmt.Fprintf(l.rejected, "%s:%d: %s: %q\n", name, line.Line, line.Msg, line.Text)
	}
}

// malformed prints the first malformed lines.
func (l *load) malformed(name string, r *db.LoadReport) {
	if r == nil {
		return
	}
	for _, err := range r.Errors {
		var line *edgelist.LineError
		if errors.As(err, &line) {
			fmt.Fprintf(l.stderr, "kith: %s:%d: %s: %q%s\n", name, line.Line, line.Msg, line.Text, flagHint(line))
		}
	}
}

// flagHint returns a hint with the flag that accepts a malformed line, or "".
func flagHint(e *edgelist.LineError) string {
	if e.Option == "" {
		return ""
	}
	return "; try " + asFlag(edgelist.Setting{Option: e.Option, Value: e.Value})
}

// asFlag returns a setting as a flag of the command.
func asFlag(s edgelist.Setting) string {
	if s.Option == "directed" {
		return "--directed"
	}
	if yes, ok := map[string]string{"on": "yes", "off": "no"}[s.Value]; ok {
		s.Value = yes
	}
	if strings.ContainsAny(s.Value, " \t;|'\"$&<>*") {
		s.Value = "'" + strings.ReplaceAll(s.Value, "'", `'\''`) + "'"
	}
	return fmt.Sprintf("--%s %s", strings.ReplaceAll(s.Option, "_", "-"), s.Value)
}

// asNodeFlag is asFlag for files of nodes.
func asNodeFlag(s edgelist.Setting) string {
	if s.Option == "columns" {
		s.Option = "node_columns"
	}
	return asFlag(s)
}

// edgesSummary describes a load of edges in one line.
func edgesSummary(r *db.LoadReport) string {
	s := fmt.Sprintf("%s, %s, %s", words.Count(r.Lines, "line"), describeNodes(r), describeEdges(r.Edges, r.Loops))
	if r.Relations > 0 {
		s += fmt.Sprintf(", %s", words.Count(r.Relations, "relation"))
	}
	s += ", " + describeRepeats(r)
	s = fmt.Sprintf("%s%s, columns %s%s, %s", s, describeLeftOut(r), r.Read(), describeColumns(r), describeFormat(r))
	if r.Directed {
		return s + ", directed"
	}
	return s + ", undirected"
}

// describeColumns describes how times were read, which columns are properties, and which were not
// used.
func describeColumns(r *db.LoadReport) (s string) {
	if r.Times != edgelist.AnyTime {
		s = ", times " + r.Times.Describe()
	}
	if len(r.Properties) > 0 {
		s += ", properties " + edgelist.PropertyNames(r.Properties)
	}
	switch {
	case len(r.Unused) > 0 && r.Header:
		s += ", not used: " + strings.Join(r.Unused, ", ")
	case len(r.Unused) > 0:
		s += ", columns not used: " + strings.Join(r.Unused, ", ")
	}
	return s
}

// describeNodes describes the number of nodes added, by label.
func describeNodes(r *db.LoadReport) string {
	s := words.Count(r.Nodes, "node")
	switch {
	case r.SourceLabel != "" && r.TargetLabel != "" && r.SourceLabel != r.TargetLabel:
		s += fmt.Sprintf(" (%d %s, %d %s)", r.Sources, r.SourceLabel, r.Targets, r.TargetLabel)
	case r.SourceLabel != "":
		s += fmt.Sprintf(" (%d %s)", r.Sources, r.SourceLabel)
	case r.TargetLabel != "":
		s += fmt.Sprintf(" (%d %s)", r.Targets, r.TargetLabel)
	}
	return s
}

// describeRepeats describes how repeated edges were treated.
func describeRepeats(r *db.LoadReport) string {
	s := fmt.Sprintf("%d repeated", r.Repeated)
	if r.Repeated == 0 {
		return s
	}
	switch r.Repeats {
	case db.SumWeights:
		s += " (weights summed)"
	case db.CountRepeats:
		s += " (counted)"
	default:
		s += fmt.Sprintf(" (last kept, %d had another weight or time)", r.Differing)
	}
	if r.BothWays > 0 {
		s += fmt.Sprintf(", %s in both directions", words.Count(r.BothWays, "edge"))
	}
	return s
}

// nodesSummary describes a load of labels or features in one line.
func nodesSummary(r *db.LoadReport) string {
	return fmt.Sprintf("%s, %s added%s%s, %s",
		words.Count(r.Lines, "line"), words.Count(r.Nodes, "node"), describeLeftOut(r), describeColumns(r), describeFormat(r))
}

func describeFormat(r *db.LoadReport) string {
	if r.Header {
		return r.Format.String() + " with a header"
	}
	return r.Format.String()
}

// describeLeftOut describes the lines that were left out.
func describeLeftOut(r *db.LoadReport) (s string) {
	if r.Comments > 0 {
		s = ", " + words.Count(r.Comments, "comment")
	}
	if r.Skipped > 0 {
		s += fmt.Sprintf(", %s skipped", words.Count(r.Skipped, "malformed line"))
	}
	return s
}
