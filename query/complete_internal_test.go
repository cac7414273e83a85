package query

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// vocabulary returns some models, labels, nodes and files.
func vocabulary() Vocabulary {
	files := func(prefix string) []string { return withPrefix(prefix, []string{"a.csv", "b's", "sub/"}) }
	return Vocabulary{Files: files, Run: func(_ context.Context, statement string) (*Rows, error) {
		all := map[string][]any{
			"SHOW MODELS": {"friends", "my model"}, "SHOW LABELS": {"item"}, "NODES TOP 1000": {db.Int(1), db.Int(12), db.Str("ann b"), db.Str("bob")},
		}[statement]
		rows := &Rows{}
		for _, v := range all {
			rows.Rows = append(rows.Rows, []any{v})
		}
		return rows, nil
	}}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, word, values string }{
		{"PRE", "PRE", "PREDICT"},
		{"pre", "pre", "predict"},
		{"PREDICT ", "", "LINKS"},
		{"CHECK; SHOW MO", "MO", "MODELS"},
		{"PREDICT LINKS F", "F", "FOR"},
		{"PREDICT LINKS FOR 1", "1", "1 12"},
		{"PREDICT LINKS FOR 'a", "'a", "'ann b'"},
		{"PREDICT LINKS FOR 'ann ", "'ann ", "'ann b'"},
		{"PREDICT LINKS FOR 1 AM", "AM", "AMONG"},
		{"PREDICT LINKS FOR 1 AMONG N", "N", "NEIGHBORS NEAR("},
		{"PREDICT LINKS FOR 1 AMONG NEIGHBORS", "NEIGHBORS", "NEIGHBORS"},
		{"PREDICT LINKS FOR 1 AMONG NEIGHBORS(2) t", "t", "top"},
		{"PREDICT LINKS FOR 1 USING f", "f", "friends"},
		{"PREDICT LINKS FOR 1 USING j", "j", "jaccard"},
		{"DROP MODEL ", "", `friends "my model"`},
		{"predict links for 1 using fr", "fr", "friends"},
		{`DESCRIBE MODEL "my`, `"my`, `"my model"`},
		{"CREATE MODEL m USING prb_g", "prb_g", "prb_greedy"},
		{"CREATE MODEL ", "", ""},
		{"CREATE MODEL m ", "", "USING WITH("},
		{"TRAIN MODEL fr", "fr", "friends"},
		{"PREDICT LINKS FOR 1 AMONG LABEL ", "", "item"},
		{"EVALUATE friends ON LOG USING s", "s", "snips"},
		{"CHOOSE LINK FOR 1 AMONG ALL EXPLORE e", "e", "epsilon_greedy"},
		{"LOAD EDGES FROM 'a", "'a", "'a.csv'"},
		{"LOAD EDGES FROM '", "'", "'a.csv' 'b''s' 'sub/"},
		{"LOAD EDGES FROM 'b''", "'b''", "'b''s'"},
		{"LOAD EDGES FROM 'a.csv' FORMAT n", "n", "npy npz nt"},
		{"PREDICT LINKS FOR 1 RETURN ex", "ex", "exploit explore exact"},
		{"PROFILE NODES WHERE e", "e", "edges"},
		{"RANK NODES FOR 1 WITH (alpha = 0.5, n", "n", "norm"},
		{"SET t", "t", "times timeout"},
		{"NO SUCH THING ", "", ""},
		{"CHECK -- PRE", "", ""},
		{"HELP EV", "EV", "EVALUATE"},
		{"HELP EVALUATE ", "", "HOLDOUT SPLIT LOG"},
		{"SHOW PO", "PO", "POLICIES"},
	} {
		word, values := Complete(t.Context(), c.text, vocabulary())
		if got := strings.Join(values, " "); word != c.word || got != c.values {
			t.Errorf("%q: got %q, %q, want %q, %q", c.text, word, got, c.word, c.values)
		}
	}
}

// TestNames checks that the names of a database are spelt as statements spell them.
func TestNames(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	err := g.Update(t.Context(), func(tx *db.Tx) error {
		for i := range 2 * maxOffered {
			if err := tx.PutNode(db.Node{Key: db.Int(int64(i)), Label: "my item"}); err != nil {
				return err
			}
		}
		return errors.Join(
			tx.PutNode(db.Node{Key: db.Str("o'neill"), Properties: map[string]any{"price": 1, "my tag": "a"}}), tx.PutEdge("o'neill", 7, db.Via("likes")),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Model("m").Create(t.Context(), db.ModelSpec{}); err != nil {
		t.Fatal(err)
	}
	n := Vocabulary{Run: func(ctx context.Context, statement string) (*Rows, error) {
		if show, _, names := strings.Cut(statement, " RETURN "); !names && (show == "SHOW PROPERTIES" || show == "SHOW RELATIONS") {
			t.Errorf("%s reads all values or edges for the names", statement)
		}
		return Run(ctx, g, statement)
	}}
	found := func(ctx context.Context, text string, most int) (all []db.Key, err error) {
		err = g.View(ctx, func(tx *db.Tx) (err error) {
			all, err = KeysBeginning(ctx, tx, text, most)
			return err
		})
		return all, err
	}
	for _, keys := range []func(context.Context, string, int) ([]db.Key, error){nil, found} {
		n.Keys = keys
		checkNames(t, n)
	}
}

// checkNames checks the names of the database of TestNames.
func checkNames(t *testing.T, n Vocabulary) {
	t.Helper()
	ctx := t.Context()
	if got := len(n.nodes(ctx, "")); got != maxOffered {
		t.Errorf("%d nodes", got)
	}
	for what, c := range map[string]struct{ got, want []string }{
		"models":           {n.models(ctx), []string{"m"}},
		"labels":           {n.labels(ctx), []string{`"my item"`}},
		"relations":        {n.relations(ctx), []string{"likes"}},
		"properties":       {n.properties(ctx), []string{`"my tag"`, "price"}},
		"nodes with 19":    {n.nodes(ctx, "19")[:3], []string{"19", "190", "191"}},
		"nodes with 'o":    {n.nodes(ctx, "'o"), []string{"'o''neill'"}},
		"nodes with 'nope": {n.nodes(ctx, "'nope"), nil},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", what, c.got, c.want)
		}
	}
}
