package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseContender(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"prb": "prb paper", "prb/released": "prb released", "default": "default default", "default/paper": "default paper",
		"common_neighbors": "common_neighbors ", "random/paper": "random ", "prb_n": "prb_n paper",
	} {
		c, err := parseContender(text, "paper", text == "prb_n")
		if got := c.policy + " " + c.preset; err != nil || got != want {
			t.Errorf("%s: %q, want %q, %v", text, got, want, err)
		}
	}
	for _, text := range []string{"", "prb2", "prb/", "prb/papre", "prb/paper/paper", "prb_n"} {
		if _, err := parseContender(text, "paper", false); err == nil {
			t.Errorf("%q passes", text)
		}
	}
}

func TestGrid(t *testing.T) {
	t.Parallel()
	points := grid([]axis{{"a", []string{"1", "2"}}, {"b", []string{"3", "4"}}, {"c", []string{"5"}}}, map[string]string{"c": "6"})
	if got := fmt.Sprint(points); got != "[map[a:1 b:3] map[a:1 b:4] map[a:2 b:3] map[a:2 b:4]]" {
		t.Errorf("%s", got)
	}
	for c, want := range map[contender]int{
		{"prb", "paper"}: 16, {"prb_greedy", "paper"}: 4, {"neural_ucb", "paper"}: 12,
		{"prb", "released"}: 1, {"default", "default"}: 1, {"ppr", ""}: 1,
	} {
		if got := len(grid(c.axes(), nil)); got != want {
			t.Errorf("%v: %d points, want %d", c, got, want)
		}
	}
}

func TestParseSet(t *testing.T) {
	t.Parallel()
	set, err := parseSet([]string{"width=20", "blocks=source target"}, false)
	if err != nil || set["width"] != "20" || set["blocks"] != "source target" {
		t.Errorf("%v, %v", set, err)
	}
	for _, c := range []struct{ text, want string }{
		{"width", "name=value"}, {"=3", "name=value"}, {"widht=3", "unknown option"}, {"seed=3", "--first-seed"}, {"preset=paper", "--preset"},
	} {
		if _, err := parseSet([]string{c.text}, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}
