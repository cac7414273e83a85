package main

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"kith/db/dbtest"
	"kith/model/trial"
)

// The online part of the demo prints the result of each policy and draws the curves.
func TestDemoLearns(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := demo{nodes: 60, rounds: 5, seed: 1, out: t.TempDir(), stdout: &out, stderr: &out}
	data, err := trial.Generate(d.communities(), d.seed)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.in(t.Context(), data, d.learn); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`60 nodes in 2 communities`, `│ default +│ +\d+ │ +\d+\.\d % +│`, `│ random +│`, `\n\d of these 5 are links`} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	if b, err := os.ReadFile(filepath.Join(d.out, demoSVG)); err != nil || !bytes.Contains(b, []byte("<svg")) {
		t.Errorf("the picture: %v", err)
	}
}

// The demo learns online and from a list. The trained model finds more links than any heuristic.
func TestDemo(t *testing.T) {
	slow(t)
	var out bytes.Buffer
	cmd := newDemo()
	cmd.SetArgs([]string{"--rounds", "20", "--out", t.TempDir()})
	cmd.SetOut(&out)
	cmd.SetErr(new(bytes.Buffer))
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(out.String(), "links found")
	counts := regexp.MustCompile(`│ (\S+) +│ +(\d+) │`).FindAllStringSubmatch(table, -1)
	if len(counts) != 1+len(heuristics()) || counts[0][1] != demoModel {
		t.Fatalf("counts %q in\n%s", counts, out.String())
	}
	own, _ := strconv.Atoi(counts[0][2])
	for _, c := range counts[1:] {
		if n, _ := strconv.Atoi(c[2]); own <= n {
			t.Errorf("the model finds %d links, %s %d", own, c[1], n)
		}
	}
	if !bytes.Contains(out.Bytes(), []byte("rounds won")) {
		t.Errorf("no table of the rounds in\n%s", out.String())
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
	cmd := exec.Command("kith", "demo", "--serve", "--nodes", "90", "--rounds", "20", "--out", t.TempDir())
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
