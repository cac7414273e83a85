package score_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"kith/cmd/internal/cli"
	"kith/cmd/internal/score"
	"kith/db"
	"kith/db/dbtest"
	"kith/db/edgelist"
	kithparquet "kith/db/edgelist/parquet"
	"kith/db/words"
	"kith/model"
)

const nodes = 300

// graph returns a database of a wheel of integers, with a string and a label if mixed is set.
func graph(t testing.TB, mixed bool) *db.DB {
	t.Helper()
	g := dbtest.Open(t, &db.Options{InMemory: true})
	var b strings.Builder
	for i := range nodes {
		fmt.Fprintf(&b, "%d %d\n%d %d\n", i, (i+1)%nodes, i, (i*i+3)%nodes)
	}
	_, err := g.Load(context.Background(), strings.NewReader(b.String()), db.LoadOptions{})
	if mixed && err == nil {
		err = g.Update(context.Background(), func(tx *db.Tx) error {
			return cmp.Or(tx.PutEdge("a, \"b\"", 7), tx.PutNode(db.Node{Key: db.Int(7), Label: "odd"}), tx.PutNode(db.Node{Key: db.Int(9), Label: "odd"}))
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// run returns the text of a run.
func run(t testing.TB, g *db.DB, o score.Options, format string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := score.NewWriter(context.Background(), g, &b, format, o.Shard == 0)
	if err == nil {
		_, err = score.Run(context.Background(), g, o, w, nil)
	}
	if err = cmp.Or(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The shards of a run, joined in order, are the run. Its rows are those of PREDICT LINKS.
func TestShards(t *testing.T) {
	t.Parallel()
	g := graph(t, true)
	for _, format := range []string{"csv", "jsonl"} {
		for _, o := range []score.Options{
			{Among: "NEIGHBORS(2)", Top: 3}, {Using: "adamic_adar", Among: "NEIGHBORS(2)", Where: "score > 1"}, {Label: "odd"},
		} {
			want := run(t, g, o, format)
			for _, o.Shards = range []int{1, 2, 7, nodes + 50} {
				all := ""
				for o.Shard = range o.Shards {
					all += run(t, g, o, format)
				}
				if all != want {
					t.Errorf("%s, %+v: joined\n%.300s\nwant\n%.300s", format, o, all, want)
				}
			}
		}
	}
	var rows []string
	for _, source := range []any{7, 9} {
		r, err := g.Predict(context.Background(), db.PredictOptions{For: source, NoCache: true, Among: db.Neighbors(2)})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range r.Links {
			rows = append(rows, fmt.Sprintf("%v,%v,%d,%v\n", source, l.Target.Literal(), l.Rank, l.Score))
		}
	}
	text := run(t, g, score.Options{Label: "odd", Among: "NEIGHBORS(2)"}, "csv")
	if lines := slices.Collect(strings.Lines(text))[1:]; len(lines) != len(rows) || !slices.Equal(sorted(lines), sorted(rows)) {
		t.Errorf("%s\nwant\n%s", lines, rows)
	}
}

func sorted(lines []string) []string { slices.Sort(lines); return lines }

// A file has the same bytes whether or not its run was interrupted, and rows that were written
// after the progress was saved last do not count. An output that is a Parquet file has the same
// rows.
func TestResume(t *testing.T) {
	t.Parallel()
	g, dir := graph(t, false), t.TempDir()
	o := score.Options{Among: "NEIGHBORS(2)", Top: 4}
	for _, name := range []string{"links.csv", "links.jsonl", "links.parquet"} {
		out := score.Output{Name: filepath.Join(dir, name)}
		whole := score.Output{Name: filepath.Join(dir, "whole-"+name)}
		want, _, err := score.File(context.Background(), g, o, whole, nil)
		if err != nil || want.Sources != nodes {
			t.Fatal(want, err)
		}
		interrupt(t, g, o, out, 100)
		partial, err := os.OpenFile(out.Name+".partial", os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = partial.WriteString("1,2,")
		}
		if err = cmp.Or(err, partial.Close()); err != nil {
			t.Fatal(err)
		}
		interrupt(t, g, o, out, 180)
		done, resumed, err := score.File(context.Background(), g, o, out, nil)
		if err != nil || !reflect.DeepEqual(done, want) || resumed < 100 {
			t.Fatal(done, resumed, err)
		}
		if got, want := read(t, out.Name), read(t, whole.Name); !bytes.Equal(got, want) {
			t.Errorf("%s: resumed\n%.300s\nwant\n%.300s", name, got, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 6 { // two outputs of each format
		t.Errorf("left: %v, %v", left, err)
	}
	type link struct {
		Source int64   `parquet:"source"`
		Target int64   `parquet:"target"`
		Rank   int64   `parquet:"rank"`
		Score  float64 `parquet:"score"`
	}
	rows, err := parquet.ReadFile[link](filepath.Join(dir, "links.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	text := "source,target,rank,score\n"
	for _, r := range rows {
		text += fmt.Sprintf("%d,%d,%d,%v\n", r.Source, r.Target, r.Rank, r.Score)
	}
	if want := string(read(t, filepath.Join(dir, "links.csv"))); text != want {
		t.Errorf("table\n%.300s\nwant\n%.300s", text, want)
	}
}

// interrupt runs until at least n sources are done.
func interrupt(t testing.TB, g *db.DB, o score.Options, out score.Output, n int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done, resumed, err := score.File(ctx, g, o, out, func(done, _ int64) {
		if done == n {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || done.Sources < resumed+n {
		t.Fatal(done, resumed, err)
	}
	if _, err := os.Stat(out.Name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s after an interruption: %v", out.Name, err)
	}
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What another question left, or another version of the database, is not continued.
func TestResumeRefuses(t *testing.T) {
	t.Parallel()
	g, dir := graph(t, false), t.TempDir()
	ctx := context.Background()
	o := score.Options{Using: "adamic_adar", Among: "NEIGHBORS(2)"}
	out := score.Output{Name: filepath.Join(dir, "links.csv")}
	file := func(o score.Options) error {
		_, _, err := score.File(ctx, g, o, out, nil)
		return err
	}
	refuse := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	interrupt(t, g, o, out, 50)
	other := o
	other.Top = 3
	refuse("another question", "links.csv.partial: an unfinished run has another question: top was 10, now it is 3; --force begins from the start", file(other))
	short := read(t, out.Name+".partial")
	write(t, out.Name+".partial", short[:len(short)/2])
	refuse("a partial file cut short", "bytes of the", file(o))
	write(t, out.Name+".partial", short)
	if err := g.Update(ctx, func(tx *db.Tx) error { return tx.PutEdge(5, 250) }); err != nil {
		t.Fatal(err)
	}
	refuse("another version", "another question: contents was \"", file(o))
	out.Force = true
	if err := file(other); err != nil {
		t.Fatal(err)
	}
	out.Force = false
	refuse("an output that exists", "links.csv: file already exists; --force", file(o))
	if err := os.Remove(out.Name); err != nil {
		t.Fatal(err)
	}
	write(t, out.Name+".partial", []byte("mine"))
	refuse("a file of another program", "there is a file", file(o))
	out = score.Output{Name: filepath.Join(dir, "folder.csv"), Force: true}
	if err := os.Mkdir(out.Name, 0o700); err != nil {
		t.Fatal(err)
	}
	refuse("a directory", "folder.csv is a directory", file(o))
}

// Two runs do not write one file.
func TestOneRun(t *testing.T) {
	t.Parallel()
	out := score.Output{Name: filepath.Join(t.TempDir(), "links.csv")}
	other, err := os.Create(out.Name + ".partial")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if held, err := cli.TryLock(other); err != nil || !held {
		t.Fatal(held, err)
	}
	if again, err := os.Open(other.Name()); err != nil {
		t.Fatal(err)
	} else if held, _ := cli.TryLock(again); held {
		t.Skip("this system has no locks: ", again.Close())
	}
	_, _, err = score.File(context.Background(), graph(t, false), score.Options{Among: "NEIGHBORS(2)"}, out, nil)
	if err == nil || !strings.HasSuffix(err.Error(), "links.csv.partial: another run writes it") {
		t.Error(err)
	}
}

// A run that was killed before its first save is continued: its record says that the partial file
// has nothing yet.
func TestKilledEarly(t *testing.T) {
	t.Parallel()
	g, dir := graph(t, false), t.TempDir()
	o, out := score.Options{Using: "adamic_adar", Among: "NEIGHBORS(2)"}, score.Output{Name: filepath.Join(dir, "links.csv")}
	early := ""
	_, _, err := score.File(context.Background(), g, o, out, func(done, _ int64) {
		if done == 1 {
			early = string(read(t, out.Name+".state"))
		}
	})
	if err != nil || !strings.Contains(early, `"bytes":0}`) {
		t.Fatal(early, err)
	}
	want := read(t, out.Name)
	for partial, record := range map[string]string{"": "", "source,target,rank,score\n": early, "source,target,rank,score\n1,2,1,0.5\n3": early} {
		for name, text := range map[string]string{out.Name + ".partial": partial, out.Name + ".state": record} {
			write(t, name, []byte(text))
		}
		if err := os.Remove(out.Name); err != nil {
			t.Fatal(err)
		}
		if _, _, err := score.File(context.Background(), g, o, out, nil); err != nil || !bytes.Equal(read(t, out.Name), want) {
			t.Errorf("%q: %v", partial, err)
		}
	}
}

// A run whose output cannot get its name is not lost: the next run has nothing to score.
func TestRenameFails(t *testing.T) {
	t.Parallel()
	g, dir := graph(t, false), t.TempDir()
	for _, name := range []string{"links.csv", "links.parquet"} {
		out := score.Output{Name: filepath.Join(dir, name)}
		o := score.Options{Using: "adamic_adar", Among: "NEIGHBORS(2)"}
		_, _, err := score.File(context.Background(), g, o, out, func(done, _ int64) {
			if done == nodes {
				_ = os.Mkdir(out.Name, 0o700)
			}
		})
		if err == nil {
			t.Fatalf("%s: a directory has been replaced", name)
		}
		if err := os.Remove(out.Name); err != nil {
			t.Fatal(err)
		}
		if done, resumed, err := score.File(context.Background(), g, o, out, nil); err != nil || resumed != nodes || done.Sources != nodes {
			t.Errorf("%s: %+v, %d of an earlier run, %v", name, done, resumed, err)
		}
		if info, err := os.Stat(out.Name); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func write(t testing.TB, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Sources and pairs come from files, in their order, and a bad line is named.
func TestFiles(t *testing.T) {
	t.Parallel()
	g, dir := graph(t, true), t.TempDir()
	file := func(text string) string {
		name := filepath.Join(dir, "list.csv")
		write(t, name, []byte(text))
		return name
	}
	got := run(t, g, score.Options{Sources: file("9\n7\n9\n"), Using: "common_neighbors", Among: "NEIGHBORS(2)", Top: 1}, "csv")
	if lines := strings.Fields(got); len(lines) != 3 || lines[1][:2] != "9," || lines[2][:2] != "7," {
		t.Errorf("sources: %q", got)
	}
	got = run(t, g, score.Options{Pairs: file("9,10\n7,20\n9,11\n"), Using: "preferential_attachment"}, "jsonl")
	if strings.Count(got, "\n") != 3 || !strings.HasPrefix(got, `{"source":9,"target":1`) || !strings.Contains(got, `{"source":7,"target":20,"rank":1,"score":`) {
		t.Errorf("pairs: %q", got)
	}
	for want, o := range map[string]score.Options{
		"line 2: no node 12345":            {Sources: file("7\n12345\n")},
		"no label \"none\"":                {Label: "none"},
		"no model \"none\"":                {Using: "none"},
		"shard 3 of 3":                     {Shard: 3, Shards: 3},
		"shard -1 of 1":                    {Shard: -1},
		"unknown column or property scroe": {Where: "scroe > 1"},
		"found NEIGHBOUR":                  {Among: "NEIGHBOUR(2)"},
		"none.csv: no such file":           {Sources: filepath.Join(dir, "none.csv")},
		"no label \"shop\"":                {Among: "LABEL shop"},
		"empty.csv: ":                      {Sources: filepath.Join(dir, "empty.csv")},
	} {
		write(t, filepath.Join(dir, "empty.csv"), nil)
		_, _, err := score.File(context.Background(), g, o, score.Output{Name: filepath.Join(dir, "links.csv")}, nil)
		if err == nil || !strings.Contains(words.Plain(err), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "links*")); err != nil || len(left) > 0 {
			t.Errorf("%+v: left %v, %v", o, left, err)
		}
	}
	if _, err := score.FormatOf("links.txt"); err == nil || !strings.Contains(err.Error(), "want one of csv, jsonl, parquet") {
		t.Error(err)
	}
}

// Lists of nodes and pairs may be Parquet files.
func TestParquetLists(t *testing.T) {
	t.Parallel()
	g, dir := graph(t, true), t.TempDir()
	export := func(name string, write func(*db.Tx, context.Context, io.Writer, db.ListOptions) (db.ListReport, error)) string {
		name = filepath.Join(dir, name)
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		o := db.ListOptions{Tables: kithparquet.Format{}}
		if filepath.Ext(name) == ".parquet" {
			o.Format = edgelist.Parquet
		}
		err = g.View(context.Background(), func(tx *db.Tx) error { _, err := write(tx, context.Background(), f, o); return err })
		if err = cmp.Or(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		return name
	}
	o := score.Options{Using: "adamic_adar", Among: "NEIGHBORS(2)", Top: 2}
	want := run(t, g, o, "csv")
	o.Sources = export("nodes.parquet", (*db.Tx).WriteNodes)
	if got := run(t, g, o, "csv"); got != want {
		t.Errorf("nodes\n%.300s\nwant\n%.300s", got, want)
	}
	o = score.Options{Using: "adamic_adar", Pairs: export("edges.csv", (*db.Tx).WriteEdges)}
	want = run(t, g, o, "csv")
	o.Pairs = export("edges.parquet", (*db.Tx).WriteEdges)
	if got := run(t, g, o, "csv"); got != want {
		t.Errorf("pairs\n%.300s\nwant\n%.300s", got, want)
	}
}

// A run that continues another takes over its present time, on which links depend if edges have
// later times. The time of the question is a part of the question.
func TestTimes(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	g := dbtest.Open(t, &db.Options{InMemory: true})
	var b strings.Builder
	const first = 4_000_000_000 // in the future
	for i := range 3 * nodes {
		fmt.Fprintf(&b, "%d %d %d\n", i%nodes, (i*i+3)%nodes, first+i*3600)
	}
	_, err := g.Load(ctx, strings.NewReader(b.String()), db.LoadOptions{Columns: edgelist.SrcDstTime})
	if err == nil {
		err = g.Model("m").Create(ctx, model.Spec{})
	}
	if err == nil {
		_, err = g.Model("m").Train(ctx, db.TrainOptions{Plan: model.EdgePlan{Samples: 200, Epochs: 3}})
	}
	if err != nil {
		t.Fatal(err)
	}
	at := func(hours int) time.Time { return time.Unix(first+int64(hours)*3600, 0) }
	o := score.Options{Using: "m", Among: "NEIGHBORS(2)", Top: 3, Now: at(100)}
	early := run(t, g, o, "csv")
	given := o
	given.At = at(100)
	if got := run(t, g, given, "csv"); got != early {
		t.Errorf("at the present time\n%.300s\nwant\n%.300s", got, early)
	}
	later := o
	later.Now = at(700)
	if run(t, g, later, "csv") == early {
		t.Error("the present time changes nothing, so this test shows nothing")
	}
	out := score.Output{Name: filepath.Join(dir, "links.csv")}
	interrupt(t, g, o, out, 50)
	if _, _, err := score.File(ctx, g, given, out, nil); err == nil || !strings.Contains(err.Error(), "another question: at was \"\", now it is \"4") {
		t.Errorf("with another time: %v", err)
	}
	if _, _, err := score.File(ctx, g, later, out, nil); err != nil {
		t.Fatal(err)
	}
	if got := string(read(t, out.Name)); got != early {
		t.Errorf("continued later\n%.300s\nwant\n%.300s", got, early)
	}
	for text, want := range map[string]int64{"4000000000": first, "-1": -1, "2026-11-24T01:00:00+01:00": 1795478400} {
		if o, err := parsed("--at", text); err != nil || o.At.Unix() != want {
			t.Errorf("%s: %v, %v", text, o.At.Unix(), err)
		}
	}
	if _, err := parsed("--at", "soon"); err == nil || !strings.Contains(err.Error(), "accepted: a date such as 2006-01-02") {
		t.Error(err)
	}
}

// parsed returns the options of a command line.
func parsed(args ...string) (o score.Options, err error) {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	o.Flags(f)
	return o, cmp.Or(f.Parse(args), o.CheckFlags())
}

// Flags that contradict each other are refused.
func TestCheckFlags(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"--label a --sources b", "--sources a --pairs b", "--pairs a --among ALL", "--top -1"} {
		if o, err := parsed(strings.Fields(args)...); err == nil {
			t.Errorf("%s: %+v", args, o)
		}
	}
	if o, err := parsed(strings.Fields("--pairs a --top 3 --using m --where score>1")...); err != nil || o.Pairs != "a" || o.Top != 3 || o.Using != "m" || o.Where != "score>1" {
		t.Errorf("%+v, %v", o, err)
	}
}
