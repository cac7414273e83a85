package db

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kith/db/internal/store"
	"kith/index"
	"kith/model"
)

// fullDatabase returns a copy of a database with a record of every kind: 6,000 nodes and edges in
// blocks, some in the log, features, a state, a model, an observation after its document, and
// decisions.
func fullDatabase(t *testing.T, original fs.FS) string {
	path := filepath.Join(t.TempDir(), "g")
	must(t, os.CopyFS(path, original))
	return path
}

// buildFullDatabase writes the database that fullDatabase copies.
func buildFullDatabase(t *testing.T) fs.FS {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "g")
	g := openTest(t, path)
	var list strings.Builder
	for i := range 6000 {
		list.WriteString(Int(int64(i)).Literal() + " " + Int(int64((i+1)%6000)).Literal() + "\n")
	}
	_, err := g.Load(ctx, strings.NewReader(list.String()), LoadOptions{})
	must(t, err)
	must(t, g.Model("m").Create(ctx, model.Spec{Policy: "prb"}), g.Model("m").Deploy(ctx, 0))
	must(t, g.Update(ctx, func(tx *Tx) error {
		return errors.Join(tx.PutEdge("x", "y", Weight(2)), tx.PutNode(Node{Key: Str("z"), Label: "thing", Features: []float32{1, 2}}))
	}))
	insert(t, g, 7000, 3)
	_, err = g.Predict(ctx, PredictOptions{For: 5})
	must(t, err, g.Observe(ctx, ObserveOptions{Source: 5, Target: 9, Model: "m", Reward: 1}))
	for range 2 {
		_, err = g.Choose(ctx, ChooseOptions{For: 5, Among: Keys(100, 101)})
		must(t, err)
	}
	must(t, g.Check(ctx))
	must(t, g.store.Close()) // Close would store a document
	return os.DirFS(path)
}

// openStoreUnchecked opens the store of a database that may be damaged.
func openStoreUnchecked(t *testing.T, path string) *store.Store {
	o, err := (&Options{Memory: 64 << 20, NoSync: true}).resolve(path)
	must(t, err)
	st, err := store.Open(path, o.forStore(nil))
	must(t, err)
	return st
}

// firstOf returns the key of the first record of a kind after skipping some.
func firstOf(t *testing.T, st *store.Store, prefix byte, skip int) []byte {
	r := st.Read(st.Newest())
	defer r.Close()
	for e, err := range r.Scan([]byte{prefix}, nil) {
		must(t, err)
		if skip--; skip < 0 {
			return append([]byte(nil), e.Key...)
		}
	}
	t.Fatalf("there is no record %c", prefix)
	return nil
}

