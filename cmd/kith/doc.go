// Kith is the command-line tool of the kith graph database: it loads edge lists, runs statements,
// checks a database and demonstrates the method.
//
//	kith demo               predict links of a generated graph
//	kith load DB FILE...    add edge lists to a database
//	kith shell DB           run statements: typed, piped, from -c or -f
//	kith serve DB           show a database in a browser, answer statements over HTTP on this machine
//	kith mcp DB             let a language model ask a database (Model Context Protocol)
//	kith check DB           verify every invariant
//	kith backup DB FILE     copy a database into one file
//	kith restore FILE... DB make a database from a backup
//	kith changes DB         write what commits did, as lines of JSON; say how many are kept
//	kith compact DB         free the space of data that no reader can see
//	kith score DB           write the best links of every node to a file
//	kith completion SHELL   write a script that completes the commands of kith
//	kith version            print the build of the tool
//
// # Parts
//
// The tool holds no code that an embedding program would need: package query runs statements,
// package db loads files. Each subcommand has a file. Two parts are packages of their own:
// internal/shell runs typed and piped statements, and internal/mcpserver talks to language models.
//
// # Larger than one machine
//
// Score writes the best links of every node, on all cores, and continues after a kill. With --shard
// 3/16 it scores one part of 16, on any machine; the texts of all parts, joined, are the single run
// byte for byte. The 300,647 nodes of dblp-2010 take 2 minutes of CPU time with a trained model, 11
// seconds with --using adamic_adar. The statement for it is
//
//	PREDICT LINKS FOR ALL AMONG NEIGHBORS(2) TOP 10 EACH
//
// Without EACH it ranks the best of all pairs. The module cmd/kith-beam runs the parts on Apache
// Beam: tested on Prism, not measured on Dataflow, Flink and Spark.
//
// Backup copies one version while others write, and restore makes a whole database of it or none.
// Load and score also read and write Parquet, for Spark, DuckDB and pandas. Changes, GET /changes
// of a server and db.Changes yield each commit, durable and in order, once --keep has turned that
// on. The module cmd/kith-nats publishes the commits through NATS JetStream; followers apply them
// and give the same answers.
//
// # Output
//
// Results, and nothing else, go to standard output. Errors, remarks, progress, and times, except
// the times of tables, go to standard error. Progress is a bar on a terminal, and elsewhere lines
// of text if --progress is given. Rows are a table if standard output is a terminal, and otherwise
// JSON lines, unless .mode sets another format. Typed text and column names are coloured on a
// terminal unless NO_COLOR is set. A missing value is blank in a table and in CSV, and null in
// JSON.
//
// An error of a statement begins with its position. The line follows, with a caret under the
// position:
//
//	kith: 1:19: found alice, expected ALL, LABEL, "(" or a node (an integer, a 'string' or a parameter); did you mean 'alice'?
//	PREDICT LINKS FOR alice;
//	                  ^
//
// The exit code is 0 if the tool succeeded, 1 if it failed, and 2 if the command line was wrong. If
// the reader of the output closes it, the tool ends without a message, with exit code 1.
//
// # Invariants
//
// Only load and shell --create make a database. A file is loaded whole or not at all; a database
// that load made is removed if nothing could be loaded into it. Ctrl-C ends the running statement,
// and with it a script but not a typed session. The database is then as if the statement had not
// begun. SIGTERM and SIGHUP end the tool in the same way, and it closes the database.
//
// # Caveats
//
// Readline reads 1,024 bytes at a time, and drops a character outside ASCII that is split between
// two reads. Only text typed ahead, or pasted in a terminal without bracketed paste, is that long.
// A terminal without control sequences (TERM=dumb) gets a prompt without editing.
package main
