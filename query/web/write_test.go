package web_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/web"
)

// figures returns what a request that writes changes.
func figures(t testing.TB, g *db.DB) string {
	t.Helper()
	s, err := g.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(s.Version, s.Nodes, s.Edges, s.Models, s.Decisions, s.Activity.Commits)
}

// A follower refuses every statement that writes, as one that is forbidden, and has changed
// nothing.
func TestHandlerOfFollower(t *testing.T) {
	t.Parallel()
	g := fed(t)
	var b bytes.Buffer
	path := filepath.Join(t.TempDir(), "follower.kith")
	_, err := g.WriteTo(t.Context(), &b)
	if err = errors.Join(err, db.Restore(t.Context(), path, &db.Options{Memory: 64 << 20}, &b)); err != nil {
		t.Fatal(err)
	}
	h := dbtest.Reopen(t, path, &db.Options{Follower: true})
	c, url := serve(t, web.Options{Token: token}.Handler(h))
	c.Token = token
	before := figures(t, h)
	for _, text := range []string{
		"INSERT EDGES 1 -> 2", "MERGE NODE 6 LABEL person", "DELETE NODE 1", "ERASE NODE 1", "CREATE MODEL n", "CHOOSE LINK FOR 1 AMONG ALL USING m",
		"REWARD 1 = 1", "OBSERVE 2 -> 1 = 0 USING m", "TRAIN MODEL m WITH (epochs = 1)", "FREEZE MODEL m", "DROP MODEL m", "ROLLBACK MODEL m",
	} {
		if _, err := c.Run(t.Context(), text); !errors.Is(err, db.ErrReadOnly) || !strings.Contains(err.Error(), "follows another") {
			t.Errorf("%s: %v", text, err)
		}
		if status, _, answer := send(t, url, "Bearer "+token, fmt.Sprintf(`{"statement": %q}`, text)); status != http.StatusForbidden {
			t.Errorf("%s: status %d: %s", text, status, answer)
		}
	}
	for path, body := range map[string]string{
		"/choose": `{"source": 1, "candidates": {"all": true}}`, "/reward": `{"decision": 1, "reward": 1}`, "/observe": `{"source": 2, "target": 1, "reward": 1}`,
		"/nodes": `{"nodes": [{"node": 6}]}`, "/edges": `{"edges": [{"source": 1, "target": 6}]}`,
	} {
		asked(t, url, path, http.StatusForbidden, body)
	}
	asked(t, url, "/predict", http.StatusOK, `{"source": 1}`)
	if _, err := c.Run(t.Context(), "PREDICT LINKS FOR 1 AMONG ALL USING m"); err != nil || figures(t, h) != before {
		t.Errorf("%v; figures %s, were %s", err, figures(t, h), before)
	}
}

// A client with the token builds a graph, decides, teaches and predicts.
func TestHandlerWrites(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	c, url := serve(t, web.Options{Token: token}.Handler(g))
	c.Token = token
	for _, text := range []string{
		"INSERT EDGES 1 -> 2, 2 -> 3, 3 -> 4, 4 -> 1, 1 -> 5", "MERGE NODE 6 LABEL person", "CREATE MODEL m USING prb WITH (width = 4)",
		"CHOOSE LINK FOR 1 AMONG ALL USING m", "REWARD 1 = 1", "OBSERVE 2 -> 4 = 0 USING m", "TRAIN MODEL m WITH (epochs = 1)",
		"PREDICT LINKS FOR 1 AMONG ALL USING m", "PROFILE DELETE EDGES 1 -> 5", "FREEZE MODEL m", "THAW MODEL m", "DELETE NODE 6", "ERASE NODE 6 WITH (retrain = on)", "DROP MODEL m",
	} {
		if _, err := c.Run(t.Context(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	rows, err := c.Run(t.Context(), "MERGE EDGES 1 -> 2, 1 -> 9")
	if err != nil || fmt.Sprint(rows.Rows) != "[[1 1 1]]" {
		t.Errorf("%v, %v", rows, err)
	}
	before := figures(t, g)
	for _, text := range []string{
		"LOAD EDGES FROM '/etc/passwd'", "LOAD NODES FROM '/etc/passwd'", "EXPORT EDGES TO 'x'", "EXPORT MODEL m TO 'x'", "EXPORT LOG TO 'x'",
		"IMPORT MODEL n FROM 'x'", "BACKUP TO 'x'", "EVALUATE PREDICT LINKS FOR ALL ON SPLIT '/etc/passwd'",
		"BEGIN", "COMMIT", "ROLLBACK", "SET seed = 1", "PROFILE LOAD EDGES FROM '/etc/passwd'",
	} {
		if _, err := c.Run(t.Context(), text); !errors.Is(err, query.ErrRefused) {
			t.Errorf("%s: %v, want ErrRefused", text, err)
		}
		if status, _, answer := send(t, url, "Bearer "+token, fmt.Sprintf(`{"statement": %q}`, text)); status != http.StatusForbidden {
			t.Errorf("%s: status %d: %s", text, status, answer)
		}
	}
	if after := figures(t, g); after != before {
		t.Errorf("refused statements have written: %s, was %s", after, before)
	}
}

// What a client sends again after a lost answer changes nothing, where the documentation says so.
func TestWriteAgain(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	c, _ := serve(t, web.Options{Token: token}.Handler(g))
	c.Token = token
	if _, err := c.Run(t.Context(), "CHOOSE LINK FOR 'ann' AMONG ALL"); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"MERGE EDGES 'ann' -> 'bob'", "MERGE NODE 'new' LABEL person", "REWARD 1 = 1"} {
		before := ""
		for range 3 {
			if _, err := c.Run(t.Context(), text); err != nil {
				t.Errorf("%s: %v", text, err)
			}
			s, err := g.Stats()
			if err != nil {
				t.Fatal(err)
			}
			now := fmt.Sprint(s.Nodes, s.Edges, s.Decisions)
			if before != "" && now != before {
				t.Errorf("%s, again: %s, was %s", text, now, before)
			}
			before = now
		}
	}
	if _, err := c.Run(t.Context(), "REWARD 1 = 0"); !errors.Is(err, db.ErrRewarded) {
		t.Errorf("another reward: %v", err)
	}
}
