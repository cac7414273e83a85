package replica_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"kith/cmd/kith-nats/replica"
	"kith/db"
	"kith/db/dbtest"
)

// published returns the log of a database that has been published.
func published(t testing.TB, g *db.DB) jetstream.JetStream {
	t.Helper()
	js := newLog(t)
	stop := publish(t, g, js, replica.Options{})
	f, end := follow(t, filepath.Join(t.TempDir(), "copy"), js)
	arrives(t, f, g)
	end()
	stop()
	return js
}

// open tries to open a copy.
func open(t testing.TB, path string, js jetstream.JetStream, o replica.FollowOptions) error {
	t.Helper()
	o.DB = options(true)
	f, err := replica.Open(t.Context(), path, js, o)
	if err == nil {
		must(t, f.Close())
	}
	return err
}

// wantError fails t unless err is want and its text has a part.
func wantError(t testing.TB, what string, err, want error, part string) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), part) {
		t.Errorf("%s: error %v, want %v with %q", what, err, want, part)
	}
}

// What cannot be followed or published is refused, and nothing is left behind.
func TestRefused(t *testing.T) {
	t.Parallel()
	g, h := newDatabase(t), newHistory()
	h.steps(t, g, 20)
	empty := newLog(t)
	path := filepath.Join(t.TempDir(), "copy")
	wantError(t, "nothing is published", open(t, path, empty, replica.FollowOptions{}), replica.ErrNoLog, "no database is published")
	wantError(t, "another database", open(t, path, empty, replica.FollowOptions{Database: "X"}), replica.ErrNoLog, "database X")
	o := serverOptions(t.TempDir())
	o.JetStream = false
	plain := connect(t, serve(t, o).ClientURL())
	if err := open(t, path, plain, replica.FollowOptions{}); err == nil || !strings.Contains(err.Error(), "no JetStream") {
		t.Errorf("no JetStream: %v", err)
	}
	if err := replica.Publish(t.Context(), g, plain, replica.Options{}); err == nil || !strings.Contains(err.Error(), "no JetStream") {
		t.Errorf("no JetStream: %v", err)
	}

	js := published(t, g)
	other := newDatabase(t)
	wantError(t, "changes that are not kept", replica.Publish(t.Context(), dbtest.Open(t, &db.Options{InMemory: true}), empty, replica.Options{}), db.ErrInput, "ChangeBytes")
	for what, o := range map[string]replica.Options{
		"a small stream": {StreamBytes: 1}, "a large snapshot": {SnapshotBytes: 1 << 40}, "replicas": {Replicas: 9}, "messages": {MessageBytes: 8 << 20},
	} {
		wantError(t, what, replica.Publish(t.Context(), g, js, o), db.ErrInput, "must be")
	}
	stop := publish(t, other, js, replica.Options{})
	wait(t, "the second log", func() error {
		if err := open(t, path, js, replica.FollowOptions{}); !errors.Is(err, db.ErrInput) || !strings.Contains(err.Error(), "2 databases are published") {
			return errors.Join(err, os.RemoveAll(path))
		}
		return nil
	})
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	id := strings.TrimPrefix(streamName(t, other), "KITH_")
	wait(t, "its snapshot", func() error { return open(t, path, js, replica.FollowOptions{Database: id}) })
	stop()
	wantError(t, "a copy of another database", open(t, path, js, replica.FollowOptions{Database: strings.TrimPrefix(streamName(t, g), "KITH_")}), db.ErrMismatch, "holds database "+id)
	wantError(t, "a copy of what is not published", open(t, path, empty, replica.FollowOptions{}), replica.ErrNoLog, id)
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "letter"), []byte("dear"), 0o600))
	wantError(t, "a folder of something else", open(t, folder, js, replica.FollowOptions{Database: id}), db.ErrMismatch, folder)
}

// A follower ends at a message that is damaged, and says which, unless a later snapshot helps.
func TestDamagedMessage(t *testing.T) {
	t.Parallel()
	for what, damage := range map[string]func(m *nats.Msg){
		"no headers":    func(m *nats.Msg) { m.Header = nil },
		"a header":      func(m *nats.Msg) { m.Header.Set("Kith-Part", "0") },
		"a bit":         func(m *nats.Msg) { m.Data[len(m.Data)/2] ^= 1 },
		"cut short":     func(m *nats.Msg) { m.Data = m.Data[:len(m.Data)-1] },
		"other changes": func(m *nats.Msg) { m.Header.Set("Kith-After", "other") },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			g, h := newDatabase(t), newHistory()
			h.steps(t, g, 30)
			js := published(t, g)
			path := filepath.Join(t.TempDir(), "copy")
			must(t, open(t, path, js, replica.FollowOptions{}))
			stop := publish(t, g, js, replica.Options{})
			must(t, g.Update(t.Context(), func(tx *db.Tx) error { return tx.PutEdge(db.Int(1000), db.Int(1001)) }))
			stream, err := js.Stream(t.Context(), streamName(t, g))
			must(t, err)
			var last *jetstream.RawStreamMsg
			wait(t, "the change", func() error {
				last, err = stream.GetLastMsgForSubject(t.Context(), "kith."+strings.TrimPrefix(streamName(t, g), "KITH_"))
				if err == nil && len(last.Data) == 0 {
					err = errors.New("no changes")
				}
				return err
			})
			stop()
			must(t, stream.DeleteMsg(t.Context(), last.Sequence))
			m := &nats.Msg{Subject: last.Subject, Header: last.Header, Data: last.Data}
			m.Header.Del(jetstream.ExpectedLastSeqHeader)
			damage(m)
			_, err = js.PublishMsg(t.Context(), m)
			must(t, err)
			f := opened(t, path, js)
			err = f.Run(t.Context())
			must(t, f.Close())
			if err == nil || !strings.Contains(err.Error(), "message ") || !strings.Contains(err.Error(), streamName(t, g)) {
				t.Errorf("%v", err)
			}
		})
	}
}

