package edgelist

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"strings"

	"kith/db/edgelist/internal/foreign"
	"kith/db/edgelist/internal/gorse"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Format is a file format for edges.
type Format int

const (
	// AnyFormat is detected from the first bytes of the file and, if they are ambiguous, from its
	// name.
	AnyFormat    Format = iota
	SNAP                // columns separated by blanks
	CSV                 // columns separated by commas, semicolons or bars, with quotes
	TSV                 // columns separated by tabs, with quotes
	MatrixMarket        // a sparse matrix, with coordinates from 1
	NPY                 // a NumPy array of two or three columns, or rows
	NPZ                 // an archive of such arrays
	Torch               // the links of a split of a benchmark, saved by PyTorch
	Folder              // a folder of the Open Graph Benchmark, read by Parts
	Parquet             // a table, read and written by Options.Tables
	Lists               // a node and all nodes that it links to on each line
	NTriples            // statements of RDF, as N-Triples or N-Quads
	JSONLines           // an object of JSON on each line
	Gorse               // users, items or feedback that Gorse exports
)

// formats returns the names of the values of Format.
func formats() []string {
	return []string{"auto", "snap", "csv", "tsv", "mtx", "npy", "npz", "pt", "ogb", "parquet", "lists", "nt", "jsonl", "gorse"}
}

// Formats returns the names of the formats that a user can choose.
func Formats() []string { return formats()[1:] }

// String returns the format's name, such as "csv".
func (f Format) String() string { return enumName(f, formats()) }

// MarshalText implements [encoding.TextMarshaler].
func (f Format) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (f *Format) UnmarshalText(b []byte) (err error) {
	*f, err = parseEnum[Format]("format", string(b), formats(), ", ")
	return err
}

const (
	magicNPY = "\x93NUMPY"
	magicZip = "PK\x03\x04" // also of files of PyTorch
	magicMTX = "%%MatrixMarket"
	magicPAR = "PAR1"
	// magicPT begins a pickle with PyTorch's magic number.
	magicPT = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46"
)

// detect detects the format from a file's first bytes. For columns of text it returns AnyFormat.
func detect(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, []byte(magicNPY)):
		return NPY
	case foreign.BeginsBinary(magicPAR)(head), string(head) == magicPAR:
		return Parquet
	case bytes.HasPrefix(head, []byte(magicZip)):
		return NPZ
	case bytes.HasPrefix(head, []byte(magicPT)):
		return Torch
	case len(head) >= len(magicMTX) && strings.EqualFold(string(head[:len(magicMTX)]), magicMTX):
		return MatrixMarket
	case isStatements(head):
		return NTriples
	}
	return AnyFormat
}

// Labels of the nodes of Gorse. A list of nodes has them in its keys: 'user:7'.
const (
	GorseUser = gorse.User
	GorseItem = gorse.Item
)

// openExport returns the lines of JSON that stand for an export of Gorse, and sets Format to
// theirs.
func openExport(in *bufio.Reader, o *Options) (*bufio.Reader, error) {
	export, err := gorse.New(in)
	if err != nil {
		return nil, fmt.Errorf("edgelist: %w", err)
	}
	if o.nodes == (export.Kind == gorse.Feedback) {
		return nil, fmt.Errorf("edgelist: %s of Gorse are %s", export.Kind, map[bool]string{true: "a list of edges", false: "a list of nodes"}[o.nodes])
	}
	o.Format, o.export = JSONLines, export
	return bufio.NewReaderSize(export, maxLine), nil
}

// KindOf returns what a file in a format has, and a reader of the whole file. Only files of Gorse
// say it: others have edges.
func KindOf(r io.Reader, f Format) (Kind, io.Reader, error) {
	if f != Gorse {
		return Edges, r, nil
	}
	in := bufio.NewReaderSize(r, maxLine)
	head, err := in.Peek(maxLine)
	if err != nil && err != io.EOF {
		return Edges, in, fmt.Errorf("edgelist: %w", err)
	}
	plain, err := open(bytes.NewReader(head), &Options{Format: SNAP})
	if err != nil {
		return Edges, in, err
	}
	export, err := gorse.New(plain)
	if err != nil {
		return Edges, in, fmt.Errorf("edgelist: %w", err)
	}
	if export.Kind == gorse.Feedback {
		return Edges, in, nil
	}
	return Labels, in, nil
}

// noteExport adds the notes about an export of Gorse, once.
func (d *Detected) noteExport(export **gorse.Reader) {
	if *export != nil {
		for _, n := range (*export).Notes() {
			d.note("%s", n)
		}
		*export = nil
	}
}

// maxWindow bounds the memory that a zstd file may request: the default limit of the zstd command.
const maxWindow = 128 << 20

// decompress returns a reader of the content of a file that may be compressed by gzip, zstd or
// bzip2, which it recognizes by the first bytes, and reports whether the file is compressed. The
// reader has no goroutines and need not be closed.
func decompress(r io.Reader) (out io.Reader, packed bool, err error) {
	raw := bufio.NewReaderSize(r, 64<<10)
	magic, _ := raw.Peek(6)
	out = raw
	switch m := string(magic); {
	case strings.HasPrefix(m, "\x1f\x8b"):
		out, err = gzip.NewReader(raw)
	case m == "\xfd7zXZ\x00":
		err = errors.New("packed with xz, which is not read: accepted are gzip, zstd and bzip2")
	case strings.HasPrefix(m, "\x28\xb5\x2f\xfd"):
		out, err = zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	case len(m) >= 4 && m[:3] == "BZh" && '1' <= m[3] && m[3] <= '9':
		out = bzip2.NewReader(raw)
	}
	if err != nil {
		return nil, false, fmt.Errorf("edgelist: %w", err)
	}
	return out, out != io.Reader(raw), nil
}

// buffered returns a buffered reader of r, for reading a few bytes at a time.
func buffered(r io.Reader) io.Reader { return bufio.NewReaderSize(r, 64<<10) }
