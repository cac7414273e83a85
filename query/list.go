package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"strings"

	"kith/db"
	"kith/query/parse"
)

// listKinds returns the statements that read and write lists and backups.
func listKinds() []kind {
	const nodes = "file, lines (number of lines read), nodes (nodes added), skipped (malformed lines)"
	const list = "file, lines (number of lines written), format, columns"
	nodeList := func(parse.Statement, func(string) bool) []option { return nodeOptions(&loading{}) }
	return []kind{
		{
			name: "LOAD EDGES", run: does[*parse.Load]((*run).loadEdges),
			columns: "file, lines (number of lines read), nodes (nodes added), edges (edges added), loops, repeated (lines of an edge that the list has already), " +
				"differing (those with another weight or time), both_ways (edges that the list has in both directions), skipped (malformed lines), columns",
			options: func(parse.Statement, func(string) bool) []option { return edgeOptions(&loading{}) },
		},
		{name: "LOAD NODES", columns: nodes, run: does[*parse.Load]((*run).loadNodes), options: nodeList},
		{name: "LOAD FEATURES", columns: nodes, run: does[*parse.Load]((*run).loadNodes), options: nodeList},
		{name: "EXPORT EDGES", access: joins, columns: list, run: does[*parse.Simple]((*run).exportList)},
		{name: "EXPORT NODES", access: joins, columns: list, run: does[*parse.Simple]((*run).exportList)},
		{name: "EXPORT FEATURES", access: joins, columns: list, run: does[*parse.Simple]((*run).exportList)},
		{name: "BACKUP", columns: "file, version, records, bytes", run: does[*parse.Simple]((*run).backup)},
	}
}

func (r *run) loadEdges(s *parse.Load) (*Rows, error) {
	how, err := r.loading(s.File, s.Format, s.With, edgeOptions)
	if err != nil {
		return nil, err
	}
	rows := r.answer()
	if info, err := os.Stat(how.Name); err == nil && info.IsDir() {
		return rows, r.loadFolder(rows, s.File, how)
	}
	if how.split != "" {
		return nil, &Error{Pos: s.File.Position(), Msg: "split is of a folder, " + how.Name + " is a file", Err: db.ErrInput}
	}
	report, err := r.loadFile(s.File, how, func(f io.Reader) (*db.LoadReport, error) {
		return r.session.DB.Load(r.ctx, f, how.LoadOptions)
	})
	if err != nil {
		return nil, err
	}
	rows.addEdges(how.Name, report)
	return rows, nil
}

// loadFolder loads the files of a folder and adds a row for each.
func (r *run) loadFolder(rows *Rows, file parse.Value, how *loading) error {
	saw := r.session.progressOf(nil)
	reports, err := r.session.DB.LoadFolder(r.ctx, watchedFolder{os.DirFS(how.Name), saw}, db.FolderOptions{LoadOptions: how.LoadOptions, Split: how.split})
	if err != nil {
		return r.positioned(file.Position(), fmt.Errorf("%s: %w", how.Name, err))
	}
	for _, part := range reports {
		rows.addEdges(path.Join(how.Name, part.Name), part)
	}
	return nil
}

// addEdges adds the row of a loaded file.
func (rows *Rows) addEdges(name string, report *db.LoadReport) {
	var columns any // nil for a list of nodes
	if report.Columns > 0 {
		columns = report.Read()
	}
	rows.add(name, report.Lines, report.Nodes, report.Edges, report.Loops,
		report.Repeated, report.Differing, report.BothWays, report.Skipped, columns)
	rows.report(report)
}

func (r *run) loadNodes(s *parse.Load) (*Rows, error) {
	how, err := r.loading(s.File, s.Format, s.With, nodeOptions)
	if err != nil {
		return nil, err
	}
	load := r.session.DB.LoadNodes
	if s.What == parse.FeatureList {
		load = r.session.DB.LoadFeatures
	}
	report, err := r.loadFile(s.File, how, func(f io.Reader) (*db.LoadReport, error) {
		return load(r.ctx, f, how.NodesOptions)
	})
	if err != nil {
		return nil, err
	}
	rows := r.answer()
	rows.add(how.Name, report.Lines, report.Nodes, report.Skipped)
	rows.report(report)
	return rows, nil
}

// report adds notes about a load and its malformed lines.
func (rows *Rows) report(report *db.LoadReport) {
	if report.Times > 0 {
		rows.note("times: %s", report.Times.Describe())
	}
	if len(report.Unused) > 0 {
		rows.note("columns not used: %s", strings.Join(report.Unused, ", "))
	}
	for _, note := range report.Notes() {
		rows.note("%s", note)
	}
	for _, bad := range report.Errors {
		rows.note("skipped: %s", plainly(bad))
	}
}

// loading holds the options of a LOAD.
type loading struct {
	db.NodesOptions
	split string
}

// loading resolves the clauses of a LOAD.
func (r *run) loading(file parse.Value, format parse.Name, with []parse.Option, options func(*loading) []option) (*loading, error) {
	name, err := r.text(file)
	if err != nil {
		return nil, err
	}
	var how loading
	how.Name = name
	if format.Value != "" {
		if how.Format, err = db.ParseFormat(format.Value); err != nil {
			return nil, r.positioned(format.Pos, err)
		}
	}
	return &how, r.setOptions(with, options(&how))
}

