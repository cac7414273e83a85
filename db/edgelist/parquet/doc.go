// Package parquet reads and writes Parquet files (parquet.apache.org/docs/file-format). A [Format]
// is the edgelist.Tables of db.LoadOptions, db.ListOptions and query.Session, so that lists of
// edges, nodes and features can be Parquet files.
//
// It is a package of its own, below the interface that it implements, because of what it links:
// neither edgelist nor db nor query imports it, so a program that embeds kith has Parquet, and the
// seven modules below, only if it imports this package and sets Tables. The tools do.
//
// # What is read
//
// Columns of integers, floating point numbers, texts and times, and lists of numbers; compressed
// with none, Snappy, gzip, zstd, LZ4_RAW or Brotli; in pages of both versions and in the encodings
// PLAIN, dictionary, DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY and, of
// floating point, BYTE_STREAM_SPLIT. That is what Spark (with writer version v2 too), pandas,
// Polars and DuckDB write by default. A column of any other type is an error that says so if the
// column is needed, and is skipped otherwise. Encrypted files are refused.
//
// Memory is bounded by the argument of Open, or by 32 MiB if that is less, whatever a file claims.
// A page takes at most a quarter of it, as stored and once more decompressed. The decoded pages,
// one of each column that is read, and the dictionaries take at most half of it together. The
// footer takes no more than it at any time. A file that needs more is an error: for example one of
// 400 columns of numbers whose writer makes pages of a million rows, read with less than 7 GB.
//
// # The library
//
// Files are encoded, and their metadata decoded, by github.com/parquet-go/parquet-go (v0.32.0 of
// August 2026, Apache 2.0). Pages are decoded here, because the library takes as much memory as a
// file says that it needs, with the modules for LZ4 and Brotli that the library links. The other
// maintained library is github.com/apache/arrow-go (v18.8.0 of September 2026, Apache 2.0). A
// program that opens and writes a file takes 18 MB with the former and 33 MB with the latter, and
// the latter takes about four times as long to build. The former adds seven small modules to
// Badger's modules, the latter nine, among them Thrift and a JSON encoder, and raises the versions
// of klauspost/compress and of flatbuffers, which Badger uses.
package parquet
