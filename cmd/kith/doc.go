// Kith is the command-line tool of the kith graph database: it loads edge lists, runs statements,
// checks a database and demonstrates the method.
//
//	kith demo               predict links of a generated graph
//	kith load DB FILE...    add edge lists to a database
//	kith predict DB NODE    rank the links that may come next from a node
//	kith why DB NODE NODE   explain the score of a link
//	kith train DB           fit a model to the edges or to the outcomes
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
// Predict, why and train (verbs.go) make a statement of their arguments and run it as kith shell -c
// does, so their rows, notes and errors are the shell's.
//
// # A server and a shell on one database
//
// One process writes to a database, and others read it only while none writes. Kith serve makes a
// socket in the directory of the database, SOCKET, that only its own user can open (mode 0600). If
// the directory is locked, shell, predict, why, train and changes ask the server at that socket by
// the protocol of package web. They need no token, because their user could open the database
// without the server, and they may do what the token allows. So with --write they may write, and
// without it they only read, as the server itself does. Files, transactions and settings are
// refused as in every request, and the server's limits of time hold. The other commands, and all if
// the process that holds the directory is not kith serve, fail and name the process.
//
// A server removes its socket when it ends. The socket of a killed server does no harm: the
// directory is not locked, and the next server replaces the socket. Where a socket cannot be made,
// because the path is too long (about 100 bytes) or the directory is read-only, kith serve prints a
// note, and --attach URL reaches the server.
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