// Of a damaged snapshot nothing is made: the one before is taken, and without any the follower
// waits for another.
func TestDamagedSnapshot(t *testing.T) {
	t.Parallel()
	g, h := newDatabase(t), newHistory()
	h.steps(t, g, 30)
	js := published(t, g)
	load(t, g, "1 2\n")
	stop := publish(t, g, js, replica.Options{})
	path := filepath.Join(t.TempDir(), "copy")
	f, end := follow(t, path, js)
	arrives(t, f, g)
	end()
	stop()
	must(t, os.RemoveAll(path))
	store, err := js.ObjectStore(t.Context(), "kith_"+strings.TrimPrefix(streamName(t, g), "KITH_"))
	must(t, err)
	spoil := func(slot string, change func([]byte) []byte) {
		info, err := store.GetInfo(t.Context(), slot)
		must(t, err)
		b, err := store.GetBytes(t.Context(), slot)
		must(t, err)
		_, err = store.Put(t.Context(), jetstream.ObjectMeta{Name: slot, Metadata: info.Metadata}, bytes.NewReader(change(b)))
		must(t, err)
	}
	all, err := store.List(t.Context())
	must(t, err)
	if len(all) != 2 {
		t.Fatalf("%d snapshots", len(all))
	}
	newest, older := all[0].Name, all[1].Name
	if all[0].Metadata["kith-version"] < all[1].Metadata["kith-version"] {
		newest, older = older, newest
	}
	spoil(newest, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	f = opened(t, path, js)
	must(t, f.Close(), os.RemoveAll(path))
	spoil(older, func(b []byte) []byte { return b[:len(b)-10] })
	wantError(t, "damaged snapshots", open(t, path, js, replica.FollowOptions{}), replica.ErrNoSnapshot, "all are damaged")
	spoil(newest, func([]byte) []byte { return []byte("something else") })
	wantError(t, "no backup", open(t, path, js, replica.FollowOptions{}), db.ErrMismatch, "snapshot of version")
	blank(t, js, store, newest)
	wantError(t, "a snapshot of zeros", open(t, path, js, replica.FollowOptions{}), replica.ErrNoSnapshot, "all are damaged")
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// blank replaces the messages of an object by zeros.
func blank(t *testing.T, js jetstream.JetStream, store jetstream.ObjectStore, slot string) {
	t.Helper()
	info, err := store.GetInfo(t.Context(), slot)
	must(t, err)
	stream, err := js.Stream(t.Context(), "OBJ_"+info.Bucket)
	must(t, err)
	subject := "$O." + info.Bucket + ".C." + info.NUID
	must(t, stream.Purge(t.Context(), jetstream.WithPurgeSubject(subject)))
	for range info.Chunks {
		_, err := js.Publish(t.Context(), subject, make([]byte, 100))
		must(t, err)
	}
}

// An exchange that a kill has interrupted is completed.
func TestInterruptedExchange(t *testing.T) {
	t.Parallel()
	g, h := newDatabase(t), newHistory()
	h.steps(t, g, 20)
	js := published(t, g)
	path := filepath.Join(t.TempDir(), "copy")
	must(t, open(t, path, js, replica.FollowOptions{}))
	for what, steps := range map[string][]string{
		"before the copy was moved":        {"copy copy.next"},
		"after the copy was moved":         {"copy copy.next", "move copy.old"},
		"without the new one":              {"move copy.old"},
		"before the old one was deleted":   {"copy copy.old"},
		"an old one that is partly delete": {"make copy.old"},
	} {
		for _, s := range steps {
			how, to, _ := strings.Cut(s, " ")
			to = filepath.Join(filepath.Dir(path), to)
			switch how {
			case "copy":
				must(t, os.CopyFS(to, os.DirFS(path)))
			case "move":
				must(t, os.Rename(path, to))
			case "make":
				must(t, os.Mkdir(to, 0o700))
			}
		}
		f, end := follow(t, path, js)
		arrives(t, f, g)
		end()
		if _, err := os.Stat(path + ".old"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the old copy remains", what)
		}
		must(t, os.RemoveAll(path+".next"))
	}
}

// A context that ends ends everything.
func TestCancel(t *testing.T) {
	t.Parallel()
	g, h := newDatabase(t), newHistory()
	h.steps(t, g, 20)
	js := published(t, g)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, "Publish", replica.Publish(ctx, g, js, replica.Options{}), context.Canceled, "")
	_, err := replica.Open(ctx, filepath.Join(t.TempDir(), "copy"), js, replica.FollowOptions{DB: options(true)})
	wantError(t, "Open", err, context.Canceled, "")
	f := opened(t, filepath.Join(t.TempDir(), "copy"), js)
	wantError(t, "Run", f.Run(ctx), context.Canceled, "")
	must(t, f.Close(), f.Close())
	wantError(t, "Use", f.Use(t.Context(), func(context.Context, *db.DB) error { return nil }), db.ErrClosed, "")
}
