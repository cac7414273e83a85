package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"kith/query/internal/parse"
)

// transferActions returns the statements that read and write files of models and of the log.
func transferActions() []action {
	return []action{
		{name: "EXPORT MODEL", access: joins, columns: named("file", "model", "version", "bytes"), run: viewing((*run).exportModel)},
		{name: "EXPORT LOG", access: joins, columns: named("file", "observations", "decisions"), run: viewing((*run).exportLog)},
		{
			name: "IMPORT MODEL", run: (*run).importModel,
			columns: []column{
				{name: "model"}, {name: "version"}, {name: "deployed"},
				{"known", "nodes of the model that the database has"},
				{"forgotten", "nodes that it lacks"},
			},
		},
	}
}

func (r *run) exportModel(s *parse.Statement) {
	model, version := r.model(parse.Model.Of(s)), r.version(parse.Version.Of(s))
	if version == 0 {
		m, err := r.tx.Model(model).Info(r.ctx)
		r.fail(err)
		version = m.Version
	}
	r.writeFile(parse.To.Of(s), func(file string, w io.Writer) error {
		counted := &counter{to: w}
		err := r.tx.Model(model).Export(r.ctx, counted, version)
		r.rows.add(file, model, int64(version), counted.bytes)
		return err
	})
}

// counter counts the bytes written through it.
type counter struct {
	to    io.Writer
	bytes int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.bytes += int64(n)
	return n, err
}

func (r *run) importModel(s *parse.Statement) {
	r.readFile(parse.From.Of(s), func(f io.Reader) error {
		m, err := r.session.DB.Model(parse.Model.Of(s).Value).Import(r.ctx, f)
		if err != nil {
			r.fileError(parse.From.Of(s), err)
			return nil
		}
		r.rows.add(m.Model, int64(m.Version), m.Deployed, int64(m.Known), int64(m.Forgotten))
		if m.Forgotten > 0 {
			r.rows.note("the database has %d of the %d nodes that the model remembers; what it knew of the others is gone", m.Known, m.Known+m.Forgotten)
		}
		if !m.Deployed {
			r.rows.remarkHeld(m.Model, m.Version)
			return nil
		}
		r.viewChanged(func() {
			of, err := r.tx.Model(m.Model).Info(r.ctx)
			if !r.fail(err) && of.Trained {
				r.rows.remarkAnswering(r.ctx, r.tx, of)
			}
		})
		return nil
	})
}

func (r *run) exportLog(s *parse.Statement) {
	if name := r.text(parse.To.Of(s)); strings.EqualFold(filepath.Ext(name), ".parquet") {
		r.fileError(parse.To.Of(s), fmt.Errorf("%s: a log is written as lines of JSON, not as Parquet", name))
	}
	r.writeFile(parse.To.Of(s), func(file string, w io.Writer) error {
		l := logWriter{run: r, to: w}
		err := l.write()
		r.rows.add(file, l.observations, l.decisions)
		return err
	})
}

// logWriter writes a log as lines of JSON, one for each record.
type logWriter struct {
	*run
	to                      io.Writer
	observations, decisions int64
}

func (l *logWriter) write() error {
	for o, err := range l.tx.Observations() {
		if err == nil {
			l.observations++
			err = l.line("observation", o)
		}
		if err != nil {
			return err
		}
	}
	for d, err := range l.tx.Decisions() {
		if err == nil {
			l.decisions++
			err = l.line("decision", d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// line writes the JSON of a record, with its kind as the first member.
func (l *logWriter) line(kind string, record any) error {
	if done := l.observations + l.decisions; done%1000 == 0 {
		l.progress("records", done, 0)
	}
	if err := l.ctx.Err(); err != nil {
		return err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(record); err != nil {
		return err
	}
	_, err := fmt.Fprintf(l.to, "{\"kind\":%q,%s", kind, b.Bytes()[1:])
	return err
}
