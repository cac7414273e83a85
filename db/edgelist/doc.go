// Package edgelist reads graphs from files: edges from text, tables, sparse matrices and arrays,
// labels and features of nodes, and benchmarks from folders. It streams, stores nothing and does
// not depend on a database. The caller decides what the tokens of a line mean.
//
// # Edge lists
//
// [NewReader] reads any [Format], and detects it from the first bytes, whatever the name of the
// file is. The name decides only between blanks and another separator if a text is valid with
// either. Files may be compressed with gzip, zstd or bzip2.
//
// Text is in the format of the SNAP collection (snap.stanford.edu/data): an edge a line, with
// spaces or tabs between columns. CSV and TSV are tables, with commas, semicolons, bars, tabs or ::
// between columns (RFC 4180). Lines of JSON are objects, whose members are the columns. N-Triples
// and N-Quads are statements: the relation of an edge is the predicate, and a note counts the
// statements about a literal, which are no edges. In the format lists, each line holds a node and
// all nodes that it links to. Blank lines, lines that end with CRLF or with a carriage return
// alone, byte order marks and a last line without an end are accepted. A [Dialect] says how a text
// is divided; what it leaves open is detected from the first lines, and a note says so if another
// reading is plausible:
//
//   - Lines that begin with # or % are comments, unless at least as many of the first lines begin
//     so as do not, and have as many columns, or unless they have as many columns as a table with a
//     header. Comments are counted.
//   - The first line is a header if it has usual names for the two ends of an edge, or words where
//     the other lines have numbers. A line that repeats it is left out. With the format SNAP, only
//     the option makes a header.
//   - A quote that does not enclose a column is a character in TSV, and makes the line malformed in
//     CSV. A quoted column may hold the ends of lines. Columns between blanks have quotes if all
//     first columns of the lines do.
//   - Weights may have decimal commas.
//
// A header with usual names, such as source, user_id, follower or :START_ID, and relation,
// predicate, :TYPE, weight or time, assigns these columns. A first column of row numbers is left
// out. In a Matrix Market file the coordinates are the keys, from 1. In an array (.npy, or .npz
// with an array called edge_index, edges or edge), a row is an edge, or a column if there are only
// two or three rows, or if the array is called edge_index and has two rows. In a split (.pt) the
// links are edges. Further arrays called weight, edge_weight, edge_type, time, year or similarly
// hold the weights, relations and times of the edges, and a note names all arrays that are not
// read.
//
// Some forty other formats, such as GraphML, DOT, a document of JSON, UTF-16, HDF5 or a pointer of
// Git LFS, are rejected with an error that names the format and what to do instead, unless
// Options.Format is given. They are recognized by their first bytes, and only if these cannot be an
// edge list.
//
// The first two columns are the ends of the edge. A [Token] in the canonical spelling of an int64
// is an integer, anything else is a string: 7 is an integer; 007, +7, -0 and 9223372036854775808
// are strings. Quotes around 7 make no difference. Notes tell of keys that look like something
// else: 1.0, integers with commas between them, and keys that begin or end with a blank that cannot
// be seen. If sources and targets seem to be of two kinds, because of their names or of the format,
// a note says how many integers are both.
//
// [Options] assigns the columns by their order, or by their names in the header ([Names]).
// Otherwise the header assigns them. Without such a header they are guessed from the first lines:
// numbers above 1e8 and dates in a third column are times, anything else is a weight. Of three or
// four columns the second or the third has the names of relations if it plainly does: it has words
// or small integers, and its values repeat and are no keys, while the other one has no numbers. A
// note says so, and names the option if a column may have names. [Detected] is the result, known
// before the first edge, so that a caller can report it. If columns are guessed, a line with
// another number of columns is malformed. If they are given by their order, further columns are
// ignored. A header may have fewer names than the lines have columns; the columns without a name
// are left out, and a note says so.
//
// A relation is a text, an integer too. The names of relations are kept, at most 65,535 of at most
// 1,024 bytes each. [Options].Negative sends edges with a negative weight, which becomes positive,
// to a relation of their own.
//
// Times are seconds since 1970, in UTC, in the years 0 to 9999. A list may have them in other
// units, with fractions, or as dates ([TimeFormat]). A time that is empty, null, NaN or 0 is no
// time, and a note says how many edges lack a time.
//
// # Nodes
//
// [NewNodes] reads labels and [NewFeatures] reads vectors, each with a key, or without keys for the
// nodes from 0 in order, where a blank line stands for a node without data. [Parts] finds all files
// of a graph in a folder of the Open Graph Benchmark (ogb.stanford.edu), and names the files that
// are not read. The relations, weights and years that a folder has in files of their own belong to
// its edges, and the names that its folder mapping has belong to its nodes, as a property, and to
// its relations. The types of nodes that a folder or a split has, in which nodes are numbered
// apart, are labels.
//
// The further columns of a list of labels with a header, or of a Parquet file, are properties; see
// [Property]. The header, as in price:float, or an option says the type of a text, or [NewNodes]
// reads the whole text into a [Spool] and detects it. The narrowest of bool, integer, float and
// time that all values have is the type, otherwise string. An empty field is no value, and a value
// that does not fit makes its line malformed. [RowWriter.Value] writes what comes back unchanged.
//
// In the notation of Neo4j, a header says what the columns are, as in :START_ID(Person), :END_ID,
// :TYPE and :ID, name, price:float, :LABEL. The keys of a space, such as Person, are prefixed by
// it: 7 is the string Person:7. Of several labels, which semicolons separate, the first is read.
//
// # Writing
//
// [NewWriter] writes lists as text that reads back unchanged, and rejects values for which that is
// impossible.
//
// # Tables
//
// Parquet files have typed columns, which are chosen by their names. This package does not decode
// them, and links no library that does: a program that wants them imports edgelist/parquet and sets
// Options.Tables. Line numbers are numbers of rows, from 1.
//
// # Arrays
//
// Of a NumPy file, npyio reads the header. This package reads the elements itself, because npyio
// reads a truncated file as zeros, allocates what the shape claims, and makes a call for each
// element.
//
// # Benchmarks
//
// The links of a part of a split, or with Options.Unlinked its pairs without a link, are in a file
// of PyTorch: a dictionary of arrays called edge, source_node and target_node, head and tail, with
// a relation, or edge_index. The file is a Python pickle, a program that can do anything. The
// interpreter here supports values, arrays and tensors, and rejects the rest. The pickle readers
// for Go allocate what a length in the file claims, and support the bytes of old NumPy arrays only
// with user-defined classes.
//
// # Notes
//
// Detected.Notes name the assumptions and the omissions, and the options that read the list
// otherwise. A note that needs the whole list is added after its last edge.
//
// # Errors
//
// A malformed line is reported as a [*LineError], which may name an option that would help, and the
// stream continues. The caller decides whether to count, show or reject it. Any other error, of the
// underlying reader or of the decompression, ends the stream. A truncated file is detected if it is
// compressed, or if it states its size, which plain text does not. An array with more rows than its
// header says is detected too.
//
// # Invariants
//
// An edge's weight is finite and positive. A relation is valid UTF-8 without NUL. A string token is
// valid UTF-8 without NUL and not empty. Memory is bounded for any input: a line of more than 1 MiB
// is a [*LineError], a zstd window of more than 128 MiB is an error, data that must be read out of
// order goes to Options.Spool, and a split, which is read as a whole, is at most Options.MaxSplit
// bytes long. Nothing is allocated for a line of integers.
package edgelist
