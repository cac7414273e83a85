// Package edgelist reads graphs from files: edges from text, tables, sparse matrices and arrays, labels and features of
// nodes, benchmarks from folders. It streams, stores nothing and knows no database; what the tokens of a line become is
// its caller's.
//
// # Edge lists
//
// [NewReader] reads any [Format], and tells which from the first bytes, whatever the file is called;
// the name decides only between blanks and another separator where a text would do as either. Files
// may be packed with gzip, zstd or bzip2.
//
// Text is as the SNAP collection (snap.stanford.edu/data) writes it: an edge a line, columns between
// spaces or tabs; lines that begin with # or % are comments; blank lines, CRLF, a byte order mark and
// a last line without an end are accepted. CSV and TSV are tables (RFC 4180, but that a quoted field
// ends on its line), with comments too. Their first line is taken for a header where it names a source
// and a target, or has names where the other lines have integers; a header that names source, target,
// weight or time says which columns these are. Of a Matrix Market file the coordinates are the keys,
// from 1. Of arrays (.npy, or .npz with one called edge_index, edges or edge), a row is an edge, or a
// column where there are only two or three rows. Of a split (.pt) the links are edges. What looks like
// JSON, XML, UTF-16, Parquet, HDF5 or xz is refused by that name unless the format is given.
//
// The first two columns are the ends of the edge. A [Token] in the canonical spelling of an int64
// is an integer, anything else a string: 7 is an integer, 007, +7, -0 and 9223372036854775808 are
// strings. Quotes around 7 change nothing. A line that begins with a key such as #a is a comment.
//
// What the columns mean is said by [Options]: by their order, or by their names in the header ([Names]). Else the
// header says it and, where it does not, the first lines do: integers above 1e8 and dates in a third column are
// times, anything else weights. [Reader.Columns], [Reader.Names], [Reader.Times] and [Reader.Unused] tell the
// answer before the first edge, so that a caller can report it. With columns guessed, a line of another
// number of columns is malformed; with columns given by their order, columns after them are ignored.
//
// Times are seconds since 1970, in UTC. A list may have them in other units, or as dates ([TimeFormat]).
//
// # Nodes
//
// [NewNodes] reads labels and [NewFeatures] vectors, beside keys or in the order of nodes numbered
// from 0, where a blank line is of a node of which nothing is told. [Parts] finds all that a folder of
// the Open Graph Benchmark tells of a graph.
//
// # Writing
//
// [Writer] writes lists of text that are read back as they were, or refuses what would not be.
//
// # Downloads
//
// [Download] fetches a file over HTTP and goes on where a connection broke, if the server can say
// that the file is still the same (RFC 9110, sections 13.1.5 and 14.2).
//
// # Matrices
//
// [ReadMatrix] reads feature vectors, a row a node, all at once. npyio reads the header; the elements are read
// here, because npyio takes a file cut short for zeros, trusts the shape with memory, and reads an
// element a call.
//
// # Benchmarks
//
// [ReadOGB] reads a graph as the Open Graph Benchmark (ogb.stanford.edu) lays it out in a folder, [ReadSplit] the links
// and other pairs of one part of it, a file of PyTorch. Such a file is a Python pickle, a program that can do anything.
// The interpreter here knows values, arrays and tensors and refuses the rest; readers of pickles for Go
// allocate what a length in the file claims, and know the bytes of old NumPy arrays only with classes of one's own.
//
// # Errors
//
// A malformed line comes as a [*LineError], which may name the option that would help, and the stream goes on; to
// count, show or refuse is up to the caller. Any other error, of the reader below or of the packing, ends the stream. A file cut short
// is seen as such if it is packed, or says how much it holds: plain text does not. So is an array of more rows than
// its header says.
//
// # Invariants
//
// An edge's weight is finite and positive. A string token is valid UTF-8 without NUL and not empty.
// Memory is bounded whatever the input: a line of more than 1 MiB is a [*LineError], a zstd window of
// more than 128 MiB an error, what has to be read out of order goes where Options.Spool says, and a
// split, which is read whole, is no longer than Options.MaxSplit.
// Nothing is allocated for a line of integers.
package edgelist
