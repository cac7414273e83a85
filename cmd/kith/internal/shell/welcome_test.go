package shell

import (
	"bytes"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// A shell that is attached to the server of its database says so.
func TestWelcomeAttached(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for _, readOnly := range []bool{false, true} {
		var out bytes.Buffer
		s := &session{engine: newLocal(g), out: &out, attached: true, readOnly: readOnly}
		if err := s.welcome(t.Context(), "g.kith"); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if !strings.Contains(text, "\nA server has g.kith open, and answers here; ") || strings.Contains(text, "only read.") != readOnly {
			t.Errorf("read only %t: %s", readOnly, text)
		}
		if strings.Contains(text, "kith serve") {
			t.Errorf("it proposes to serve a database that is served: %s", text)
		}
	}
}

// TestWelcome checks that the first lines of a session suit the state of the database, and that
// their statements are valid.
func TestWelcome(t *testing.T) {
	t.Parallel()
	const (
		ask   = "ask        PREDICT LINKS FOR 'a''b' AMONG NEIGHBORS(2) TOP 5;"
		train = "train      CREATE MODEL friends; TRAIN MODEL friends;"
		look  = "look       kith serve g.kith, after Ctrl-D, shows it in a browser"
	)
	for _, c := range []struct {
		statements, path string
		readOnly         bool
		want             []string
	}{
		{"", "g.kith", false, []string{
			"load, add  LOAD EDGES FROM 'friends.csv'; INSERT EDGES 'ann' -> 'bob', 'bob' -> 'cid', 'cid' -> 'dan';",
			"ask, train PREDICT LINKS FOR 'ann' AMONG NEIGHBORS(2); CREATE MODEL friends; TRAIN MODEL friends;", look,
		}},
		{"", "g.kith", true, nil},
		{"INSERT EDGES 'a''b' -> 2", "g.kith", false, []string{ask, train, look}},
		{"INSERT EDGES 'a''b' -> 2; CREATE MODEL \"my model\"", "g.kith", false, []string{ask, `train      TRAIN MODEL "my model";`, look}},
		{"INSERT EDGES 'a''b' -> 2; CREATE MODEL m; TRAIN MODEL m", "g.kith", false, []string{
			ask, "measure    EVALUATE PREDICT LINKS FOR SAMPLE(100) USING default ON HOLDOUT 0.1;", look,
		}},
		{"INSERT EDGES 'a''b' -> 2", "http://127.0.0.1:7331", true, []string{
			ask, "measure    EVALUATE PREDICT LINKS FOR SAMPLE(100) USING default ON HOLDOUT 0.1;", "look       http://127.0.0.1:7331 in a browser",
		}},
	} {
		g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
		for f, err := range query.Split(strings.NewReader(c.statements)) {
			if err == nil {
				_, err = query.Run(t.Context(), g, f.Text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		s := &session{engine: newLocal(g), out: &out, readOnly: c.readOnly}
		if err := s.welcome(t.Context(), c.path); err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(out.String(), "Ctrl-D ends.\n")
		want := ""
		for _, line := range c.want {
			want += "  " + line + "\n"
			if statement := line[11:]; strings.HasSuffix(statement, ";") {
				for f, err := range query.Split(strings.NewReader(statement)) {
					if err == nil {
						_, err = f.Parse()
					}
					if err != nil {
						t.Errorf("%s: %v", line, err)
					}
				}
			}
		}
		if got != want {
			t.Errorf("%q, read only %t:\n%swant\n%s", c.statements, c.readOnly, got, want)
		}
	}
}
