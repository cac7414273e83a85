package ogb

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestResults(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "out.jsonl")
	want := []Result{
		{Data: "cora", Protocol: "heart", Method: "gcn", Seed: 1, Metric: "mrr", Value: 0.1},
		{Data: "cora", Protocol: "ogb", Method: "ncn", Metric: "hits@100", Value: 0.25},
	}
	if err := WriteResults(name, want); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadResults(name); err != nil || !slices.Equal(got, want) {
		t.Errorf("read %v, %v", got, err)
	}
	const good = `{"dataset":"cora","split_protocol":"ogb","method":"gcn","metric":"mrr","value":0.5}` + "\n\n"
	for line, says := range map[string]string{
		`{"seed":`: "unexpected",
		`{"dataset":"cora","split_protocol":"own","method":"gcn","metric":"mrr"}`:             `split_protocol "own" (accepted: ogb, heart)`,
		`{"dataset":"cora","split_protocol":"ogb","method":"gcn","metric":"mrr","value":1.5}`: "value 1.5 (accepted: 0 to 1)",
		`{"dataset":"cora","split_protocol":"ogb","method":"gcn"}`:                            "metric is missing",
		`{"dataset":"cora"} {}`: "more than one object",
		`{"depth":1}`:           `unknown field "depth"`,
	} {
		if err := os.WriteFile(name, []byte(good+line), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadResults(name); err == nil || !strings.Contains(err.Error(), "line 3: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", line, err, says)
		}
	}
}
