package modelfile_test

import (
	"bytes"
	"errors"
	"testing"

	"kith/db/internal/modelfile"
	"kith/index"
	"kith/model"
)

// graph returns a graph with two nodes and no edges.
func graph(t *testing.T) *index.Snapshot {
	t.Helper()
	b := index.New(index.Meta{ID: "A"}).Begin()
	for _, k := range []index.Key{index.Int(1), index.Str("two")} {
		if _, _, err := b.AddNode(k); err != nil {
			t.Fatal(err)
		}
	}
	return b.Snapshot()
}

// written returns the bytes of a file of an untrained model after a change of the file.
func written(t *testing.T, change func(*modelfile.File)) []byte {
	t.Helper()
	m, err := model.New(model.Spec{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	f, err := modelfile.New("m", 3, m, graph(t))
	if err != nil {
		t.Fatal(err)
	}
	f.Nodes, f.Keys = []index.ID{0, 7}, []any{"two", "three"}
	change(f)
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFile(t *testing.T) {
	t.Parallel()
	f, err := modelfile.Read(bytes.NewReader(written(t, func(*modelfile.File) {})), 1<<20)
	if err != nil || f.Name != "m" || f.Version != 3 {
		t.Fatalf("read %+v, %v", f, err)
	}
	m, known, err := f.Translate(graph(t))
	if err != nil || known != 1 || m.Policy() != "default" {
		t.Errorf("translated: %v, %d nodes are known", err, known)
	}
}

func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*modelfile.File)
		most   int64
		want   error
	}{
		"too large":             {func(*modelfile.File) {}, 10, modelfile.ErrTooLarge},
		"a key too few":         {func(f *modelfile.File) { f.Keys = f.Keys[:1] }, 1 << 20, index.ErrCorrupt},
		"a name that is no key": {func(f *modelfile.File) { f.Keys[1] = 1.5 }, 1 << 20, index.ErrCorrupt},
		"no model":              {func(f *modelfile.File) { f.Document = nil }, 1 << 20, index.ErrCorrupt},
	} {
		f, err := modelfile.Read(bytes.NewReader(written(t, c.change)), c.most)
		if err == nil {
			_, _, err = f.Translate(graph(t))
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
