package db_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/index"
)

// results returns the exported result types of the package. All of them can be unmarshaled from
// their JSON, except those that hold errors, of which JSON has the text.
func results() []any {
	return []any{
		db.Backup{}, db.CalibrationBin{}, db.Change{}, db.ChangeStats{}, db.Comparison{}, db.Decision{}, db.Place{}, db.Edge{}, db.Common{}, db.Degrees{}, db.DegreeCount{}, db.EdgeChange{}, db.FeatureChange{}, db.Funnel{}, db.HeldOut{},
		db.Bin{}, db.Evaluation{}, db.Evidence{}, db.Hits{}, db.Result{}, db.Import{}, db.Input{}, db.LabelStats{}, db.Learning{}, db.RewardSpan{}, db.Activity{}, db.Link{}, db.ListReport{}, db.LoadReport{},
		db.LogEvaluation{}, db.ModelChange{}, db.ModelInfo{}, db.Property{}, db.PropertyChange{}, db.Neighborhood{}, db.NeighborhoodNode{}, db.Node{}, db.NodeChange{}, db.Observation{}, db.Offer{}, db.Option{}, db.PageRank{}, db.RankedNode{}, db.Reason{}, db.Rule{}, db.RuleStep{}, db.Word{},
		db.Prediction{}, db.Reached{}, db.Reasons{}, db.Relation{}, db.Repairs{}, db.Seed{}, db.Share{}, db.Side{}, db.Standing{}, db.Stats{}, db.Step{}, db.Training{}, db.Variable{}, db.VersionInfo{}, db.Path{},
		index.CacheStats{},
	}
}

// others are the exported structs that are arguments, or that have behavior, except those that are
// named Options.
var others = []string{
	"BulkWriter", "Candidates", "CheckpointEvent", "Cond", "CommitEvent", "CompactionEvent", "Contender", "DB", "Error", "Events", "Model", "Part", "Tx",
}

func TestEveryResultHasJSON(t *testing.T) {
	t.Parallel()
	listed := slices.Clone(others)
	for _, r := range results() {
		listed = append(listed, reflect.TypeOf(r).Name())
	}
	for _, name := range exportedStructs(t) {
		if !strings.HasSuffix(name, "Options") && !slices.Contains(listed, name) {
			t.Errorf("db.%s is in neither list of this test: name its fields in JSON, and add it to results", name)
		}
	}
}

// exportedStructs returns the names of the exported structs of the package.
func exportedStructs(t *testing.T) (names []string) {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				if _, ok := spec.Type.(*ast.StructType); ok {
					names = append(names, spec.Name.Name)
				}
			}
			return true
		})
	}
	return names
}

func TestResultsInJSON(t *testing.T) {
	t.Parallel()
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	for _, r := range results() {
		of := reflect.TypeOf(r)
		t.Run(of.Name(), func(t *testing.T) {
			v := reflect.New(of).Elem()
			populate(v, 0.5)
			b, err := json.Marshal(v.Interface())
			if err != nil {
				t.Fatal(err)
			}
			var members map[string]json.RawMessage
			if err := json.Unmarshal(b, &members); err != nil {
				t.Fatal(err)
			}
			for name := range members {
				if !snake.MatchString(name) {
					t.Errorf("member %q of %s is not lower-case snake_case", name, b)
				}
			}
			for _, f := range reflect.VisibleFields(of) {
				if f.Type.Implements(reflect.TypeFor[fmt.Stringer]()) && f.Type.Kind() != reflect.Struct && f.Type.Kind() != reflect.Slice && f.Type != reflect.TypeFor[time.Duration]() &&
					members[f.Tag.Get("json")][0] != '"' {
					t.Errorf("field %s has names, and is a number in %s", f.Name, b)
				}
			}
			if want := fieldsOf(of); len(members) != want {
				t.Errorf("%d fields have %d members: %s", want, len(members), b)
			}
			if holdsErrors(of) {
				return
			}
			back := reflect.New(of)
			if err := json.Unmarshal(b, back.Interface()); err != nil || !reflect.DeepEqual(back.Elem().Interface(), v.Interface()) {
				t.Errorf("%s\n gives back %+v (%v)\n of         %+v", b, back.Elem(), err, v)
			}
		})
	}
}

