package query_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// related returns a session on a database with relations.
func related(t *testing.T) *query.Session {
	t.Helper()
	s := &query.Session{DB: dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})}
	for _, text := range []string{
		"CREATE RELATION likes WITH (directed = on)", "INSERT EDGES 'ann' -[likes]-> 'p1', 'bob' -[likes]-> 'p1', 'bob' -[likes]-> 'p2', 'ann' -> 'bob'",
		"CREATE MODEL m", "CHOOSE LINK likes FOR 'ann' AMONG ALL USING m",
	} {
		if _, err := s.Run(context.Background(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return s
}

// A statement that names an unknown relation fails where it names it, suggests the relation that is
// meant, and changes nothing.
func TestUnknownRelation(t *testing.T) {
	t.Parallel()
	s := related(t)
	ctx := context.Background()
	for _, text := range []string{
		"DELETE EDGES 'ann' -[#]-> 'p1'",
		"OBSERVE 'ann' -[#]-> 'p2' = 1 AND INSERT",
		"WHY 'ann' -[#]-> 'p2'",
		"PREDICT LINKS # FOR 'ann'",
		"PREDICT LINKS # FOR ALL TOP 3 EACH",
		"PREDICT LINKS INVERSE # FOR 'p1'",
		"PREDICT LINKS likes FOR 'ann' AMONG NEIGHBORS(2) VIA #",
		"PREDICT LINKS likes FOR 'ann' AMONG PPR(2) VIA likes, #",
		"PREDICT LINKS likes FOR 'ann' AMONG ALL EXCEPT NEIGHBORS VIA # WITHIN '7d'",
		"PREDICT LINKS likes FOR 'ann' WITH (relation_weights = (# = 2))",
		"EXPLAIN PREDICT LINKS # FOR 'ann'",
		"PROFILE PREDICT LINKS # FOR 'ann'",
		"CHOOSE LINK # FOR 'ann' AMONG ALL",
		"CHOOSE LINK INVERSE # FOR 'p1' AMONG ALL",
		"EVALUATE PREDICT LINKS # FOR ALL ON HOLDOUT 0.5",
		"EVALUATE PREDICT LINKS INVERSE # FOR ALL ON HOLDOUT 0.5",
		"EVALUATE PREDICT LINKS FOR ALL AMONG NEIGHBORS(2) VIA # ON HOLDOUT 0.5",
		"TRAIN MODEL m VIA #",
		"NEIGHBORS OF 'ann' VIA #",
		"PATH FROM 'ann' TO 'p1' VIA #",
		"RANK NODES FOR 'ann' VIA #",
		"DRAW 'ann' VIA # TO 'no.svg'",
		"RANK NODES FOR 'ann' WITH (relation_weights = (# = 2))",
		"EXPORT EDGES VIA # TO 'no.csv'",
	} {
		before, err := s.DB.Stats()
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(text, "#", "lkes")
		_, err = s.Run(ctx, text)
		var e *query.Error
		if !errors.As(err, &e) || !errors.Is(err, db.ErrNotFound) || !strings.Contains(err.Error(), "did you mean likes?") || e.Offset != strings.Index(text, "lkes") {
			t.Errorf("%s: %v", text, err)
		}
		if after, err := s.DB.Stats(); err != nil || after.Version != before.Version {
			t.Errorf("%s: version %d after %d, %v", text, after.Version, before.Version, err)
		}
	}
}

// Mistakes in relations are errors that say what is wrong, and change nothing. Keywords are names.
func TestRelationMistakes(t *testing.T) {
	t.Parallel()
	s := related(t)
	ctx := context.Background()
	for _, c := range []struct{ text, want string }{
		{"CREATE RELATION likes WITH (directed = off)", `relation "likes" exists already, directed and with 3 edges`},
		{"CREATE RELATION likes", "exists already"},
		{"CREATE RELATION sees WITH (source_label = ?)", "not a string"},
		{"CREATE RELATION sees WITH (source_labels = user)", "did you mean source_label?"},
		{"INSERT EDGES 'ann' -[likes]-> 'p1'", "'ann' -[likes]-> 'p1' exists already"},
		{"INSERT EDGES 'ann' -[\"\"]-> 'p1'", "empty"},
		{"DELETE EDGES 'p1' -[likes]-> 'ann'", "no edge 'p1' -[likes]-> 'ann'"},
		{"PREDICT LINKS likes FOR 'ann' AMONG NEIGHBORS VIA likes WITHIN '0s'", "not a duration above 0"},
		{"PREDICT LINKS likes FOR 'ann' AMONG NEIGHBORS VIA likes WITHIN 'often'", "not a duration"},
		{"PREDICT LINKS likes FOR 'ann' AMONG PPR(3) WITHIN '7d'", "found WITHIN"},
		{"RANK NODES FOR 'ann' WITH (relation_weights = (likes = -1))", "1:56: weight -1 is not a number"},
		{"RANK NODES FOR 'ann' WITH (relation_weights = (likes = 'a'))", "found 'a'"},
	} {
		before, err := s.DB.Stats()
		if err != nil {
			t.Fatal(err)
		}
		var args []any
		if strings.Contains(c.text, "?)") {
			args = []any{7}
		}
		_, err = s.Run(ctx, c.text, args...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
		if after, err := s.DB.Stats(); err != nil || after.Version != before.Version {
			t.Errorf("%s: version %d after %d, %v", c.text, after.Version, before.Version, err)
		}
	}
	for _, name := range []string{"via", "FOR", "all", "Inverse", "within", "links", "on", `a "b" ]-> c`, "ä"} {
		quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		for _, text := range []string{
			"INSERT EDGES 'cat' -[#]-> 'p9'", "PREDICT LINKS # FOR 'ann' AMONG ALL", "PREDICT LINKS INVERSE # FOR 'p9' AMONG NEIGHBORS(2) VIA #, likes",
			"CHOOSE LINK # FOR 'ann' AMONG ALL", "WHY 'ann' -[#]-> 'p9'", "NEIGHBORS OF 'cat' VIA #", "RANK NODES FOR 'cat' WITH (relation_weights = (# = 2))",
			"OBSERVE 'ann' -[#]-> 'p9' = 1", "DELETE EDGES 'cat' -[#]-> 'p9'",
		} {
			text = strings.ReplaceAll(text, "#", quoted)
			if _, err := s.Run(ctx, text); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}
