package main

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"kith/db/dbtest"
)

// The demo learns from links and from outcomes. The trained model finds more links than any
// heuristic.
func TestDemo(t *testing.T) {
	slow(t)
	var out bytes.Buffer
	cmd := newDemo()
	cmd.SetArgs([]string{})
	cmd.SetOut(&out)
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(out.String(), "links found")
	counts := regexp.MustCompile(`│ ([a-z_]+) +│ +(\d+) │`).FindAllStringSubmatch(table, -1)
	if len(counts) != 1+len(heuristics()) || counts[0][1] != demoModel {
		t.Fatalf("counts %q in\n%s", counts, out.String())
	}
	own, _ := strconv.Atoi(counts[0][2])
	for _, c := range counts[1:] {
		if n, _ := strconv.Atoi(c[2]); own <= n {
			t.Errorf("the model finds %d links, %s %d", own, c[1], n)
		}
	}
	before, after, _ := strings.Cut(out.String(), "The model is told")
	if best := regexp.MustCompile(`│ +(\d+) │ +[\d.]+ │ true`).FindAllStringSubmatch(before, -1); len(best) == 0 || strings.Contains(after, best[0][0]) {
		t.Errorf("no link is learned in\n%s", out.String())
	}
}

// The demo serves its database until it is interrupted, and opens the browser once it listens.
func TestDemoShows(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	var status, opened string
	d := demo{stdout: &out, open: func(url string) {
		opened = url
		go func() {
			defer cancel()
			r, err := http.Get(url + "/stats")
			if err != nil {
				t.Error(err)
				return
			}
			status = r.Status
			r.Body.Close()
		}()
	}}
	if err := d.show(ctx, dbtest.Friends(t)); err != nil {
		t.Error(err)
	}
	<-ctx.Done()
	if status != "200 OK" || !strings.Contains(out.String(), opened) {
		t.Errorf("status %q, opened %q, output %q", status, opened, out.String())
	}
}

// After Ctrl-C, kith demo --serve leaves no database behind.
func TestDemoServe(t *testing.T) {
	slow(t)
	cmd := exec.Command("kith", "demo", "--serve", "--nodes", "90")
	tmp := t.TempDir()
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // the process may have ended
	served := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	in := bufio.NewScanner(stdout)
	for in.Scan() && !served.MatchString(in.Text()) {
	}
	r, err := http.Get(served.FindString(in.Text()) + "/stats")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", r, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
