// Package block encodes the keys, rows and degrees of a graph in blocks of about 4 KB, and caches
// decoded blocks. It knows neither where blocks are stored nor under which names.
//
// # Types
//
// A [RowPacker] packs rows into blocks, which [Decoder.Rows] decodes into [Rows]. A [KeyPacker]
// does so with keys, by id or in key order; in a [KeyBlock] single keys are found without decoding
// the others. A [RowDirectory] and a [KeyDirectory] hold the first node of each block, [Degrees]
// the degrees of consecutive nodes.
//
// A [Set] reads the blocks of a kind on demand. All sets of a graph share a [Cache], which bounds
// the memory of the blocks. T can be anything that bytes are decoded to.
//
// A [Key] is the name of a node. A [Decoder] decodes numbers, keys and other values; each block is
// preceded by its checksum ([WithChecksum]).
//
// [Entries] are a row, or a part of one, in memory. Weights are not stored if all are 1, and times
// not if no edge has one.
package block
