// Package query runs statements of kith's language on a database.
//
// [Run] runs one statement. A [Session] runs many, and may hold a transaction and settings.
// [Connector] serves database/sql. Package web serves HTTP.
//
//	rows, err := query.Run(ctx, g, "PREDICT LINKS FOR ? AMONG NEIGHBORS(2) TOP 10", "ann")
//
// An argument of a parameter is a node (an integer, a string or a db.Key), a number, a string, a
// time.Time or a time.Duration. In a list of nodes or of features, and after IN, it may be a slice,
// which is replaced by its elements; in place of a set it is a db.Candidates or a slice of nodes.
// An sql.NamedArg is the argument of $name.
//
// A fault in a statement is an [*Error] with its position. errors.Is finds the database's error in
// it.
//
// The statement HELP describes the language, and so does LANGUAGE.md.
package query
