package query

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"kith/db"
	"kith/db/edgelist"
	"kith/db/words"
	"kith/query/internal/parse"
)

// listActions returns the statements that read and write lists and backups.
func listActions() []action {
	nodes := []column{
		{name: "file"}, {"lines", "number of lines read"}, {"nodes", "nodes added"},
		{"skipped", "malformed lines"},
	}
	list := []column{
		{name: "file"}, {"lines", "number of lines written"}, {name: "format"}, {name: "columns"},
	}
	return []action{
		{
			name: "LOAD EDGES", run: (*run).loadEdges,
			columns: []column{
				{name: "file"}, {"lines", "number of lines read"}, {"nodes", "nodes added"},
				{"edges", "edges added"}, {name: "loops"},
				{"repeated", "lines of an edge that the list has already"},
				{"differing", "those with another weight or time"},
				{"both_ways", "edges that the list has in both directions"},
				{"skipped", "malformed lines"}, {name: "columns"},
			},
			options: always(edgeOptions),
		},
		{name: "LOAD NODES", columns: nodes, run: loadingNodes((*db.DB).LoadNodes, labelOptions), options: always(labelOptions)},
		{name: "LOAD FEATURES", columns: nodes, run: loadingNodes((*db.DB).LoadFeatures, nodeOptions), options: always(nodeOptions)},
		{name: "EXPORT EDGES", access: joins, columns: list, run: exporting((*db.Tx).WriteEdges)},
		{name: "EXPORT NODES", access: joins, columns: list, run: exporting((*db.Tx).WriteNodes)},
		{name: "EXPORT FEATURES", access: joins, columns: list, run: exporting((*db.Tx).WriteFeatures)},
		{name: "BACKUP", columns: named("file", "version", "records", "bytes"), run: (*run).backup},
	}
}

func (r *run) loadEdges(s *parse.Statement) {
	l := &db.LoadOptions{Tables: r.session.Tables, Name: r.text(parse.From.Of(s))}
	r.format(s, &l.Format)
	r.setOptions(parse.With.All(s), edgeOptions(l))
	if info, err := os.Stat(l.Name); err == nil && info.IsDir() {
		r.loadFolder(parse.From.Of(s), l)
		return
	}
	if l.Split != "" {
		r.refuse(parse.From.Of(s), "option split needs a folder, and %s is a file", l.Name)
	}
	r.readFile(parse.From.Of(s), func(f io.Reader) error {
		report, err := r.session.DB.Load(r.ctx, f, *l)
		if err == nil {
			r.rows.addLoad(l.Name, report)
		}
		return err
	})
}

// loadFolder loads the files of a folder and adds a row for each.
func (r *run) loadFolder(file parse.Value, l *db.LoadOptions) {
	if r.err != nil {
		return
	}
	l.Progress = r.progressOfLines
	reports, err := r.session.DB.LoadFolder(r.ctx, os.DirFS(l.Name), *l)
	r.failIn(file, err)
	for _, part := range reports {
		r.rows.addLoad(path.Join(l.Name, part.Name), part)
	}
}

// addLoad adds the row of a loaded file.
func (rows *Rows) addLoad(name string, report *db.LoadReport) {
	var columns any // nil for a list of nodes
	if report.Columns != edgelist.Auto {
		columns = report.Read()
	}
	rows.add(name, report.Lines, report.Nodes, report.Edges, report.Loops,
		report.Repeated, report.Differing, report.BothWays, report.Skipped, columns)
	rows.noteLoad(report)
}

// loadingNodes returns the runner of a statement that loads a list of nodes.
func loadingNodes(load func(*db.DB, context.Context, io.Reader, db.LoadNodesOptions) (*db.LoadReport, error), options func(*db.LoadNodesOptions) []option) runner {
	return func(r *run, s *parse.Statement) {
		l := db.LoadNodesOptions{Tables: r.session.Tables, Name: r.text(parse.From.Of(s))}
		r.format(s, &l.Format)
		r.setOptions(parse.With.All(s), options(&l))
		r.readFile(parse.From.Of(s), func(f io.Reader) error {
			report, err := load(r.session.DB, r.ctx, f, l)
			if err == nil {
				r.rows.add(l.Name, report.Lines, report.Nodes, report.Skipped)
				r.rows.noteLoad(report)
			}
			return err
		})
	}
}

// noteLoad adds notes about a load and its malformed lines.
func (rows *Rows) noteLoad(report *db.LoadReport) {
	if report.Times > 0 {
		rows.note("times: %s", report.Times.Describe())
	}
	if len(report.Properties) > 0 {
		rows.note("properties: %s", edgelist.PropertyNames(report.Properties))
	}
	if len(report.Unused) > 0 {
		rows.note("columns not used: %s", strings.Join(report.Unused, ", "))
	}
	if report.Comments > 0 {
		rows.note("left out as comments: %s", words.Count(report.Comments, "line"))
	}
	rows.noteList(report.Notes)
	for _, bad := range report.Errors {
		rows.note("skipped: %s", words.Plain(bad))
	}
}

// noteList adds the notes about a list.
func (rows *Rows) noteList(notes []edgelist.Note) {
	for _, note := range notes {
		rows.note("%s", note)
	}
}

// format reads the format that a LOAD gives, if it gives one.
func (r *run) format(s *parse.Statement, to *edgelist.Format) {
	if format := parse.Format.Of(s); format.Value != "" {
		r.unmarshal(format, format.Value, to)
	}
}

