package edgelist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// array returns a .npy file: version 1, a header as NumPy writes it, and the elements in the byte
// order of the type.
func array(dtype, shape string, fortran bool, elements any) []byte {
	order := "False"
	if fortran {
		order = "True"
	}
	var byteOrder binary.ByteOrder = binary.LittleEndian
	if dtype[0] == '>' {
		byteOrder = binary.BigEndian
	}
	b := header(1, fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", dtype, order, shape))
	b, err := binary.Append(b, byteOrder, elements)
	if err != nil {
		panic(err)
	}
	return b
}

func header(version byte, dict string) []byte {
	text := dict + strings.Repeat(" ", 10) + "\n"
	b := append([]byte("\x93NUMPY"), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	}
	return append(b, text...)
}

// readMatrix returns the elements of a .npy file, row by row.
func readMatrix(r io.Reader) (rows, cols int, data []float32, err error) {
	m, err := newMatrix(buffered(r), Options{})
	if err != nil {
		return 0, 0, nil, err
	}
	data = make([]float32, 0, min(m.rows*m.cols, 1<<20))
	for err = m.next(); err == nil; err = m.next() {
		if data, err = m.float32s(data); err != nil {
			return 0, 0, nil, err
		}
	}
	if err != io.EOF {
		return 0, 0, nil, err
	}
	return m.rows, m.cols, data, nil
}

func TestReadMatrix(t *testing.T) {
	t.Parallel()
	six := []float32{0, 1, 2, 3, 4, 5}
	nan, inf := math.NaN(), math.Inf(1)
	const refused = "is not finite in 32 bits, or an integer that 32 bits would round"
	tests := []struct {
		name       string
		file       []byte
		rows, cols int
		data       []float32
		err        string
	}{
		{"f8", array("<f8", "(2, 3)", false, []float64{0, 1, 2, 3, 4, 5}), 2, 3, six, ""},
		{"f8, rounded", array("<f8", "(1, 1)", false, []float64{0.1}), 1, 1, []float32{0.1}, ""},
		{"f4", array("<f4", "(2, 3)", false, six), 2, 3, six, ""},
		{"f4, big endian", array(">f4", "(2, 3)", false, six), 2, 3, six, ""},
		{"f4, column by column", array("<f4", "(2, 3)", true, []float32{0, 3, 1, 4, 2, 5}), 2, 3, six, ""},
		{"i1", array("|i1", "(1, 3)", false, []int8{-128, 0, 127}), 1, 3, []float32{-128, 0, 127}, ""},
		{"u1", array("|u1", "(1, 2)", false, []uint8{0, 255}), 1, 2, []float32{0, 255}, ""},
		{"i2", array("<i2", "(1, 2)", false, []int16{-32768, 1}), 1, 2, []float32{-32768, 1}, ""},
		{"u2", array(">u2", "(1, 2)", false, []uint16{65535, 1}), 1, 2, []float32{65535, 1}, ""},
		{"i4", array("<i4", "(2, 1)", false, []int32{-1, 1 << 24}), 2, 1, []float32{-1, 1 << 24}, ""},
		{"u4", array("<u4", "(1, 1)", false, []uint32{1 << 31}), 1, 1, []float32{1 << 31}, ""},
		{"i8", array("<i8", "(1, 2)", false, []int64{math.MinInt64, 7}), 1, 2, []float32{-1 << 63, 7}, ""},
		{"u8", array("<u8", "(1, 2)", false, []uint64{1 << 63, 0}), 1, 2, []float32{1 << 63, 0}, ""},
		{"one dimension", array("<f4", "(6,)", false, six), 6, 1, six, ""},
		{"one dimension, column by column", array("<f4", "(6,)", true, six), 6, 1, six, ""},
		{"no rows", array("<f4", "(0, 3)", false, []float32{}), 0, 3, nil, ""},
		{"version 2", append(header(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"), 0, 0, 0, 0), 1, 1, []float32{0}, ""},
		{"more than the header says", append(array("<f4", "(1, 1)", false, []float32{2}), "more"...), 0, 0, nil, "the array has more rows than its header says: 1"},
		{"more than the header says, by columns", append(array("<f4", "(2, 3)", true, six), 0), 0, 0, nil, "the array has more rows than its header says: 2"},

		{"NaN", array("<f8", "(2, 3)", false, []float64{0, 1, 2, 3, 4, nan}), 0, 0, nil, "line 2: number 2 (from 0) " + refused},
		{"NaN, column by column", array("<f8", "(2, 3)", true, []float64{0, 1, 2, nan, 4, 5}), 0, 0, nil, "line 2: number 1 (from 0) " + refused},
		{"NaN, one dimension", array("<f4", "(3,)", false, []float32{0, 0, float32(nan)}), 0, 0, nil, "line 3: number 0 (from 0) " + refused},
		{"infinite", array("<f4", "(1, 2)", false, []float32{0, float32(-inf)}), 0, 0, nil, "line 1: number 1 (from 0) " + refused},
		{"infinite in 32 bits", array("<f8", "(1, 1)", false, []float64{1e300}), 0, 0, nil, "line 1: number 0 (from 0) " + refused},
		{"an integer rounded", array("<i8", "(1, 2)", false, []int64{1, -1<<24 - 1}), 0, 0, nil, "line 1: number 1 (from 0) " + refused},
		{"the largest integers", array("<u8", "(1, 1)", false, []uint64{math.MaxUint64}), 0, 0, nil, "line 1: number 0 (from 0) " + refused},

		{"empty", nil, 0, 0, nil, "EOF"},
		{"another file", []byte("0 1\n0 2\n0 3\n0 4\n"), 0, 0, nil, "magic"},
		{"header cut short", array("<f4", "(1,)", false, six)[:40], 0, 0, nil, "unexpected EOF"},
		{"elements cut short", array("<f4", "(7,)", false, six), 0, 0, nil, "6 of 7 rows: unexpected EOF"},
		{"an element cut short", array("<f4", "(6,)", false, six)[:len(array("<f4", "(6,)", false, six))-1], 0, 0, nil, "5 of 6 rows: unexpected EOF"},
		{"a shape that lies", array("<f8", "(1000000000, 1000000)", false, six), 0, 0, nil, "0 of 1000000000 rows: unexpected EOF"},
		{"a shape too large", array("<f8", "(9223372036854775807, 9223372036854775807)", false, six), 0, 0, nil, "shape"},
		{"a negative shape", array("<f8", "(-1, -6)", false, six), 0, 0, nil, "shape"},
		{"no columns", array("<f8", "(3, 0)", false, []float32{}), 0, 0, nil, "shape"},
		{"no dimension", array("<f8", "()", false, six), 0, 0, nil, "0 dimensions"},
		{"three dimensions", array("<f8", "(1, 2, 3)", false, six), 0, 0, nil, "3 dimensions"},
		{"complex", array("<c8", "(1,)", false, six), 0, 0, nil, `type "<c8"`},
		{"strings", array("<U7", "(1,)", false, six), 0, 0, nil, `type "<U7"`},
		{"no byte order", array("|f8", "(1,)", false, six), 0, 0, nil, `type "|f8"`},
		{"version 3", header(3, "{}"), 0, 0, nil, "version"},
		{"no dictionary", header(1, "hello"), 0, 0, nil, "dictionary"},
		{"a damaged dictionary", header(1, "'shape': 'fortran_order': 'descr': "), 0, 0, nil, "damaged"},
		{"no line end", []byte("\x93NUMPY\x01\x00\x03\x00abc"), 0, 0, nil, "damaged"},
		{"a long header", append([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), make([]byte, 100)...), 0, 0, nil, "longer than 64 KiB"},
	}
	for _, tt := range tests {
		for _, r := range []io.Reader{bytes.NewReader(tt.file), iotest.HalfReader(bytes.NewReader(tt.file))} {
			rows, cols, data, err := readMatrix(r)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.HasPrefix(err.Error(), "edgelist: ") {
					t.Errorf("%s: got %v, want %s", tt.name, err, tt.err)
				}
				continue
			}
			if err != nil || rows != tt.rows || cols != tt.cols || !slices.Equal(data, tt.data) {
				t.Errorf("%s: got %d rows, %d columns, %v, %v", tt.name, rows, cols, data, err)
			}
		}
	}
}

func TestReadMatrixError(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk gone")
	file := array("<f4", "(6,)", false, []float32{1, 2, 3})
	if _, _, _, err := readMatrix(io.MultiReader(bytes.NewReader(file), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

// TestReadMatrixOracle: matrices that npyio writes are read back unchanged, in pieces of any size.
func TestReadMatrixOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 300).Draw(t, "rows"), rapid.IntRange(1, 60).Draw(t, "cols")
		seed := rapid.Float64Range(-1e6, 1e6).Draw(t, "seed")
		want := mat.NewDense(rows, cols, nil)
		want.Apply(func(i, j int, _ float64) float64 { return seed*float64(i) + float64(j) }, want)
		var file bytes.Buffer
		if err := npy.Write(&file, want); err != nil {
			t.Fatal(err)
		}
		gotRows, gotCols, data, err := readMatrix(&file)
		if err != nil || gotRows != rows || gotCols != cols || len(data) != rows*cols {
			t.Fatalf("got %d x %d, %d elements, %v", gotRows, gotCols, len(data), err)
		}
		for k, v := range data {
			if v != float32(want.At(k/cols, k%cols)) {
				t.Fatalf("element %d: got %v, want %v", k, v, want.At(k/cols, k%cols))
			}
		}
	})
}

func TestPublicMatrices(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path       string
		rows, cols int
	}{
		{"prb/grqc/entry.npy", 50000, 3},
		{"prb/grqc/features.npy", 5242, 10},
		{"prb/facebook/features.npy", 4039, 10},
		{"prb/amazon/item_features.npy", 4000, 10},
		{"prb/yelp/entry.npy", 117907, 3},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			rows, cols, data, err := readMatrix(data(t, tt.path))
			if err != nil || rows != tt.rows || cols != tt.cols || len(data) != rows*cols {
				t.Fatalf("got %d x %d, %d elements, %v", rows, cols, len(data), err)
			}
			if cols == 3 { // rows are (node, node, +1 or -1)
				for i := 2; i < len(data); i += 3 {
					if data[i] != 1 && data[i] != -1 {
						t.Fatalf("row %d has mark %v", i/3, data[i])
					}
				}
			}
		})
	}
}

func FuzzReadMatrix(f *testing.F) {
	f.Add(array("<f8", "(2, 3)", true, []float64{0, 1, 2, 3, 4, 5}))
	f.Add(array(">i8", "(2,)", false, []int64{0, 1 << 60}))
	f.Add(array("|u1", "()", false, []uint8{0}))
	f.Add(header(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000000), }"))
	f.Add(header(1, "'shape': 'fortran_order': 'descr': "))
	f.Fuzz(func(t *testing.T, file []byte) {
		rows, cols, data, err := readMatrix(bytes.NewReader(file))
		if err != nil {
			return
		}
		if len(data) != rows*cols || len(data) > len(file) {
			t.Fatalf("%d x %d, %d elements of %d bytes", rows, cols, len(data), len(file))
		}
		for _, v := range data {
			if v-v != 0 {
				t.Fatalf("element %v", v)
			}
		}
	})
}

func BenchmarkReadMatrix(b *testing.B) {
	file := array("<f8", "(100000, 10)", false, make([]float64, 1000000))
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := readMatrix(bytes.NewReader(file)); err != nil {
			b.Fatal(err)
		}
	}
}
