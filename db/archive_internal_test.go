package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"kith/index"
)

// archiveOf writes an archive of the header and entries.
func archiveOf(t testing.TB, h archiveHeader, entries ...archived) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := newArchiveWriter(&b, h)
	must(t, err)
	for _, e := range entries {
		must(t, w.add(e))
	}
	must(t, w.end())
	return b.Bytes()
}

func stored(key, value string) archived {
	return archived{Entry: index.Entry{Key: []byte(key), Value: []byte(value)}}
}

// readArchive returns the entries of an archive as text.
func readArchive(r io.Reader) (lines []string, err error) {
	a, err := openArchive(r)
	if err != nil {
		return nil, err
	}
	for e, err := range a.all() {
		if err != nil {
			return lines, err
		}
		lines = append(lines, fmt.Sprintf("%s=%s %v %x", e.Key, e.Value, e.kept, e.digest[:2]))
	}
	return lines, nil
}

func TestArchive(t *testing.T) {
	t.Parallel()
	h := archiveHeader{Version: archiveVersion, Format: index.Format, Seq: 9, Since: 4}
	kept := archived{Entry: index.Entry{Key: []byte("abd")}, kept: true, digest: digest{1, 2}}
	long := strings.Repeat("x", 3*frameSize)
	b := archiveOf(t, h, stored("a", ""), stored("abc", "1"), kept, stored("b", long), stored("c", "2"))
	lines, err := readArchive(bytes.NewReader(b))
	want := []string{"a= false 0000", "abc=1 false 0000", "abd= true 0102", "b=" + long + " false 0000", "c=2 false 0000"}
	if err != nil || strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v, %q", err, lines)
	}
	if lines, err = readArchive(bytes.NewReader(archiveOf(t, h))); err != nil || len(lines) > 0 {
		t.Errorf("of nothing: %v, %q", err, lines)
	}
}

func TestArchiveRefuses(t *testing.T) {
	t.Parallel()
	h := archiveHeader{Version: archiveVersion, Format: index.Format, Seq: 9}
	newer, other := h, h
	newer.Version++
	other.Format++
	none, last, later := h, h, h
	none.Seq, last.Seq, later.Since = 0, math.MaxUint64, 10
	kept := archived{Entry: index.Entry{Key: []byte("k")}, kept: true}
	for name, c := range map[string]struct {
		archive []byte
		want    error
	}{
		"a newer layout":           {archiveOf(t, newer), ErrMismatch},
		"a newer format":           {archiveOf(t, other), ErrMismatch},
		"no version":               {archiveOf(t, none), ErrCorrupt},
		"no version after it":      {archiveOf(t, last), ErrCorrupt},
		"changes since a later":    {archiveOf(t, later), ErrCorrupt},
		"keys out of order":        {archiveOf(t, h, stored("b", ""), stored("a", "")), ErrCorrupt},
		"a key twice":              {archiveOf(t, h, stored("b", ""), stored("b", "")), ErrCorrupt},
		"a value that is nowhere":  {archiveOf(t, h, kept), ErrCorrupt},
		"a length and nothing":     {[]byte(archiveMagic + "\xff\xff\xff\x00sum."), ErrCorrupt},
		"a length that cannot be":  {[]byte(archiveMagic + "\xff\xff\xff\xffsum."), ErrCorrupt},
		"nothing behind the magic": {[]byte(archiveMagic), ErrCorrupt},
	} {
		if _, err := readArchive(bytes.NewReader(c.archive)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Missing, repeated and reordered frames are detected, even though each is intact.
func TestArchiveOfOtherFrames(t *testing.T) {
	t.Parallel()
	h := archiveHeader{Version: archiveVersion, Format: index.Format, Seq: 9}
	b := archiveOf(t, h, stored("a", strings.Repeat("1", frameSize)), stored("b", strings.Repeat("2", frameSize)))
	var frames [][]byte
	for rest := b[len(archiveMagic):]; len(rest) > 0; {
		n := 8 + int(uint32(rest[0])|uint32(rest[1])<<8|uint32(rest[2])<<16)
		frames, rest = append(frames, rest[:n]), rest[n:]
	}
	for _, order := range [][]int{{0, 1, 3}, {0, 2, 3}, {0, 2, 1, 3}, {0, 1, 1, 2, 3}, {0, 3}, {0, 1, 2}, {1, 2, 3}, {0, 0, 1, 2, 3}} {
		other := []byte(archiveMagic)
		for _, i := range order {
			other = append(other, frames[i]...)
		}
		if _, err := readArchive(bytes.NewReader(other)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("frames %v: %v", order, err)
		}
	}
}

// For any input, reading returns an error or entries in order, and memory is proportional to the input.
func FuzzArchive(f *testing.F) {
	h := archiveHeader{Version: archiveVersion, Format: index.Format, Seq: 9}
	f.Add(archiveOf(f, h, stored("a", "1"), stored("b", "2")))
	f.Add([]byte(archiveMagic + "\xff\xff\xff\x00sum."))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := readArchive(bytes.NewReader(b)); err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrMismatch) {
			t.Error(err)
		}
		// The code behind the checksums.
		a := &archive{archiveHeader: archiveHeader{Since: 1}}
		last := ""
		_, err := a.each(b, nil, func(e archived, _ error) bool {
			if string(e.Key) <= last {
				t.Errorf("%q after %q", e.Key, last)
			}
			last = string(e.Key)
			return true
		})
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
	})
}

// An archive without a complete version does not restore.
func TestRestoreOfLess(t *testing.T) {
	t.Parallel()
	h := archiveHeader{Version: archiveVersion, Format: index.Format, Seq: 9}
	for name, archive := range map[string][]byte{"nothing": archiveOf(t, h), "no meta record": archiveOf(t, h, stored("a", "1"))} {
		path := filepath.Join(t.TempDir(), "g")
		if err := Restore(context.Background(), path, nil, bytes.NewReader(archive)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