// edgeOptions returns the options of LOAD EDGES.
func edgeOptions(o *db.LoadOptions) []option {
	columns := option{"columns", "src, relation, dst, weight and time in the order of the columns, as in 'src,relation,dst', or 'src=NAME,dst=NAME,...'",
		"meaning of the columns, or their names in the header; detected by default",
		func(r *run, given parse.Option) { r.fail(o.SetColumns(r.text(given.Value))) }}
	return append([]option{
		columns,
		maxErrors(&o.MaxErrors),
		parsedOption("repeats", "last, sum, count or error", "weight of an edge that occurs several times; last by default", &o.Repeats),
		textOption("split", "a name", "split of a folder of the Open Graph Benchmark", &o.Split),
		parsedOption("times", "auto, s, ms, us, ns, rfc3339, datetime, date, year or rfc2822", "unit or format of the times; auto by default", &o.Times),
		onOff("directed", "whether the relations that the list makes have a direction; as the database by default", func(on bool) { o.Direction = directionOf(on) }),
		textOption("relation", "a relation", "relation of all edges, which is made if it does not exist", &o.Relation),
		textOption("negative", "a relation", "relation of the edges with a negative weight, which is made positive; malformed lines by default", &o.Negative),
		textOption("source_label", "a label", "label of the sources, which are then called 'label:key'", &o.SourceLabel),
		textOption("target_label", "a label", "label of the targets, which are then called 'label:key'", &o.TargetLabel),
	}, dialectOptions(&o.Dialect)...)
}

// directionOf returns the direction of relations that are directed, or not.
func directionOf(directed bool) db.Direction {
	if directed {
		return db.Directed
	}
	return db.Undirected
}

// edgeOptionsBut returns the options of LOAD EDGES without some.
func edgeOptionsBut(o *db.LoadOptions, names ...string) []option {
	return slices.DeleteFunc(edgeOptions(o), func(o option) bool { return slices.Contains(names, o.name) })
}

// labelOptions returns the options of LOAD NODES.
func labelOptions(o *db.LoadNodesOptions) []option {
	return append([]option{
		parsedOption("columns", "MEANING=COLUMN, as in 'node=sku,label=kind,points=score'", "what columns mean whose names do not say it: node, label, or the name of a property; a number is a column's position", &o.NodeColumns),
		parsedOption("skip", "columns, as in 'comment,7'", "columns that are not read", &o.Skip),
		parsedOption("types", "NAME:TYPE, as in 'price:float,tags:list'", "types of properties: bool, integer, float, string, time or list; by default from the header, as price:float, or the values", &o.Types),
		textOption("list_separator", "characters", "what separates the strings of a list: a column in which they occur has lists; by default a semicolon or a bar in a column of type list", &o.ListSeparator),
	}, nodeOptions(o)...)
}

// nodeOptions returns the options of LOAD FEATURES.
func nodeOptions(o *db.LoadNodesOptions) []option {
	return append([]option{
		onOff("keyless", "the file has no keys: its first line describes node 0; off by default", func(on bool) { o.Keyless = on }),
		textOption("label", "a label", "label of all nodes, which are then called 'label:key'", &o.Label),
		maxErrors(&o.MaxErrors),
	}, dialectOptions(&o.Dialect)...)
}

// dialectOptions returns the options that say how a text is divided into lines and columns.
func dialectOptions(d *edgelist.Dialect) []option {
	return []option{
		parsedOption("comments", "auto, on or off", "whether lines that begin with # or % are comments; auto by default", &d.Comments),
		parsedOption("header", "auto, on or off", "whether the first line names the columns; auto by default", &d.Header),
		parsedOption("quotes", "auto, on, off or backslash", `whether quotes enclose columns, where a doubled quote or \" stands for a quote; auto by default`, &d.Quotes),
		parsedOption("separator", "auto, blank, tab, comma, semicolon, bar, or characters such as '::'", "what separates columns; auto by default", &d.Separator),
	}
}

func maxErrors(most *int) option {
	return integerOption("max_errors", "number of malformed lines that are skipped; 0 by default", 0, math.MaxInt64, most)
}

// exporting returns the runner of a statement that writes a list.
func exporting(write func(*db.Tx, context.Context, io.Writer, db.ListOptions) (db.ListReport, error)) runner {
	return viewing(func(r *run, s *parse.Statement) {
		format, packing, err := edgelist.FormatOf(r.text(parse.To.Of(s)))
		if err != nil {
			r.refuse(parse.To.Of(s), "%s", words.Plain(err))
		}
		o := db.ListOptions{Format: format, Tables: r.session.Tables, Progress: r.progressOfLines}
		r.via(parse.Via.All(s), nil, func() {
			r.writeFile(parse.To.Of(s), func(file string, w io.Writer) error {
				packed, err := edgelist.Compress(w, packing)
				if err != nil {
					return err
				}
				report, err := write(r.tx, r.ctx, packed, o)
				r.rows.add(file, report.Lines, report.Format.String(), report.Columns)
				return errors.Join(err, packed.Close())
			})
		})
	})
}

func (r *run) backup(s *parse.Statement) {
	r.fileError(parse.To.Of(s), db.CheckBackupFile(r.text(parse.To.Of(s))))
	r.writeFile(parse.To.Of(s), func(file string, w io.Writer) error {
		b, err := r.session.DB.WriteTo(r.ctx, w)
		r.rows.add(file, int64(b.Seq), b.Entries, b.Bytes)
		return err
	})
}
