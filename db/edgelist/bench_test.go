package edgelist

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	integers, words, weights := &strings.Builder{}, &strings.Builder{}, &strings.Builder{}
	for i := range 100000 {
		fmt.Fprintf(integers, "%d\t%d\n", i/3, i*7)
		fmt.Fprintf(words, "user:%d\titem:%d\n", i/3, i*7)
		fmt.Fprintf(weights, "%d\t%d\t%.3f\n", i/3, i*7, float64(i)/100+1)
	}
	lists := []struct{ name, text string }{{"integers", integers.String()}, {"strings", words.String()}, {"weights", weights.String()}}
	for _, l := range lists {
		b.Run(l.name, func(b *testing.B) { benchmarkRead(b, []byte(l.text)) })
	}
	b.Run("dblp-2010.gz", func(b *testing.B) {
		text, err := io.ReadAll(data(b, "law/dblp-2010.edges.txt.gz"))
		if err != nil {
			b.Fatal(err)
		}
		benchmarkRead(b, text)
	})
}

func benchmarkRead(b *testing.B, text []byte) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		l, err := NewReader(bytes.NewReader(text), Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range l.Edges() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
