package edgelist

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// flaky serves a file, and breaks the first connections after some bytes.
type flaky struct {
	file    []byte
	breaks  int           // number of connections to break
	after   int           // number of bytes before a break
	changes int           // number of the connection before which the file changes; 0 means never
	plain   bool          // does not support ranges
	tag     func() string // returns the ETag; nil means none
	seen    []string      // the requested ranges
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.seen = append(f.seen, r.Header.Get("Range"))
	if len(f.seen) == f.changes {
		f.file = bytes.ToUpper(f.file)
	}
	if f.tag != nil {
		w.Header().Set("ETag", f.tag())
	}
	if f.plain {
		r.Header.Del("Range")
	}
	if f.breaks > 0 {
		f.breaks--
		w = &broken{w, f.after}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.file))
}

// broken ends a connection after some bytes.
type broken struct {
	http.ResponseWriter
	left int
}

func (b *broken) Write(p []byte) (int, error) {
	if len(p) > b.left {
		_, _ = b.ResponseWriter.Write(p[:b.left])
		b.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	b.left -= len(p)
	return b.ResponseWriter.Write(p)
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestDownload(t *testing.T) {
	t.Parallel()
	file := []byte(strings.Repeat("one two\n", 1000))
	fixed := func() string { return `"v1"` }
	for _, c := range []struct {
		name string
		f    *flaky
		want []byte
		seen string
	}{
		{"at once", &flaky{tag: fixed}, file, ""},
		{"broken twice", &flaky{tag: fixed, breaks: 2, after: 3000}, file, ",bytes=3000-,bytes=6000-"},
		{"without a tag", &flaky{breaks: 2, after: 3000}, file, ",,"},
		{"without ranges", &flaky{tag: fixed, breaks: 2, after: 3000, plain: true}, file, ",bytes=3000-,bytes=3000-"},
		{"broken at the end", &flaky{tag: fixed, breaks: 1, after: 7999}, file, ",bytes=7999-"},
	} {
		c.f.file = file
		got, err := fetchFrom(t, c.f, Download{SHA256: strings.ToUpper(sumOf(c.want))})
		if err != nil || !bytes.Equal(got, c.want) || strings.Join(c.f.seen, ",") != c.seen {
			t.Errorf("%s: %d bytes, asked for %q, %v", c.name, len(got), c.f.seen, err)
		}
	}
}

// A file that changes on the server between two attempts is fetched from the beginning.
func TestDownloadOfAChangedFile(t *testing.T) {
	t.Parallel()
	file := []byte(strings.Repeat("one two\n", 1000))
	f := &flaky{file: file, breaks: 1, after: 3000, changes: 2}
	f.tag = func() string { return fmt.Sprintf("%q", sumOf(f.file)) }
	got, err := fetchFrom(t, f, Download{})
	if err != nil || !bytes.Equal(got, bytes.ToUpper(file)) {
		t.Errorf("%d bytes, asked for %q, %v", len(got), f.seen, err)
	}
}

func TestDownloadFails(t *testing.T) {
	t.Parallel()
	file := []byte(strings.Repeat("one two\n", 1000))
	if _, err := fetchFrom(t, &flaky{file: file}, Download{SHA256: sumOf([]byte("x"))}); !errors.Is(err, ErrChecksum) {
		t.Errorf("wrong checksum: %v", err)
	}
	f := &flaky{file: file, breaks: 1000}
	if _, err := fetchFrom(t, f, Download{}); err == nil || len(f.seen) != attempts {
		t.Errorf("always broken: %v after %d attempts", err, len(f.seen))
	}
	asked := 0
	missing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked++; http.NotFound(w, r) })
	if _, err := fetchFrom(t, missing, Download{}); err == nil || !strings.Contains(err.Error(), "404") || asked != 1 {
		t.Errorf("missing: %v after %d attempts", err, asked)
	}
	asked = 0
	busy := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	if _, err := fetchFrom(t, busy, Download{}); err != nil || asked != 3 {
		t.Errorf("busy: %v after %d attempts", err, asked)
	}
	if _, err := (Download{URL: "http://[::1"}).To(t.Context(), nil); err == nil {
		t.Error("a URL that is none was accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Download{URL: "http://127.0.0.1:1/"}).To(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// If a server sends nothing any more, the connection is closed and the rest is requested again.
func TestDownloadFromASilentServer(t *testing.T) {
	t.Parallel()
	file := []byte(strings.Repeat("one two\n", 1000))
	rest, asked := flaky{file: file, tag: func() string { return `"v1"` }}, 0
	silent := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked > 1 {
			rest.ServeHTTP(w, r)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(file)))
		_, _ = w.Write(file[:3000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	got, err := fetchFrom(t, silent, Download{Idle: 100 * time.Millisecond})
	if err != nil || !bytes.Equal(got, file) || strings.Join(rest.seen, ",") != "bytes=3000-" {
		t.Errorf("%d bytes, asked for %q, %v", len(got), rest.seen, err)
	}
}

// fetchFrom downloads from a test server into a file that already has content.
func fetchFrom(t *testing.T, h http.Handler, d Download) ([]byte, error) {
	t.Helper()
	s := httptest.NewServer(h)
	defer s.Close()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, _ = f.WriteString("something else")
	last := int64(-1)
	d.URL, d.Client, d.Pause = s.URL+"/list.txt", s.Client(), time.Microsecond
	d.Progress = func(done, total int64) { last = done }
	n, err := d.To(t.Context(), f)
	if err == nil && n > 0 && last != n {
		t.Errorf("told of %d bytes of %d", last, n)
	}
	b := make([]byte, n)
	_, _ = f.ReadAt(b, 0)
	return b, err
}
