package store

import (
	"encoding/binary"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"kith/index"
)

// benchRecords is the number of records of benchStore, of 4 KB each.
const benchRecords = 1 << 13

// benchStore makes a store whose records have keys like those of rows.
func benchStore(b *testing.B) (path string, o Options) {
	path = filepath.Join(b.TempDir(), "s")
	o = Options{Memory: 50 << 20, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	s, err := Open(path, o)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	err = s.Batch(1, func(w index.Writer) error {
		for i := range benchRecords {
			v := make([]byte, 4<<10)
			for j := range v {
				v[j] = byte(rng.IntN(64))
			}
			if err := w.Set(benchKey(i), v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Accept(); err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return path, o
}

func benchKey(i int) []byte {
	return binary.BigEndian.AppendUint32([]byte("x\x00\x00\x00\x01"), uint32(i))
}

// BenchmarkOpen measures how long it takes to open a store, to read a record and to close the
// store.
func BenchmarkOpen(b *testing.B) {
	path, o := benchStore(b)
	for b.Loop() {
		s, err := Open(path, o)
		if err != nil {
			b.Fatal(err)
		}
		if _, ok, err := s.At(s.Newest()).Read(benchKey(7)); !ok || err != nil {
			b.Fatal(ok, err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead measures reads of random records.
func BenchmarkRead(b *testing.B) {
	path, o := benchStore(b)
	s, err := Open(path, o)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	rng, from := rand.New(rand.NewPCG(1, 1)), s.At(s.Newest()+1) // after a later commit
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, err := from.Read(benchKey(rng.IntN(benchRecords))); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