func TestRepair(t *testing.T) {
	t.Parallel()
	ctx, original := context.Background(), buildFullDatabase(t)
	for _, c := range []struct {
		name        string
		prefix      byte
		skip        int
		says        string
		nodes, edge int64 // numbers that are left; 0 means any
	}{
		{"dictionary", 'k', 0, "the keys of nodes 0 to 2032 are lost", 3974, 3970},
		{"dictionary", 'k', 1, "the keys of nodes 2033 to 4064 are lost", 3975, 3971},
		{"adjacency", 'x', 0, "block x 0", 6007, 5493},
		{"meta", 'm', 0, "meta", 6007, 6004},
		{"copy of meta", 'b', 0, "meta record of generation", 6007, 6004},
		{"features", 'f', 0, "features of nodes", 6007, 6004},
		{"node records", 'i', 0, "directory of the blocks", 6007, 6004},
		{"log", 'l', 0, "log", 6004, 6003},
		{"model", 'v', 0, `model "m"`, 6007, 6004},
		{"versions of a model", 'w', 0, `model "m"`, 6007, 6004},
		{"entry of a model", 'w', 0, `model "m"`, 6007, 6004},
		{"observation", 'o', 0, "observation of version", 6007, 6004},
		{"decision", 'd', 0, "decision", 6007, 6004},
		{"end of a decision", 'e', 0, "decision", 6007, 6004},
	} {
		for _, how := range []string{"altered", "gone"} {
			if how == "gone" && strings.ContainsAny(string(c.prefix), "ow") || how == "altered" && (c.prefix == 'e' || c.prefix == 'w') {
				continue // its absence cannot be detected; or it has no value, or nothing depends on it
			}
			if how == "gone" && !isLong() || testing.Short() && !strings.ContainsRune("kxlv", rune(c.prefix)) {
				continue // without -long, records are altered
			}
			t.Run(c.name+" "+how, func(t *testing.T) {
				t.Parallel()
				path := fullDatabase(t, original)
				st := openStoreUnchecked(t, path)
				key := firstOf(t, st, c.prefix, c.skip)
				must(t, st.Commit(st.Newest()+1, func(w index.Writer) error {
					if how == "gone" {
						return w.Delete(key)
					}
					return w.Set(key, []byte("these are other bytes than were written"))
				}), st.Close())
				if err := Diagnose(ctx, path, &Options{Memory: 64 << 20}); !errors.Is(err, ErrCorrupt) {
					t.Errorf("diagnosis: %v", err)
				}
				r, err := Repair(ctx, path, &Options{Memory: 64 << 20}, RepairOptions{})
				must(t, err)
				if found := errors.Join(r.Found...); found == nil || !strings.Contains(found.Error(), c.says) || len(r.Done) < 2 {
					t.Errorf("found %v, done %v", found, r.Done)
				}
				g := openTest(t, path)
				if m := g.now.Load().Meta; m.Live != c.nodes || m.Edges != c.edge {
					t.Errorf("%d nodes, %d edges are left, want %d, %d", m.Live, m.Edges, c.nodes, c.edge)
				}
				must(t, g.Check(ctx), g.Close())
			})
		}
	}
}

// Repair does not change an intact database, nor one of which too little can be read.
func TestRepairOfNothing(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), fullDatabase(t, buildFullDatabase(t))
	r, err := Repair(ctx, path, &Options{Memory: 64 << 20}, RepairOptions{})
	if must(t, err); len(r.Found)+len(r.Done) > 0 {
		t.Errorf("%+v", r)
	}
	st := openStoreUnchecked(t, path)
	must(t, st.Commit(st.Newest()+1, func(w index.Writer) error {
		return errors.Join(w.Set([]byte{'m', 0, 0}, []byte("other")), w.Set([]byte{'b', 0, 0, 0, 1, 0, 0}, []byte("other")))
	}), st.Close())
	if _, err = Repair(ctx, path, &Options{Memory: 64 << 20}, RepairOptions{}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("without a meta record: %v", err)
	}
	if err := Diagnose(ctx, path, &Options{Memory: 64 << 20}); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "meta") {
		t.Errorf("without a meta record: %v", err)
	}
}

// An invalid key is deleted alone, without keys of which it is a prefix.
func TestRepairOfStrayKeys(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	ctx, original := context.Background(), buildFullDatabase(t)
	for _, key := range []string{"o", "o\x00\x00\x00", "o\x00\x00\x00\x00", "d", "d\x00\x00\x00"} {
		path := fullDatabase(t, original)
		st := openStoreUnchecked(t, path)
		must(t, st.Commit(st.Newest()+1, func(w index.Writer) error {
			return errors.Join(w.Set([]byte(key), []byte("stray")), w.Set([]byte{'x', 0, 0, 0, 1, 0, 0, 0, 0}, []byte("damaged")))
		}), st.Close())
		_, err := Repair(ctx, path, &Options{Memory: 64 << 20}, RepairOptions{})
		must(t, err)
		g := openTest(t, path)
		if m := g.now.Load().Meta; m.Live != 6007 || m.Decisions != 2 || g.now.Load().models["m"].info.Rounds != 1 {
			t.Errorf("%q: %+v, %d rounds", key, m, g.now.Load().models["m"].info.Rounds)
		}
		must(t, g.View(ctx, func(tx *Tx) error {
			_, err := tx.Decision(2)
			return err
		}), g.Check(ctx), g.Close())
	}
}
