package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
	"kith/query"
)

// TestInteract checks a typed session, independent of the terminal.
func TestInteract(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	err := g.Update(t.Context(), func(tx *db.Tx) error {
		if err := tx.PutNode(db.Node{Key: db.Int(1), Label: "item"}); err != nil {
			return err
		}
		return tx.PutEdge(1, 2)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Model("my model").Create(t.Context(), model.Spec{}); err != nil {
		t.Fatal(err)
	}
	in := "NEIGHBORS\nOF 1;\nNEIGHBORS OF 7; SHOW MODELS;\n.mode jsonlines\n.timer off\n\nNEIGHBORS OF 2\n"
	var out, errs bytes.Buffer
	s := &session{engine: newLocal(g), out: &out, err: &errs, mode: tableMode}
	if err := interact(context.Background(), s, "g.kith", plainPrompt(strings.NewReader(in), &out, s.promptText)); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	for _, want := range []string{
		"kith, g.kith: 2 nodes, 1 edge, 1 model.\nA statement ends with a semicolon; .help helps, Ctrl-D ends.\n",
		Prompt + secondary + "┌",
		"1 row (",
		Prompt + secondary + `{"source":2,"target":1,`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.Contains(got, "│ my model") {
		t.Error("the statement behind one that failed was run")
	}
	if want := "kith: 1:14: no node 7\nNEIGHBORS OF 7;\n             ^\n"; errs.String() != want {
		t.Errorf("errors are %q, want %q", errs.String(), want)
	}
}

// TestInterrupt checks that a cancelled statement ends a script, even with --keep-going, but not a
// typed session.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	s := &session{engine: newLocal(g), out: &out, err: &errs, mode: jsonLinesMode, keepGoing: true}
	err := s.end(s.script(ctx, "", strings.NewReader("CHECK; CHECK;")))
	if !errors.Is(err, context.Canceled) || errs.Len() > 0 {
		t.Errorf("the script ended with %v and said %q", err, errs.String())
	}
	asked := 0
	err = interact(t.Context(), s, "g.kith", func() (string, error) {
		switch asked++; asked {
		case 1:
			return "", context.Canceled
		case 2:
			return "", errDropped
		case 3:
			return ".quit", nil
		}
		return "", io.ErrUnexpectedEOF
	})
	if err != nil || asked != 3 || errs.String() != "kith: interrupted\n" {
		t.Errorf("the session was asked for %d texts, ended with %v and said %q", asked, err, errs.String())
	}
}

// TestSchemaOfManyLabels checks that .schema lists the labels with the most nodes, and says that
// there are more.
func TestSchemaOfManyLabels(t *testing.T) {
	t.Parallel()
	stats := &query.Rows{Columns: []string{"name", "value"}, Rows: [][]any{{"labels", int64(3)}}}
	labels := &query.Rows{Columns: []string{"label", "nodes"}, Rows: [][]any{{"user", int64(2)}, {"item", int64(1)}}}
	rows := schemaRows(stats, labels, &query.Rows{})
	if len(rows.Rows) != 3 || rows.Rows[1][1] != "user" || len(rows.Notes) != 1 || !strings.Contains(rows.Notes[0], "3 labels") {
		t.Errorf("the schema is %v, with notes %q", rows.Rows, rows.Notes)
	}
	stats.Rows[0][1] = int64(2)
	if rows := schemaRows(stats, labels, &query.Rows{}); len(rows.Notes) != 0 {
		t.Errorf("all labels are shown, with notes %q", rows.Notes)
	}
}
