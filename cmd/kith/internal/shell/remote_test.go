package shell

import (
	"net/http/httptest"
	"slices"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/web"
)

// TestRemoteNames checks that the names offered for completion are the same for a remote database.
func TestRemoteNames(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for _, statement := range []string{"INSERT NODE 'ann' LABEL \"a thing\"", "INSERT EDGES 1 -> 'ann'", "CREATE MODEL m USING ppr"} {
		if _, err := query.Run(t.Context(), g, statement); err != nil {
			t.Fatal(err)
		}
	}
	s := httptest.NewServer(web.Handler(g))
	defer s.Close()
	client, err := web.Dial(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	engine := &remote{client: client}
	here, there := newLocal(g).names(), engine.names()
	for _, text := range []string{"DROP MODEL ", "NODES LABEL ", "NEIGHBORS OF ", "NEIGHBORS OF 'a", "NEIGHBORS OF x"} {
		_, want := completed(text, here)
		if _, got := completed(text, there); !slices.Equal(got, want) || text != "NEIGHBORS OF x" && len(got) == 0 {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if err := engine.close(); err != nil {
		t.Error(err)
	}
	s.Close()
	if _, got := completed("DROP MODEL ", there); len(got) > 0 {
		t.Errorf("%q without a server", got)
	}
}
