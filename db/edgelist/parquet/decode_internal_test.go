package parquet

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/brotli"
	"github.com/parquet-go/parquet-go/compress/lz4"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// The last part of a block of differences may end with its last value. One that ends earlier is
// damaged.
func TestDeltasEndEarly(t *testing.T) {
	t.Parallel()
	want := make([]int64, 70) // of a block of 128 in four parts, the third has 5 values
	for i := range want {
		want[i] = int64(i * i % 37)
	}
	k := kind{physical: format.Int64}
	whole, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, want)
	if err != nil {
		t.Fatal(err)
	}
	shortest := len(whole)
	for n := len(whole); n >= 0; n-- {
		var got values
		if _, err := got.deltas(k, whole[:n], len(want)); err == nil {
			if shortest = n; !slices.Equal(got.Ints, want) {
				t.Fatalf("of %d bytes: %v\nwant %v", n, got.Ints, want)
			}
		} else if err != errPage {
			t.Fatal(err)
		}
	}
	const width = 6 // bits of a difference in the third part
	if padding := 32*width/8 - (5*width+7)/8; len(whole)-shortest != padding {
		t.Errorf("the shortest page has %d bytes less, want %d", len(whole)-shortest, padding)
	}
}

// Texts that share their beginnings must fit into memory when they are decoded. A text that repeats
// takes nothing.
func TestDeltaTexts(t *testing.T) {
	t.Parallel()
	const n, long = 500, 1000
	page := func(rest string) []byte {
		common, lengths, texts := make([]int64, n), make([]int64, n), strings.Repeat("x", long)
		lengths[0] = long
		for i := 1; i < n; i++ {
			common[i], lengths[i] = long, int64(len(rest))
			texts += rest
		}
		b, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, common)
		if err != nil {
			t.Fatal(err)
		}
		more, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, lengths)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Concat(b, more, []byte(texts))
	}
	k := kind{physical: format.ByteArray}
	for _, c := range []struct {
		rest string
		most int64
		want string
	}{
		{"y", n * (long + 1), ""},
		{"y", n*(long+1) - 2, "take more bytes than may be in memory"},
		{"", long, ""},
	} {
		var v values
		err := v.decode(k, format.DeltaByteArray, page(c.rest), n, c.most)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v", c.rest, err)
			}
			continue
		}
		if err != nil || len(v.Strings) != n || v.Strings[n-1] != strings.Repeat("x", long)+c.rest {
			t.Errorf("%q: %d texts, %v", c.rest, len(v.Strings), err)
		}
	}
}

// A page is decompressed into the bytes that its header says, or refused.
func TestDecompress(t *testing.T) {
	t.Parallel()
	text := bytes.Repeat([]byte("kith "), 200)
	for codec, packed := range map[format.CompressionCodec][]byte{
		format.Lz4Raw: encode(t, &lz4.Codec{}, text), format.Brotli: encode(t, &brotli.Codec{}, text),
	} {
		for _, size := range []int{len(text), len(text) - 1, len(text) + 1, 1} {
			out, err := decompress(codec, make([]byte, size), packed)
			if (err == nil) != (size == len(text)) || err == nil && !bytes.Equal(out, text) {
				t.Errorf("%v of %d bytes: %d, %v", codec, size, len(out), err)
			}
		}
		if _, err := decompress(codec, make([]byte, len(text)), packed[:len(packed)-3]); err == nil {
			t.Errorf("%v: no error for a page that is cut short", codec)
		}
	}
	if _, err := decompress(format.LZO, make([]byte, 1), []byte("x")); fmt.Sprint(err) != "compression LZO is not read (accepted: none, SNAPPY, GZIP, ZSTD, LZ4_RAW, BROTLI)" {
		t.Error(err)
	}
}

// encode compresses with the library.
func encode(t *testing.T, codec compress.Codec, text []byte) []byte {
	t.Helper()
	b, err := codec.Encode(nil, text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
