package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"kith/db"
	"kith/query/parse"
)

// transferKinds returns the statements that read and write files of models and of the log.
func transferKinds() []kind {
	return []kind{
		{name: "EXPORT MODEL", access: joins, columns: "file, model, version, bytes", run: does[*parse.ExportModel]((*run).exportModel)},
		{name: "EXPORT LOG", access: joins, columns: "file, observations, decisions", run: does[*parse.Simple]((*run).exportLog)},
		{
			name: "IMPORT MODEL", run: does[*parse.ImportModel]((*run).importModel),
			columns: "model, version, deployed, known (nodes of the model that the database has), forgotten (nodes that it lacks)",
		},
	}
}

func (r *run) exportModel(s *parse.ExportModel) (*Rows, error) {
	rows := r.answer()
	return rows, r.view(func(tx *db.Tx) error {
		version, err := r.version(s.Version)
		if err != nil {
			return err
		}
		if version == 0 {
			m, err := tx.Model(r.model(s.Name))
			if err != nil {
				return err
			}
			version = m.Version
		}
		return r.export(s.File, func(file string, w io.Writer) error {
			counted := &counter{to: w}
			err := tx.ExportModel(r.ctx, s.Name.Value, version, counted)
			rows.add(file, s.Name.Value, int64(version), counted.bytes)
			return err
		})
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

// export writes the file that a statement names. An error has the position of the file name.
func (r *run) export(file parse.Value, write func(name string, w io.Writer) error) error {
	name, err := r.text(file)
	if err != nil {
		return err
	}
	if err = writeFile(name, func(w io.Writer) error { return write(name, w) }); err != nil {
		return r.filed(file, err)
	}
	return nil
}

// filed gives an error about a file the position of the file name in the statement. An error of the context is
// returned unchanged.
func (r *run) filed(file parse.Value, err error) error {
	if r.ctx.Err() != nil {
		return err
	}
	return &Error{Pos: file.Position(), Msg: plainly(err), Err: err}
}

func (r *run) importModel(s *parse.ImportModel) (*Rows, error) {
	name, err := r.text(s.File)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, r.filed(s.File, err)
	}
	defer f.Close() // read only
	m, err := r.session.DB.ImportModel(r.ctx, s.Name.Value, f)
	if err != nil {
		return nil, r.filed(s.File, err)
	}
	rows := r.answer()
	rows.add(m.Model, int64(m.Version), m.Deployed, int64(m.Known), int64(m.Forgotten))
	if m.Forgotten > 0 {
		rows.note("the database has %d of the %d nodes that the model remembers; what it knew of the others is gone", m.Known, m.Known+m.Forgotten)
	}
	if !m.Deployed {
		rows.remarkHeld(m.Model, m.Version)
		return rows, nil
	}
	return rows, r.view(func(tx *db.Tx) error {
		of, err := tx.Model(m.Model)
		if err == nil && of.Trained {
			rows.remarkAnswering(tx, of)
		}
		return err
	})
}

func (r *run) exportLog(s *parse.Simple) (*Rows, error) {
	rows := r.answer()
	return rows, r.view(func(tx *db.Tx) error {
		return r.export(s.Value(), func(file string, w io.Writer) error {
			l := logWriter{run: r, to: w}
			if err := l.write(tx); err != nil {
				return err
			}
			rows.add(file, l.observations, l.decisions)
			return nil
		})
	})
}

// logWriter writes a log as lines of JSON, one for each record.
type logWriter struct {
	*run
	to                      io.Writer
	observations, decisions int64
}

func (l *logWriter) write(tx *db.Tx) error {
	for o, err := range tx.Observations() {
		if err == nil {
			l.observations++
			err = l.line("observation", o)
		}
		if err != nil {
			return err
		}
	}
	for d, err := range tx.Decisions() {
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
	if done := l.observations + l.decisions; done%1000 == 0 && l.session.Progress != nil {
		l.session.Progress(Progress{What: "records", Done: done})
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
