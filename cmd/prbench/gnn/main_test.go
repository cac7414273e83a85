package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/ogb"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	out := filepath.Join(folder, "out.jsonl")
	if err := ogb.WriteResults(out, []ogb.Result{{Data: "cora", Protocol: "ogb", Method: "gcn", Seed: 2, Metric: "hits@100"}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"--data D --out O --method gcn --splits 2", 0, ""}, // the run is in the file already
		{"--data D --out O --method gcn --splits 3", 1, "D, cora, split 3: "},
		{"--data D --out O --method gcn --splits 2 --note deep", 1, "D, cora, split 2: "}, // another note is another run
		{"--data D --out O --method gat", 2, `method "gat" (accepted: gcn, sage, `},
		{"--data D --out O --dataset pubmed", 2, `data set "pubmed" (accepted: cora, citeseer)`},
		{"--data D --out O --protocol tgb", 2, `protocol "tgb" (accepted: ogb, heart)`},
		{"--data D --out O --splits -1", 2, "split -1"},
		{`--data D --out O --options {"Depth":3}`, 2, `unknown field "Depth"`},
		{`--data D --out O --options {"Batch":0}`, 2, "Batch must be at least 1, got 0"},
		{"--data D", 2, "--out FILE is missing"},
		{"--out O", 2, "--data DIR is missing"},
	} {
		place := strings.NewReplacer("D", folder, "O", out)
		args := strings.Fields(c.args)
		for i, a := range args {
			if a == "D" || a == "O" {
				args[i] = place.Replace(a)
			}
		}
		var stdout, stderr bytes.Buffer
		code := cli.Run(newRoot(), args, strings.NewReader(""), &stdout, &stderr)
		says := strings.Replace(c.says, "D,", folder+",", 1)
		if code != c.code || !strings.Contains(stderr.String(), says) {
			t.Errorf("%s: exit code %d, want %d; it said %q, want %q", c.args, code, c.code, stderr.String(), says)
		}
	}
}
