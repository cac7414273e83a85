package web

import (
	"bytes"
	"io/fs"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kith/db"
	"kith/query/internal/draw"
)

// The page is small, and has no script, style or handler outside of its files: the policy of the
// page would refuse them.
func TestAssets(t *testing.T) {
	t.Parallel()
	const most = 150 << 10
	total := 0
	inline := regexp.MustCompile(`<style|<script>|\sstyle=|\son[a-z]+=|javascript:|https?://[^w"]|//cdn`)
	err := fs.WalkDir(assets, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := fs.ReadFile(assets, path)
		total += len(content)
		if found := inline.Find(content); found != nil {
			t.Errorf("%s has %q", path, found)
		}
		if lines := bytes.Count(content, []byte("\n")); lines > 500 {
			t.Errorf("%s has %d lines", path, lines)
		}
		return err
	})
	if err != nil || total > most {
		t.Errorf("the page has %d bytes, want at most %d, error %v", total, most, err)
	}
}

// The curve falls from all nodes to those with the most edges, and is never below one node.
func TestAtLeast(t *testing.T) {
	t.Parallel()
	counts := []db.DegreeCount{{Edges: 0, Nodes: 9}, {Edges: 1, Nodes: 5}, {Edges: 3, Nodes: 4}, {Edges: 1000, Nodes: 2}, {Edges: 1001, Nodes: 1}, {Edges: 1002, Nodes: 14}}
	want := []draw.Point{{X: 0, Y: 35}, {X: 1, Y: 26}, {X: 3, Y: 21}, {X: 1000, Y: 17}, {X: 1002, Y: 14}}
	if diff := cmp.Diff(want, atLeast(counts)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := atLeast(nil); got != nil {
		t.Errorf("without nodes: %v", got)
	}
}
