package db_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// An error about a name says of what kind the name is, what is accepted and what was probably
// meant.
func TestErrorsNameThings(t *testing.T) {
	t.Parallel()
	g, ctx := dbtest.Open(t, inMemory), context.Background()
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(tx.PutNode(db.Node{Key: db.Int(1), Label: "person"}), tx.PutEdge(1, "two"), tx.PutEdge("20", "Ann"))
	})
	must(t, g.Model("friends").Create(ctx, db.ModelSpec{}))
	predict := func(p db.PredictOptions) error {
		_, err := g.Predict(ctx, p)
		return err
	}
	in := func(f func(tx *db.Tx) error) error { return g.Update(ctx, f) }
	for text, c := range map[string]struct {
		err  error
		is   error
		want db.Error
	}{
		"no node 'x'": {predict(db.PredictOptions{For: "x"}), db.ErrNotFound, db.Error{Kind: "node", Name: "'x'"}},
		"no node '1'; there is a node 1, an integer":           {predict(db.PredictOptions{For: "1"}), db.ErrNotFound, db.Error{Kind: "node", Name: "'1'", DidYouMean: "1"}},
		"no node ' 1'; there is a node 1, an integer":          {in(func(tx *db.Tx) error { return tx.DeleteNode(" 1") }), db.ErrNotFound, db.Error{Kind: "node", Name: "' 1'", DidYouMean: "1"}},
		"no node 20; there is a node '20', a string":           {in(func(tx *db.Tx) error { return tx.DeleteEdge(20, 1) }), db.ErrNotFound, db.Error{Kind: "node", Name: "20", DidYouMean: "'20'"}},
		"no node 'TWO'; there is a node 'two'":                 {predict(db.PredictOptions{For: "TWO"}), db.ErrNotFound, db.Error{Kind: "node", Name: "'TWO'", DidYouMean: "'two'"}},
		"no node 'ann'; there is a node 'Ann'":                 {predict(db.PredictOptions{For: "ann"}), db.ErrNotFound, db.Error{Kind: "node", Name: "'ann'", DidYouMean: "'Ann'"}},
		"no node 'two '; there is a node 'two'":                {predict(db.PredictOptions{For: "two "}), db.ErrNotFound, db.Error{Kind: "node", Name: "'two '", DidYouMean: "'two'"}},
		"no node ' '":                                          {in(func(tx *db.Tx) error { _, err := tx.Node(" "); return err }), db.ErrNotFound, db.Error{Kind: "node", Name: "' '"}},
		"no edge 'two' -> 'two'":                               {in(func(tx *db.Tx) error { return tx.DeleteEdge("two", "two") }), db.ErrNotFound, db.Error{Kind: "edge", Name: "'two' -> 'two'"}},
		"node 1 exists already":                                {in(func(tx *db.Tx) error { return tx.AddNode(db.Node{Key: db.Int(1)}) }), db.ErrExists, db.Error{Kind: "node", Name: "1"}},
		`no label "preson"`:                                    {predict(db.PredictOptions{For: 1, Among: db.Label("preson")}), db.ErrNotFound, db.Error{Kind: "label", Name: "preson", DidYouMean: "person"}},
		`no model "freinds"`:                                   {predict(db.PredictOptions{For: 1, Model: "freinds"}), db.ErrNoModel, db.Error{Kind: "model", Name: "freinds", DidYouMean: "friends"}},
		`no model "kazt"`:                                      {predict(db.PredictOptions{For: 1, Model: "kazt"}), db.ErrNoModel, db.Error{Kind: "model", Name: "kazt", DidYouMean: "katz"}},
		`no model "katz"`:                                      {g.Model("katz").Drop(ctx), db.ErrNoModel, db.Error{Kind: "model", Name: "katz"}},
		`model "friends" exists already`:                       {g.Model("friends").Create(ctx, db.ModelSpec{}), db.ErrExists, db.Error{Kind: "model", Name: "friends"}},
		`model "friends" has no version 2 (it has 1)`:          {predict(db.PredictOptions{For: 1, Model: "friends", Version: 2}), db.ErrNoModel, db.Error{Kind: "version", Name: "2"}},
		"decision 7 was never made":                            {g.Reward(ctx, 7, 1), db.ErrNoDecision, db.Error{Kind: "decision", Name: "7"}},
		`unknown estimator "sinps" (accepted: ips, snips, dr)`: {func() error { _, err := g.EvaluateLog(ctx, db.EvaluateLogOptions{Estimator: "sinps"}); return err }(), db.ErrInput, db.Error{Kind: "estimator", Name: "sinps", DidYouMean: "snips"}},
		`unknown explorer "squarcb" (accepted: squarecb, epsilon_greedy)`: {func() error {
			_, err := g.Choose(ctx, db.ChooseOptions{For: 1, Explore: db.Explorer{Name: "squarcb"}})
			return err
		}(), db.ErrInput,
			db.Error{Kind: "explorer", Name: "squarcb", DidYouMean: "squarecb"}},
	} {
		var e *db.Error
		if !errors.As(c.err, &e) || !errors.Is(c.err, c.is) || c.err.Error() != text {
			t.Errorf("got %v, want %s", c.err, text)
			continue
		}
		if e.Kind != c.want.Kind || e.Name != c.want.Name || e.DidYouMean != c.want.DidYouMean {
			t.Errorf("%s: got %s %s, did you mean %q", text, e.Kind, e.Name, e.DidYouMean)
		}
		if e.DidYouMean != "" && e.Kind != "node" && !slices.Contains(e.Accepted, e.DidYouMean) {
			t.Errorf("%s: %s is not among %q", text, e.DidYouMean, e.Accepted)
		}
	}
}
