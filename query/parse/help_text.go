package parse

// Kind describes a kind of statement for HELP.
//
// In the grammar, words in capitals and punctuation are literal, words in small letters are terms, [ ] encloses
// optional parts, { | } lists alternatives, and "..." means that the item before it may repeat, separated by commas if
// a comma precedes it.
type Kind struct {
	Name    string // words after HELP that select it
	Summary string
	Grammar string
	Example string
}

// Kinds returns the kinds of statements.
func Kinds() []Kind {
	return []Kind{
		{"PREDICT LINKS", "rank the links that may come next from nodes to candidates",
			"PREDICT LINKS FOR node, ... [AT seconds] [AMONG sets]\n" +
				"    [ASSUMING edge, ...] [USING model] [WHERE condition] [TOP n]\n" +
				"    [RETURN column, ...] [WITH (option, ...)]",
			"PREDICT LINKS FOR 'ann' AMONG NEIGHBORS(2) TOP 10"},
		{"PREDICT CLASS", "rank the classes of nodes, by a model that has classes",
			"PREDICT CLASS FOR node, ... USING model [TOP n]\n" +
				"    [WITH (option, ...)]",
			"PREDICT CLASS FOR 17 USING topics TOP 3"},
		{"WHY", "take the score of a link apart",
			"WHY node -> node [AT seconds] [AMONG sets] [ASSUMING edge, ...]\n" +
				"    [USING model] [PATHS n] [WITH (option, ...)]",
			"WHY 'ann' -> 'dan' PATHS 5"},
		{"OBSERVE", "tell a model what became of a link; AND INSERT adds the link",
			"OBSERVE node -> node = number [AMONG sets] [USING name]\n" +
				"    [AND INSERT]",
			"OBSERVE 'ann' -> 'dan' = 1 AND INSERT"},
		{"CHOOSE LINK", "draw one of the candidates at random, and keep the decision",
			"CHOOSE LINK FOR node [AT seconds] AMONG sets\n" +
				"    [EXPLORE explorer [WITH (option, ...)]] [USING name]\n" +
				"    [TTL duration]",
			"CHOOSE LINK FOR 'ann' AMONG NEIGHBORS(2) TTL '7d'"},
		{"REWARD", "tell what became of a decision",
			"REWARD n = number [AND INSERT]",
			"REWARD 17 = 1"},
		{"EVALUATE HOLDOUT", "measure predictions of edges that are hidden",
			"EVALUATE PREDICT LINKS FOR { node, ... | ALL | SAMPLE(n) }\n" +
				"    [AMONG sets] [USING model]\n" +
				"    ON { HOLDOUT number | HOLDOUT AFTER seconds\n" +
				"       | SPLIT file [AGAINST file [EACH n]] }\n" +
				"    [WITH (option, ...)]",
			"EVALUATE PREDICT LINKS FOR SAMPLE(100) USING ease ON HOLDOUT 0.1"},
		{"EVALUATE LOG", "estimate from the log what a model would have earned",
			"EVALUATE model ON LOG USING estimator [WITH (option, ...)]",
			"EVALUATE friends ON LOG USING dr"},
		{"EVALUATE STREAM", "play policies on links that they do not know at first",
			"EVALUATE STREAM { file | EDGES } [CANDIDATES n] [USING policy]\n" +
				"    [BASELINES policy, ...] [WITH (option, ...)]",
			"EVALUATE STREAM EDGES USING default WITH (rounds = 2000)"},
		{"CREATE MODEL", "make an untrained model that follows a policy",
			"CREATE MODEL name [USING policy] [WITH (option, ...)]",
			"CREATE MODEL friends"},
		{"TRAIN MODEL", "fit a new version of a model to the edges or the log",
			"TRAIN MODEL name [FROM { EDGES | LOG }] [WITH (option, ...)]",
			"TRAIN MODEL friends FROM EDGES"},
		{"DEPLOY MODEL", "make a model, or a version of it, the one that answers",
			"DEPLOY MODEL name [VERSION n]",
			"DEPLOY MODEL friends VERSION 2"},
		{"ROLLBACK MODEL", "deploy the version that was deployed before",
			"ROLLBACK MODEL name", "ROLLBACK MODEL friends"},
		{"FREEZE MODEL", "keep a model from learning",
			"FREEZE MODEL name", "FREEZE MODEL friends"},
		{"THAW MODEL", "let a frozen model learn again",
			"THAW MODEL name", "THAW MODEL friends"},
		{"DROP MODEL", "delete a model and its versions",
			"DROP MODEL name", "DROP MODEL friends"},
		{"SHOW MODELS", "list the models",
			"SHOW MODELS", "SHOW MODELS"},
		{"SHOW VERSIONS", "list the versions of a model",
			"SHOW VERSIONS OF name", "SHOW VERSIONS OF friends"},
		{"SHOW POLICIES", "list the policies that a model can follow",
			"SHOW POLICIES", "SHOW POLICIES"},
		{"SHOW DECISIONS", "list the latest decisions",
			"SHOW DECISIONS [TOP n]", "SHOW DECISIONS TOP 20"},
		{"DESCRIBE MODEL", "tell all of a model",
			"DESCRIBE MODEL name", "DESCRIBE MODEL friends"},
		{"DESCRIBE DECISION", "tell all of a decision",
			"DESCRIBE DECISION n", "DESCRIBE DECISION 17"},
		{"DESCRIBE NODE", "tell all of a node",
			"DESCRIBE NODE node", "DESCRIBE NODE 'ann'"},
		{"INSERT NODE", "add a node that does not exist",
			"INSERT NODE node [LABEL name] [FEATURES (number, ...)]",
			"INSERT NODE 'ann' LABEL person FEATURES (0.1, 2)"},
		{"MERGE NODE", "add a node, or change one that exists",
			"MERGE NODE node [LABEL name] [FEATURES (number, ...)]",
			"MERGE NODE 'ann' LABEL person"},
		{"INSERT EDGES", "add edges, or change those that exist",
			"INSERT EDGES edge, ...",
			"INSERT EDGES 'ann' -> 'bob', 'bob' -> 'dan' WEIGHT 2 AT 1082040961"},
		{"MERGE EDGES", "the same as INSERT EDGES",
			"MERGE EDGES edge, ...", "MERGE EDGES 'ann' -> 'bob' WEIGHT 3"},
		{"DELETE NODE", "delete a node and its edges",
			"DELETE NODE node", "DELETE NODE 'ann'"},
		{"DELETE EDGES", "delete edges",
			"DELETE EDGES { node -> node }, ...", "DELETE EDGES 'ann' -> 'bob'"},
		{"NEIGHBORS", "list the nodes around a node",
			"NEIGHBORS OF node [DEPTH n] [TOP n]", "NEIGHBORS OF 'ann' DEPTH 2"},
		{"NODES", "list nodes",
			"NODES [LABEL name] [WHERE condition] [TOP n]", "NODES LABEL person WHERE degree >= 10 TOP 20"},
		{"PATH", "find a shortest path",
			"PATH FROM node TO node [DEPTH n]", "PATH FROM 'ann' TO 'dan'"},
		{"RANK NODES", "rank nodes by personalised PageRank",
			"RANK NODES FOR node, ... [ASSUMING edge, ...] [TOP n]\n" +
				"    [WITH (option, ...)]",
			"RANK NODES FOR 'ann' TOP 10"},
		{"LOAD", "read edges, nodes or feature vectors from a file",
			"LOAD { EDGES | NODES | FEATURES } FROM file [FORMAT format]\n" +
				"    [WITH (option, ...)]",
			"LOAD EDGES FROM 'friends.csv' WITH (columns = 'src,dst,weight')"},
		{"EXPORT", "write edges, nodes, features, a model or the log to a file",
			"EXPORT { EDGES | NODES | FEATURES | MODEL model | LOG } TO file",
			"EXPORT EDGES TO 'friends.csv.gz'"},
		{"IMPORT MODEL", "make a model of an exported file",
			"IMPORT MODEL name FROM file", "IMPORT MODEL friends FROM 'friends.model'"},
		{"BACKUP", "write all of the database to a file",
			"BACKUP TO file", "BACKUP TO 'monday.kbk'"},
		{"BEGIN", "begin a transaction",
			"BEGIN [READ ONLY]", "BEGIN"},
		{"COMMIT", "end the transaction and keep its changes",
			"COMMIT", "COMMIT"},
		{"ROLLBACK", "end the transaction without its changes",
			"ROLLBACK", "ROLLBACK"},
		{"SET", "change a setting: max_rows, model, seed or timeout",
			"SET name = value", "SET timeout = '30s'"},
		{"SHOW SETTINGS", "list the settings of the session",
			"SHOW SETTINGS", "SHOW SETTINGS"},
		{"SHOW STATS", "tell how large the database is",
			"SHOW STATS", "SHOW STATS"},
		{"SHOW LABELS", "list the labels with the number of their nodes",
			"SHOW LABELS [TOP n]", "SHOW LABELS TOP 20"},
		{"SHOW CACHE", "tell what the cache of PageRank states holds and did",
			"SHOW CACHE", "SHOW CACHE"},
		{"WARM", "compute the PageRank states of nodes, and cache them",
			"WARM node, ...", "WARM 'ann', 'bob'"},
		{"CHECK", "verify every invariant of the database",
			"CHECK", "CHECK"},
		{"EXPLAIN", "show the plan of a statement, and do not run it",
			"EXPLAIN statement", "EXPLAIN PREDICT LINKS FOR 'ann'"},
		{"PROFILE", "run a statement, and show what each step took",
			"PROFILE statement", "PROFILE PREDICT LINKS FOR 'ann'"},
		{"HELP", "list the statements, or tell how some are written",
			"HELP [topic]", "HELP PREDICT"},
	}
}