// The numbers that JSON lacks are null, in the types that can hold them.
func TestResultsInJSONWithoutNumbers(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, r := range []any{db.Link{}, db.Input{}, db.LogEvaluation{}, db.LoadReport{}} {
			v := reflect.New(reflect.TypeOf(r)).Elem()
			populate(v, x)
			if b, err := json.Marshal(v.Interface()); err != nil || strings.Contains(string(b), "NaN") {
				t.Errorf("%T with numbers that are %v: %s, %v", r, x, b, err)
			}
		}
	}
	b, err := json.Marshal(db.Prediction{Links: []db.Link{{Error: math.Inf(1)}}})
	if err != nil || !strings.Contains(string(b), `"error":null`) {
		t.Errorf("%s, %v", b, err)
	}
}

// No answer about a graph has a list that is null, even if the list is empty.
func TestAnswersInJSONWithoutLists(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := dbtest.Open(t, inMemory)
	empty, err := g.Stats()
	must(t, err)
	answers := []any{empty}
	view(t, g, func(tx *db.Tx) error {
		d, err := tx.Degrees(ctx, 0)
		must(t, err)
		answers = append(answers, d)
		return nil
	})
	update(t, g, func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: db.Str("ann")}) })
	update(t, g, func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: db.Str("bob")}) })
	must(t, g.Model("m").Create(ctx, db.ModelSpec{}))
	view(t, g, func(tx *db.Tx) error {
		n, err := tx.Node("ann")
		must(t, err)
		p := db.PredictOptions{For: "ann", Among: db.Neighbors(1)}
		ranking, err := tx.Predict(ctx, p)
		must(t, err)
		why, err := tx.Why(ctx, p, "bob", 3)
		must(t, err)
		around, err := tx.Neighborhood(ctx, db.NeighborhoodOptions{Of: "ann", Depth: 1, Most: 5, Edges: 5, Top: 1, Among: db.Neighbors(1)})
		must(t, err)
		rank, err := tx.PageRank(ctx, db.PageRankOptions{From: "ann"})
		must(t, err)
		learning, err := tx.Learning(ctx, "m")
		must(t, err)
		answers = append(answers, n, ranking, why, around, rank, learning, tx.Models()[0], tx.Stats())
		return nil
	})
	for _, a := range answers {
		if b, err := json.Marshal(a); err != nil || strings.Contains(strings.ReplaceAll(string(b), `"adds":null`, ""), ":null") {
			t.Errorf("%T: %s, %v", a, b, err)
		}
	}
}

func TestRewardInJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   db.Place
		want string
	}{
		{db.Place{}, `"rewarded":false,"reward":null}`},
		{db.Place{Rewarded: true}, `"rewarded":true,"reward":0}`},
	} {
		if b, err := json.Marshal(c.of); err != nil || !strings.HasSuffix(string(b), c.want) {
			t.Errorf("got %s (%v), want ...%s", b, err, c.want)
		}
	}
}

// populate sets every field in v to a value that is not zero; numbers are set to x if possible.
func populate(v reflect.Value, x float64) {
	switch v.Interface().(type) {
	case db.Key:
		v.Set(reflect.ValueOf(db.Int(1<<53 + 1)))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2024, 1, 2, 3, 4, 5, 6, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if of := v.Type().Field(i); of.IsExported() && of.Tag.Get("json") != "-" {
				populate(v.Field(i), x)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		populate(v.Elem(), x)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		populate(v.Index(0), x)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]any{"a property": "some <text>"}))
	case reflect.Interface:
		value := reflect.ValueOf("some <text>")
		if !value.Type().Implements(v.Type()) {
			value = reflect.ValueOf(errors.New("some error"))
		}
		v.Set(value)
	case reflect.String:
		v.SetString("some <text>")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(x)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(1)
	default:
		panic(fmt.Sprintf("no value of type %v", v.Type()))
	}
}

// fieldsOf returns the number of exported fields of a struct, including those of embedded structs
// and hidden ones.
func fieldsOf(of reflect.Type) (n int) {
	for i := range of.NumField() {
		if f := of.Field(i); f.Anonymous {
			n += fieldsOf(f.Type)
		} else if f.IsExported() && f.Tag.Get("json") != "-" {
			n++
		}
	}
	return n
}

func holdsErrors(of reflect.Type) bool {
	return slices.ContainsFunc(reflect.VisibleFields(of), func(f reflect.StructField) bool {
		return f.Type == reflect.TypeFor[error]() || f.Type == reflect.TypeFor[[]error]()
	})
}