// loadFile opens the file of a LOAD and passes it to load.
func (r *run) loadFile(file parse.Value, how *loading, load func(io.Reader) (*db.LoadReport, error)) (*db.LoadReport, error) {
	f, err := os.Open(how.Name)
	if err != nil {
		return nil, r.filed(file, err)
	}
	defer f.Close() // read only
	report, err := load(&watched{f, r.session.progressOf(f)})
	if err != nil {
		return nil, r.positioned(file.Position(), fmt.Errorf("%s: %w", how.Name, err))
	}
	return report, nil
}

// watched is a reader that reports each read to saw.
type watched struct {
	io.Reader
	saw func(n int)
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.saw(n)
	return n, err
}

// watchedFolder is a folder that reports each read of its files to saw.
type watchedFolder struct {
	fs.FS
	saw func(n int)
}

// Open implements [fs.FS].
func (w watchedFolder) Open(name string) (fs.File, error) {
	f, err := w.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return f, err
	}
	return &watchedFile{f, watched{f, w.saw}}, nil
}

// watchedFile is a file of a watchedFolder.
type watchedFile struct {
	fs.File
	watched watched
}

// Read implements [fs.File].
func (w *watchedFile) Read(p []byte) (int, error) { return w.watched.Read(p) }

// progressOf returns a function that reports the bytes read to Progress. f is the file read; nil means one of several
// files, whose total size is unknown.
func (s *Session) progressOf(f *os.File) func(n int) {
	if s.Progress == nil {
		return func(int) {}
	}
	p := Progress{What: Bytes}
	if f != nil {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			p.Total = info.Size()
		}
	}
	return func(n int) {
		p.Done += int64(n)
		s.Progress(p)
	}
}

// edgeOptions returns the options of LOAD EDGES.
func edgeOptions(o *loading) []option {
	columns := option{"columns", "'src,dst', 'src,dst,weight', 'src,dst,time', 'src,dst,weight,time', or 'src=NAME,dst=NAME,...'",
		"meaning of the columns, or their names in the header; detected by default", func(r *run, w parse.Option) error {
			text, err := r.text(w.Value)
			if err != nil {
				return err
			}
			return o.SetColumns(text)
		}}
	return []option{
		columns,
		maxErrors(o),
		textOption("repeats", "last, sum, count or error", "weight of an edge that occurs several times; last by default", &o.Repeats, db.ParseRepeats),
		textOption("split", "a name", "split of a folder of the Open Graph Benchmark", &o.split, asWritten),
		textOption("times", "auto, s, ms, us, ns, rfc3339, datetime or date", "unit or format of the times; auto by default", &o.Times, db.ParseTimes),
		textOption("source_label", "a label", "label of the sources, which are then called 'label:key'", &o.SourceLabel, asWritten),
		textOption("target_label", "a label", "label of the targets, which are then called 'label:key'", &o.TargetLabel, asWritten),
	}
}

// nodeOptions returns the options of LOAD NODES and LOAD FEATURES.
func nodeOptions(o *loading) []option {
	return []option{
		onOff("keyless", "the file has no keys: its first line describes node 0; off by default", &o.Keyless),
		textOption("label", "a label", "label of all nodes, which are then called 'label:key'", &o.Label, asWritten),
		maxErrors(o),
	}
}

func maxErrors(o *loading) option {
	return integerOption("max_errors", "number of malformed lines that are skipped; 0 by default", 0, math.MaxInt64, &o.MaxErrors)
}

func (r *run) exportList(s *parse.Simple) (*Rows, error) {
	name, err := r.text(s.Value())
	if err != nil {
		return nil, err
	}
	format, packing, err := db.ParseFile(name)
	if err != nil {
		return nil, r.positioned(s.Value().Position(), err)
	}
	o := db.ListOptions{Format: format}
	if tell := r.session.Progress; tell != nil {
		o.Progress = func(lines int64) { tell(Progress{What: "lines", Done: lines}) }
	}
	rows := r.answer()
	return rows, r.view(func(tx *db.Tx) error {
		write := map[string]func(context.Context, io.Writer, db.ListOptions) (db.ListReport, error){
			"EXPORT EDGES": tx.WriteEdges, "EXPORT NODES": tx.WriteNodes, "EXPORT FEATURES": tx.WriteFeatures,
		}[s.Name]
		return r.export(s.Value(), func(file string, w io.Writer) error {
			packed, err := db.Pack(w, packing)
			if err != nil {
				return err
			}
			report, err := write(r.ctx, packed, o)
			rows.add(file, report.Lines, report.Format.String(), report.Columns)
			return errors.Join(err, packed.Close())
		})
	})
}

func (r *run) backup(s *parse.Simple) (*Rows, error) {
	name, err := r.text(s.Value())
	if err != nil {
		return nil, err
	}
	if err := replaceable(name); err != nil {
		return nil, r.filed(s.Value(), err)
	}
	rows := r.answer()
	return rows, r.export(s.Value(), func(file string, w io.Writer) error {
		b, err := r.session.DB.WriteTo(r.ctx, w)
		rows.add(file, int64(b.Seq), b.Entries, b.Bytes)
		return err
	})
}

// replaceable returns an error if name is an existing file that is not a backup, so that a backup does not overwrite
// it.
func replaceable(name string) error {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() // read only
	if info, err := f.Stat(); err != nil || info.Mode().IsRegular() && info.Size() > 0 && !db.IsBackup(f) {
		return errors.Join(err, fmt.Errorf("%s: there is a file that is no backup, and is kept", name))
	}
	return nil
}
