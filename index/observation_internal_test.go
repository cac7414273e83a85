package index

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// observe commits a version after s with the given observations.
func observe(t testing.TB, s *Snapshot, w Writer, docs ...string) *Snapshot {
	t.Helper()
	b := s.Begin()
	for _, d := range docs {
		must(t, b.PutObservation(w, []byte(d)))
	}
	must(t, b.Write(w))
	return b.Snapshot()
}

func observations(t testing.TB, r Reader, after uint64) string {
	t.Helper()
	var all []string
	for d := range Observations(r, after) {
		must(t, d.Err)
		all = append(all, fmt.Sprintf("%d:%s", d.At, d.Bytes))
	}
	return strings.Join(all, " ")
}

func TestObservations(t *testing.T) {
	m := newMemory()
	s := New(Meta{Alpha: 0.85, Epsilon: 1e-6})
	s = observe(t, s, m, "a")
	s = observe(t, s, m, "b", "c")
	s = observe(t, s, m)
	s = observe(t, s, m, strings.Repeat("long", 1<<18))
	for after, want := range map[uint64]string{0: "1:a 2:b 2:c", 1: "2:b 2:c", 2: "", 3: ""} {
		got, _, _ := strings.Cut(observations(t, m, after), "4:long")
		if strings.TrimSpace(got) != want {
			t.Errorf("after %d: %s, want %s", after, got, want)
		}
	}
	if got := observations(t, m, 4); got != "" || s.Meta.Observed != 3+1<<20 {
		t.Errorf("%d bytes, after the last %s", s.Meta.Observed, got)
	}
	must(t, putSplit(m, []byte("o?"), nil))
	for d := range Observations(m, 4) {
		if d.At == 0 {
			wantCorrupt(t, "a key that is none", d.Err)
		}
	}
}

// TestForget verifies that Forget keeps the newest commits that fit, and all commits after last, that leftovers of
// forgotten observations are ignored, and that a salvage deletes damaged observations.
func TestForget(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemory()
		s := New(Meta{Alpha: 0.85, Epsilon: 1e-6})
		var commits [][]string
		for range rapid.IntRange(0, 40).Draw(rt, "operations") {
			if rapid.IntRange(0, 4).Draw(rt, "forget?") > 0 {
				docs := rapid.SliceOfN(rapid.StringMatching("[a-z]{1,9}"), 0, 3).Draw(rt, "docs")
				commits = append(commits, docs)
				s = observe(t, s, m, docs...)
				continue
			}
			limit, last := rapid.Int64Range(0, 60).Draw(rt, "bytes"), rapid.Uint64Range(0, s.Meta.Version).Draw(rt, "last")
			next, err := s.Forget(m, limit, last)
			must(t, err)
			must(t, next.WriteMeta(m))
			if rapid.Bool().Draw(rt, "drop?") {
				must(t, DropObservations(m, m, s.Meta.Forgotten, next.Meta.Forgotten))
			}
			rest := int64(0)
			for _, docs := range commits {
				rest += int64(len(strings.Join(docs, "")))
			}
			for i := range commits {
				if uint64(i) >= last || rest <= limit {
					break
				}
				rest -= int64(len(strings.Join(commits[i], "")))
				commits[i] = nil
			}
			s = next
		}
		var want []string
		bytes := 0
		for i, docs := range commits {
			for _, d := range docs {
				want = append(want, fmt.Sprintf("%d:%s", i+1, d))
				bytes += len(d)
			}
		}
		if got := observations(t, m, s.Meta.Forgotten); got != strings.Join(want, " ") || s.Meta.Observed != int64(bytes) {
			rt.Fatalf("%s, %d bytes; want %s, %d", got, s.Meta.Observed, strings.Join(want, " "), bytes)
		}
		meta, err := ReadMeta(m)
		must(t, err)
		if meta != nil && (meta.Forgotten != s.Meta.Forgotten || meta.Observed != s.Meta.Observed) {
			rt.Fatalf("meta %+v, want %+v", meta, s.Meta)
		}
	})
}
