package archive

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"kith/index"
)

// archiveOf writes an archive of the header and entries.
func archiveOf(t testing.TB, k Kind, h Header, entries ...Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, k, h)
	for _, e := range entries {
		err = errors.Join(err, w.Add(e))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func stored(key, value string) Entry {
	return Entry{Key: []byte(key), Value: []byte(value)}
}

// readArchive returns the entries of an archive as text.
func readArchive(r io.Reader) (lines []string, err error) {
	a, err := NewReader(r, Backup)
	if err != nil {
		return nil, err
	}
	for e, err := range a.All() {
		if err != nil {
			return lines, err
		}
		lines = append(lines, fmt.Sprintf("%s=%s %x", e.Key, e.Value, e.Digest))
	}
	return lines, nil
}

func TestArchive(t *testing.T) {
	t.Parallel()
	h := Header{Seq: 9, Since: 4}
	kept := Entry{Key: []byte("abd"), Digest: digestOf(nil)}
	long := strings.Repeat("x", 3*frameSize)
	b := archiveOf(t, Backup, h, stored("a", ""), stored("abc", "1"), kept, stored("b", long), stored("c", "2"))
	lines, err := readArchive(bytes.NewReader(b))
	want := []string{"a= ", "abc=1 ", fmt.Sprintf("abd= %x", digestOf(nil)), "b=" + long + " ", "c=2 "}
	if err != nil || strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v, %q", err, lines)
	}
	if lines, err = readArchive(bytes.NewReader(archiveOf(t, Backup, h))); err != nil || len(lines) > 0 {
		t.Errorf("of nothing: %v, %q", err, lines)
	}
}

func TestArchiveRefuses(t *testing.T) {
	t.Parallel()
	h := Header{Seq: 9}
	newer := bytes.NewBufferString(Backup.magic)
	w := &Writer{w: newer, sum: sha256.New()}
	if err := w.document(frameHeader, &Header{Version: version + 1, Format: index.Format, Seq: 9}); err != nil {
		t.Fatal(err)
	}
	otherFormat := Backup
	otherFormat.format++
	none, last, later := h, h, h
	none.Seq, last.Seq, later.Since = 0, math.MaxUint64, 10
	kept := Entry{Key: []byte("k"), Digest: digestOf(nil)}
	for name, c := range map[string]struct {
		archive []byte
		want    error
	}{
		"a newer layout":           {newer.Bytes(), index.ErrMismatch},
		"a newer format":           {archiveOf(t, otherFormat, h), index.ErrMismatch},
		"a model":                  {archiveOf(t, Model, Header{}), index.ErrMismatch},
		"no version":               {archiveOf(t, Backup, none), index.ErrCorrupt},
		"no version after it":      {archiveOf(t, Backup, last), index.ErrCorrupt},
		"changes since a later":    {archiveOf(t, Backup, later), index.ErrCorrupt},
		"keys out of order":        {archiveOf(t, Backup, h, stored("b", ""), stored("a", "")), index.ErrCorrupt},
		"a key twice":              {archiveOf(t, Backup, h, stored("b", ""), stored("b", "")), index.ErrCorrupt},
		"a value that is nowhere":  {archiveOf(t, Backup, h, kept), index.ErrCorrupt},
		"a length and nothing":     {[]byte(Backup.magic + "\xff\xff\xff\x00sum."), index.ErrCorrupt},
		"a length that cannot be":  {[]byte(Backup.magic + "\xff\xff\xff\xffsum."), index.ErrCorrupt},
		"nothing behind the magic": {[]byte(Backup.magic), index.ErrCorrupt},
	} {
		if _, err := readArchive(bytes.NewReader(c.archive)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Missing, repeated and reordered frames are detected, even though each is intact.
func TestArchiveOfOtherFrames(t *testing.T) {
	t.Parallel()
	h := Header{Seq: 9}
	b := archiveOf(t, Backup, h, stored("a", strings.Repeat("1", frameSize)), stored("b", strings.Repeat("2", frameSize)))
	var frames [][]byte
	for rest := b[len(Backup.magic):]; len(rest) > 0; {
		n := 8 + int(uint32(rest[0])|uint32(rest[1])<<8|uint32(rest[2])<<16)
		frames, rest = append(frames, rest[:n]), rest[n:]
	}
	for _, order := range [][]int{{0, 1, 3}, {0, 2, 3}, {0, 2, 1, 3}, {0, 1, 1, 2, 3}, {0, 3}, {0, 1, 2}, {1, 2, 3}, {0, 0, 1, 2, 3}} {
		other := []byte(Backup.magic)
		for _, i := range order {
			other = append(other, frames[i]...)
		}
		if _, err := readArchive(bytes.NewReader(other)); !errors.Is(err, index.ErrCorrupt) {
			t.Errorf("frames %v: %v", order, err)
		}
	}
}

// For any input, reading returns an error or entries in order, and memory is proportional to the
// input.
func FuzzArchive(f *testing.F) {
	h := Header{Seq: 9}
	f.Add(archiveOf(f, Backup, h, stored("a", "1"), stored("b", "2")))
	f.Add([]byte(Backup.magic + "\xff\xff\xff\x00sum."))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := readArchive(bytes.NewReader(b)); err != nil && !errors.Is(err, index.ErrCorrupt) && !errors.Is(err, index.ErrMismatch) {
			t.Error(err)
		}
		// The code behind the checksums.
		a := &Reader{kind: Backup, Header: Header{Since: 1}}
		last := ""
		entries, err := a.parse(append([]byte{frameEntries}, b...))
		for _, e := range entries {
			if string(e.Key) <= last {
				t.Errorf("%q after %q", e.Key, last)
			}
			last = string(e.Key)
		}
		if err != nil && !errors.Is(err, index.ErrCorrupt) {
			t.Error(err)
		}
	})
}