// Term is a named part of grammars.
type Term struct {
	Name    string
	Grammar string
	Note    string // remark that the grammar does not express; "" means none
}

// Terms returns the named parts of grammars.
func Terms() []Term {
	return []Term{
		{"sets", "set [{ UNION | EXCEPT | INTERSECT } set] ...", "at most 64"},
		{"set", "(node, ...) | NEIGHBORS(n) | PPR(n) | SAMPLE(n)\n    | SIMILAR(n) | LABEL name | ALL | parameter", ""},
		{"edge", "node -> node [WEIGHT number] [AT seconds]", "since 1970"},
		{"model", "name [VERSION n]", "SHOW MODELS lists them"},
		{"policy", "name", "SHOW POLICIES lists them"},
		{"explorer", "name", "squarecb, epsilon_greedy"},
		{"estimator", "name", "ips, snips, dr"},
		{"format", "name", "snap, csv, tsv, mtx, npy, npz, pt, ogb"},
		{"column", "name", "of the answer"},
		{"condition", "predicate [{ AND | OR } predicate] ...", "AND binds first"},
		{"predicate", "[NOT] { comparison | (condition) }", "at most 100 deep"},
		{"comparison", "column { = | <> | != | < | <= | > | >= } value\n    | column IN (value, ...)", ""},
		{"option", "name = value", ""},
		{"value", "integer | decimal | 'string' | name | parameter", ""},
		{"node", "integer | 'string' | parameter", ""},
		{"number", "integer | decimal | parameter", ""},
		{"n", "integer | parameter", "at least 1"},
		{"seconds", "integer | parameter", ""},
		{"duration", "integer | 'string' | parameter", "seconds, '90s', '24h', '7d'"},
		{"file", "'string' | parameter", ""},
		{"topic", "name ...", "as HELP lists them"},
	}
}
