// Package parse reads and writes the query language of kith: [Parse] turns the text of a statement
// into a tree, and the String of a tree writes a statement that parses to an equal tree, except for
// positions. Parameters and the difference between 1 and 1.0 are preserved. The grammars that
// [Forms] lists are what the parser follows: a new form of statement is a new row there. [Split]
// cuts a script into statements, [Expected] says what may follow the beginning of a statement.
//
// Names and values are checked by package query when a statement runs.
//
// INVARIANT: only conditions nest, to a bounded depth, so parsing uses a bounded stack, and time
// and memory linear in the text.
package parse
