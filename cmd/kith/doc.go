// Kith is the tool of the kith graph database: it loads edge lists, runs statements, checks a
// database and shows what the method does.
//
//	kith demo               learn 2,000 rounds on a made graph, beside policies that do not learn
//	kith load DB FILE...    add edge lists to a database, made if need be
//	kith gen MODEL          write a random graph, to size a machine
//	kith shell DB           run statements: typed, piped, from -c or -f
//	kith serve DB           answer statements that read, over HTTP on this machine
//	kith check DB           verify every invariant
//	kith backup DB FILE     copy a database into one file
//	kith restore FILE... DB make a database of a backup
//	kith compact DB         free the space of what nobody can read any more
//	kith bench ppr          measure PageRank on graphs of yours
//	kith bench load FILE    measure loading edge lists: edges a second, memory, bytes on disk
//	kith bench open DB      measure the time from opening a database to its first answer
//	kith bench predict      measure predictions, alone and beside a writer
//	kith bench commit       measure durable commits, by so many writers at once
//	kith version
//
// # Parts
//
// The tool holds nothing that somebody who embeds the database would want: statements are package
// query's, loading is package db's, trials are package model/trial's. A subcommand is a file; the
// shell is some nouns more:
//
//	session   runs commands, writes rows, reports errors
//	engine    what statements run on: a database of this process (local) or another one (remote)
//	command   what a script falls into: statements and dot commands
//	dot       a command of the shell itself
//	prompt    asks for commands on a terminal (readline)
//	menu      what Tab and Ctrl-R show below the prompt
//	history   what was typed, in a file
//	complete  what a word may become, by the grammar (query.Expected), the names in the database and
//	          those that kith itself has given (words)
//	highlight colours of what is typed
//	mode      how rows are written: tables for people, JSON lines for programs
//	table     rows drawn, no wider than the terminal
//
// # Output
//
// Results go to standard output and nothing else does. Errors, remarks, progress bars and times of
// what is not a table go to standard error. Progress bars appear on a terminal only; whether rows
// are a table or JSON lines is decided by what standard output is, unless .mode says so. Colours are of
// what is typed and of the names of columns, on a terminal, unless NO_COLOR is set. There is a blank
// where a value is missing: in a table, in CSV; JSON says null.
//
// An error of a statement begins with its place, and the line it stands in follows, a caret under
// the place:
//
//	kith: 1:19: found alice, expected a node (an integer, a 'string' or a parameter); did you mean 'alice'?
//	PREDICT LINKS FOR alice;
//	                  ^
//
// The exit code is 0 if all went well, 1 if something failed, 2 if the command line was wrong. If nobody
// reads the output any more, the tool ends, without a word, as if that were an error.
//
// # Invariants
//
// Only load and shell --create make a database. A file is loaded whole or not at all; a database
// that load made is removed again if nothing could be loaded into it. Ctrl-C ends the statement that runs,
// and with it a script but not a typed session; whatever Ctrl-C ends, the database is as if it had
// not been begun. SIGTERM and SIGHUP end the tool that way, and it closes the database.
//
// # Caveats
//
// Readline reads 1,024 bytes at a time and drops a character outside ASCII that ends a read half. So much comes
// at once only from what is typed ahead, or pasted in a terminal without bracketed paste. A terminal that
// knows no control sequences (TERM=dumb) gets a prompt without editing.
package main
