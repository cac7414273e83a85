package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"kith/db"
	"kith/query/parse"
)

func (r *run) loadEdges(s *parse.LoadEdges) (*Rows, error) {
	how, err := r.loading(s.File, s.Format, s.With, edgeOptions())
	if err != nil {
		return nil, err
	}
	rows := &Rows{Columns: []string{"file", "lines", "nodes", "edges", "loops", "repeated", "differing", "both_ways", "skipped", "columns"}}
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

func (r *run) loadNodes(s *parse.LoadNodes) (*Rows, error) {
	how, err := r.loading(s.File, s.Format, s.With, nodeOptions())
	if err != nil {
		return nil, err
	}
	load := r.session.DB.LoadNodes
	if s.Features {
		load = r.session.DB.LoadFeatures
	}
	report, err := r.loadFile(s.File, how, func(f io.Reader) (*db.LoadReport, error) {
		return load(r.ctx, f, how.NodesOptions)
	})
	if err != nil {
		return nil, err
	}
	rows := &Rows{Columns: []string{"file", "lines", "nodes", "skipped"}}
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
func (r *run) loading(file parse.Value, format parse.Name, with []parse.Option, options []loadOption) (*loading, error) {
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
	for _, w := range with {
		if err := r.loadOption(&how, w, options); err != nil {
			return nil, err
		}
	}
	return &how, nil
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

// loadOption is one option of a LOAD.
type loadOption struct {
	name string
	set  func(r *run, o *loading, v parse.Value) error
}

// edgeOptions returns the options of LOAD EDGES.
func edgeOptions() []loadOption {
	return []loadOption{
		{"columns", (*run).columns},
		{"max_errors", (*run).maxErrors},
		{"repeats", func(r *run, o *loading, v parse.Value) error { return parsed(r, v, db.ParseRepeats, &o.Repeats) }},
		{"split", func(r *run, o *loading, v parse.Value) (err error) { o.split, err = r.text(v); return err }},
		{"times", func(r *run, o *loading, v parse.Value) error { return parsed(r, v, db.ParseTimes, &o.Times) }},
		{"source_label", func(r *run, o *loading, v parse.Value) (err error) { o.SourceLabel, err = r.text(v); return err }},
		{"target_label", func(r *run, o *loading, v parse.Value) (err error) { o.TargetLabel, err = r.text(v); return err }},
	}
}

// nodeOptions returns the options of LOAD NODES and LOAD FEATURES.
func nodeOptions() []loadOption {
	return []loadOption{
		{"keyless", func(r *run, o *loading, v parse.Value) error { return parsed(r, v, parseKeyless, &o.Keyless) }},
		{"label", func(r *run, o *loading, v parse.Value) (err error) { o.Label, err = r.text(v); return err }},
		{"max_errors", (*run).maxErrors},
	}
}

func (r *run) columns(o *loading, v parse.Value) error {
	text, err := r.text(v)
	if err != nil {
		return err
	}
	return o.SetColumns(text)
}

func (r *run) maxErrors(o *loading, v parse.Value) error {
	n, err := r.integer(v, 0, 0)
	o.MaxErrors = int(n)
	return err
}

// parsed sets *to to the parsed text of v.
func parsed[T any](r *run, v parse.Value, parse func(string) (T, error), to *T) error {
	text, err := r.text(v)
	if err != nil {
		return err
	}
	*to, err = parse(text)
	return err
}

func parseKeyless(s string) (bool, error) {
	if s != "on" && s != "off" {
		return false, fmt.Errorf("%w: keyless = %q (accepted: on or off)", db.ErrInput, s)
	}
	return s == "on", nil
}

// loadOption sets the option that w names.
func (r *run) loadOption(o *loading, w parse.Option, options []loadOption) error {
	var names []string
	for _, option := range options {
		if option.name == w.Name {
			return r.positioned(w.Pos, option.set(r, o, w.Value))
		}
		names = append(names, option.name)
	}
	return unknownOption(w, names)
}

func (r *run) exportList(s *parse.ExportList) (*Rows, error) {
	name, err := r.text(s.File)
	if err != nil {
		return nil, err
	}
	format, packing, err := db.ParseFile(name)
	if err != nil {
		return nil, r.positioned(s.File.Position(), err)
	}
	o := db.ListOptions{Format: format}
	if tell := r.session.Progress; tell != nil {
		o.Progress = func(lines int64) { tell(Progress{What: "lines", Done: lines}) }
	}
	rows := &Rows{Columns: []string{"file", "lines", "format", "columns"}}
	return rows, r.view(func(tx *db.Tx) error {
		write := map[parse.List]func(context.Context, io.Writer, db.ListOptions) (db.ListReport, error){
			parse.EdgeList: tx.WriteEdges, parse.NodeList: tx.WriteNodes, parse.FeatureList: tx.WriteFeatures,
		}[s.What]
		return r.export(s.File, func(file string, w io.Writer) error {
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

func (r *run) backup(s *parse.Backup) (*Rows, error) {
	name, err := r.text(s.File)
	if err != nil {
		return nil, err
	}
	if err := replaceable(name); err != nil {
		return nil, r.filed(s.File, err)
	}
	rows := &Rows{Columns: []string{"file", "version", "records", "bytes"}}
	return rows, r.export(s.File, func(file string, w io.Writer) error {
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

// listSteps returns the plan of a statement that reads or writes a list or a backup.
func listSteps(stmt parse.Statement) []db.Step {
	put := db.Step{Name: "write", Detail: "a file beside, which takes the place of the old one when it is whole"}
	switch s := stmt.(type) {
	case *parse.LoadEdges:
		return []db.Step{
			{Name: "read", Detail: s.File.String() + ", all of it"},
			{Name: "sort", Detail: "its edges together with those that are there, in memory"},
			{Name: "write", Detail: "a new generation of adjacency blocks"},
			{Name: "commit", Detail: "the record that makes it count: all of the list or none"},
		}
	case *parse.LoadNodes:
		return []db.Step{
			{Name: "read", Detail: s.File.String() + ", line by line"},
			{Name: "commit", Detail: "some thousand lines at a time, each synced unless the database is opened otherwise"},
		}
	case *parse.ExportList:
		return []db.Step{{Name: "read", Detail: "what is in memory, in the order in which it is stored"}, put}
	case *parse.Backup:
		return []db.Step{{Name: "read", Detail: "every record of the version that is there now"}, put}
	}
	return nil
}
