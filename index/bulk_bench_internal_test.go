package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// rmat passes n edges of the recursive matrix model with 2^scale nodes to visit (Chakrabarti, Zhan,
// Faloutsos 2004).
func rmat(scale, n int, visit func(u, v int64) error) error {
	rng := rand.New(rand.NewPCG(1, 0))
	for range n {
		u, v := int64(0), int64(0)
		for range scale {
			p := rng.Uint32N(100)
			u, v = u<<1, v<<1
			if p >= 76 {
				u++
			}
			if p >= 57 && p < 76 || p >= 95 {
				v++
			}
		}
		if err := visit(u, v); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkBulk loads edges and writes a generation, in memory and in little memory.
func BenchmarkBulk(b *testing.B) {
	const scale, edges = 19, 2_000_000
	for _, memory := range []int64{0, 8 << 20} {
		b.Run(fmt.Sprintf("memory=%d", memory), func(b *testing.B) {
			for b.Loop() {
				loadRmat(b, scale, edges, memory)
			}
			b.ReportMetric(float64(b.N)*edges/b.Elapsed().Seconds(), "edges/s")
		})
	}
}

func loadRmat(b testing.TB, scale, edges int, memory int64) {
	bulk := New(soundMeta()).Bulk(BulkOptions{Memory: memory, Scratch: func() (Scratch, error) {
		f, err := os.CreateTemp(b.TempDir(), "")
		if err == nil {
			b.Cleanup(func() { f.Close() })
		}
		return f, err
	}})
	defer bulk.Close()
	err := rmat(scale, edges, func(u, v int64) error { return bulk.Edge(Int(u), Int(v), 0, 1, 0) })
	written := new(sizeOf)
	if err == nil {
		_, _, err = bulk.Write(context.Background(), written, 1, new(Stored))
	}
	if err != nil || *written == 0 {
		b.Fatal(*written, err)
	}
}

// sizeOf is a Writer that counts the bytes of values.
type sizeOf int64

func (n *sizeOf) Set(_, value []byte) error {
	*n += sizeOf(len(value))
	return nil
}

func (*sizeOf) Delete([]byte) error { return nil }
