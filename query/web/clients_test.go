package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query/web"
)

// The clients in other languages run the whole loop, twice on the same database, and learn from it.
// Without the right token they fail with the server's words.
func TestClients(t *testing.T) {
	t.Parallel()
	for program, file := range map[string]string{"python3": "client.py", "node": "client.mjs"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(program)
			if err != nil {
				t.Skipf("there is no %s: %v", program, err)
			}
			g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
			_, url := serve(t, web.Options{Token: token}.Handler(g))
			run := func(token string) (string, error) {
				name := filepath.Join(t.TempDir(), "token")
				if err := os.WriteFile(name, []byte(token+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := exec.CommandContext(t.Context(), path, filepath.Join("examples", file), url, name).CombinedOutput()
				return string(out), err
			}
			learned := regexp.MustCompile(`^1\. milk: score \d\.\d{3}\n2\. rum: score -?\d\.\d{3}\n$`)
			for range 2 {
				if out, err := run(token); err != nil || !learned.MatchString(out) {
					t.Errorf("%v: %s", err, out)
				}
			}
			if out, err := run("wrong"); err == nil || !strings.Contains(out, "this needs the token of the server") {
				t.Errorf("a wrong token: %v: %s", err, out)
			}
		})
	}
}
