package parse

import "slices"

// Forms returns the forms of statements, in the order of HELP.
func Forms() []Form { return slices.Clone(forms) }

var forms = slices.Concat(answerForms, outcomeForms, modelForms, graphForms, fileForms, sessionForms)

// answerForms are the statements that ask a model.
var answerForms = []Form{
	{"PREDICT LINKS", "rank the links that may come next from nodes to candidates",
		"PREDICT LINKS { FOR | relation FOR | INVERSE relation FOR }\n" +
			"    { source, ... | ALL | LABEL name } [AT time]\n" +
			"    [AMONG sets] [ASSUMING edge, ...] [USING model]\n" +
			"    [WHERE condition] [TOP n [EACH]] [RETURN { column, ... | * }]\n" +
			"    [WITH (option, ...)]",
		"PREDICT LINKS FOR 'ann' AMONG NEIGHBORS(2) TOP 10"},
	{"WHY", "explain the score of a link",
		"WHY source { -> | -[relation]-> } node [AT time] [AMONG sets]\n" +
			"    [ASSUMING edge, ...] [USING model] [WHERE condition] [PATHS n]\n" +
			"    [WITH (option, ...)]",
		"WHY 'ann' -> 'dan' PATHS 5"},
	{"DRAW", "draw the nodes around a node and its predicted links",
		"DRAW node [VIA relation, ...] [DEPTH n] [AMONG sets]\n" +
			"    [USING model] [WHERE condition] [TOP n] TO file\n" +
			"    [WITH (option, ...)]",
		"DRAW 'ann' TO 'ann.svg'"},
	{"EXPLAIN", "show the plan of a statement, and do not run it",
		"EXPLAIN statement", "EXPLAIN PREDICT LINKS FOR 'ann'"},
	{"PROFILE", "run a statement, and show the time of each step",
		"PROFILE statement", "PROFILE PREDICT LINKS FOR 'ann'"},
}

// outcomeForms are the statements that tell a model what became of links, or that measure it.
var outcomeForms = []Form{
	{"OBSERVE", "tell a model what became of a link; AND INSERT adds the link",
		"OBSERVE node { -> | -[relation]-> } node = number\n" +
			"    [AMONG sets] [USING name]\n" +
			"    [WITH (option, ...)] [AND INSERT]",
		"OBSERVE 'ann' -> 'dan' = 1 AND INSERT"},
	{"CHOOSE", "draw one candidate or more at random, and keep the decision",
		"CHOOSE { LINK | n LINKS }\n" +
			"    { FOR | relation FOR | INVERSE relation FOR } node\n" +
			"    [AT time] AMONG sets [WHERE condition]\n" +
			"    [EXPLORE explorer] [WITH (option, ...)] [USING name]\n" +
			"    [TTL duration]",
		"CHOOSE 10 LINKS FOR 'ann' AMONG NEIGHBORS(2) TTL '7d'"},
	{"REWARD", "report the outcome of a decision",
		"REWARD n [PLACE n] = number, ... [WITH (option, ...)] [AND INSERT]",
		"REWARD 17 PLACE 3 = 1 WITH (examined = above)"},
	{"SHOW DECISIONS", "list the latest decisions",
		"SHOW DECISIONS [TOP n]", "SHOW DECISIONS TOP 20"},
	{"SHOW FUNNEL", "count what was shown and clicked, by day and version",
		"SHOW FUNNEL [TOP n]", "SHOW FUNNEL TOP 7"},
	{"DESCRIBE DECISION", "show all that is known of a decision",
		"DESCRIBE DECISION n", "DESCRIBE DECISION 17"},
	{"EVALUATE HOLDOUT", "measure predictions of edges that are hidden",
		"EVALUATE PREDICT LINKS\n" +
			"    { FOR | relation FOR | INVERSE relation FOR }\n" +
			"    { node, ... | ALL | SAMPLE(n) }\n" +
			"    [AMONG sets] [USING model] [WHERE condition]\n" +
			"    ON HOLDOUT { number | AFTER time }\n" +
			"    [WITH (option, ...)]",
		"EVALUATE PREDICT LINKS FOR SAMPLE(100) USING prb ON HOLDOUT 0.1"},
	{"EVALUATE SPLIT", "measure predictions of the links of a file",
		"EVALUATE PREDICT LINKS\n" +
			"    { FOR | relation FOR | INVERSE relation FOR }\n" +
			"    { node, ... | ALL | SAMPLE(n) }\n" +
			"    [AMONG sets] [USING model] [WHERE condition]\n" +
			"    ON SPLIT file\n" +
			"    [WITH (option, ...)]",
		"EVALUATE PREDICT LINKS FOR ALL USING default ON SPLIT 'test.csv'"},
	{"EVALUATE LOG", "estimate from the log what a model would have earned",
		"EVALUATE model ON LOG USING estimator [WITH (option, ...)]",
		"EVALUATE friends ON LOG USING dr"},
}

// modelForms are the statements about models and their versions.
var modelForms = []Form{
	{"CREATE MODEL", "make an untrained model that follows a policy",
		"CREATE MODEL name [USING policy] [WITH (option, ...)]",
		"CREATE MODEL friends"},
	{"TRAIN MODEL", "fit a new version of a model to the edges or the log",
		"TRAIN MODEL name [FROM { EDGES | LOG }] [VIA relation]\n" +
			"    [WITH (option, ...)]",
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
	{"SHOW RULES", "list the rules that predict links of a relation",
		"SHOW RULES FOR { relation | INVERSE relation } [USING model]\n" +
			"    [TOP n]",
		"SHOW RULES FOR likes TOP 20"},
	{"SHOW POLICIES", "list the policies that a model can follow",
		"SHOW POLICIES", "SHOW POLICIES"},
	{"DESCRIBE MODEL", "show all that is known of a model",
		"DESCRIBE MODEL name", "DESCRIBE MODEL friends"},
	{"EXPORT MODEL", "write a model to a file",
		"EXPORT MODEL model TO file", "EXPORT MODEL friends TO 'friends.model'"},
	{"IMPORT MODEL", "make a model from an exported file",
		"IMPORT MODEL name FROM file", "IMPORT MODEL friends FROM 'friends.model'"},
}

// graphForms are the statements that change or read the graph.
var graphForms = []Form{
	{"INSERT NODE", "add a node that does not exist",
		"INSERT NODE node [LABEL name] [FEATURES (number, ...)]\n" +
			"    [SET assignment, ...]",
		"INSERT NODE 'p7' LABEL post SET price = 12.5, tags = ('red')"},
	{"MERGE NODE", "add a node, or change one that exists",
		"MERGE NODE node [LABEL name] [FEATURES (number, ...)]\n" +
			"    [SET assignment, ...]",
		"MERGE NODE 'ann' LABEL person"},
	{"UPDATE NODE", "set or remove properties of a node",
		"UPDATE NODE node SET assignment, ...",
		"UPDATE NODE 'p7' SET price = 9.9, lang = NULL"},
	{"INSERT EDGES", "add edges that do not exist",
		"INSERT EDGES edge, ...",
		"INSERT EDGES 'ann' -> 'bob', 'bob' -> 'dan' AT '2004-04-15'"},
	{"MERGE EDGES", "add edges, or change those that exist",
		"MERGE EDGES edge, ...", "MERGE EDGES 'ann' -> 'bob' WEIGHT 3"},
	{"DELETE NODE", "delete a node and its edges",
		"DELETE NODE node", "DELETE NODE 'ann'"},
	{"ERASE NODE", "forget a node: delete it, and its key wherever it is kept",
		"ERASE NODE node [WITH (option, ...)]", "ERASE NODE 'ann' WITH (retrain = on)"},
	{"DELETE EDGES", "delete edges",
		"DELETE EDGES link, ...", "DELETE EDGES 'ann' -> 'bob'"},
	{"CREATE RELATION", "make a relation without edges",
		"CREATE RELATION relation [WITH (option, ...)]",
		"CREATE RELATION likes WITH (directed = on, target_label = post)"},
	{"SHOW RELATIONS", "list the relations with their edges and sides",
		"SHOW RELATIONS [RETURN { column, ... | * }]", "SHOW RELATIONS"},
	{"DESCRIBE NODE", "show all that is known of a node",
		"DESCRIBE NODE node", "DESCRIBE NODE 'ann'"},
	{"SHOW PROPERTIES", "list the properties of nodes with their types and values",
		"SHOW PROPERTIES [RETURN { column, ... | * }]", "SHOW PROPERTIES"},
	{"NEIGHBORS", "list the nodes around a node",
		"NEIGHBORS OF node [VIA relation, ...] [WITHIN duration]\n" +
			"    [DEPTH n] [TOP n]", "NEIGHBORS OF 'ann' DEPTH 2"},
	{"NODES", "list nodes",
		"NODES [LABEL name] [WHERE condition] [TOP n]\n" +
			"    [RETURN { column, ... | * }]",
		"NODES LABEL post WHERE price < 20 AND 'red' IN tags TOP 20"},
	{"PATH", "find a shortest path",
		"PATH FROM node TO node [VIA relation, ...] [DEPTH n]", "PATH FROM 'ann' TO 'dan'"},
	{"RANK NODES", "rank nodes by personalised PageRank",
		"RANK NODES FOR source, ... [VIA relation, ...]\n" +
			"    [ASSUMING edge, ...] [TOP n]\n" +
			"    [WITH (option, ...)]",
		"RANK NODES FOR 'ann' TOP 10"},
	{"WARM", "compute the PageRank states of nodes, and cache them",
		"WARM node, ...", "WARM 'ann', 'bob'"},
}

// fileForms are the statements that read or write files.
var fileForms = []Form{
	{"LOAD EDGES", "read edges from a file, or a graph from a folder",
		"LOAD EDGES FROM file [FORMAT format] [WITH (option, ...)]",
		"LOAD EDGES FROM 'friends.csv' WITH (columns = 'src,dst,weight')"},
	{"LOAD NODES", "read nodes, their labels and properties from a file",
		"LOAD NODES FROM file [FORMAT format] [WITH (option, ...)]",
		"LOAD NODES FROM 'people.csv' WITH (label = person)"},
	{"LOAD FEATURES", "read feature vectors of nodes from a file",
		"LOAD FEATURES FROM file [FORMAT format] [WITH (option, ...)]",
		"LOAD FEATURES FROM 'features.npy' WITH (keyless = on)"},
	{"EXPORT EDGES", "write the edges to a file",
		"EXPORT EDGES [VIA relation, ...] TO file", "EXPORT EDGES TO 'friends.csv.gz'"},
	{"EXPORT NODES", "write the nodes, their labels and properties to a file",
		"EXPORT NODES TO file", "EXPORT NODES TO 'people.csv'"},
	{"EXPORT FEATURES", "write the feature vectors to a file",
		"EXPORT FEATURES TO file", "EXPORT FEATURES TO 'features.parquet'"},
	{"EXPORT LOG", "write the observations and decisions to a file",
		"EXPORT LOG TO file", "EXPORT LOG TO 'log.jsonl'"},
	{"BACKUP", "write the whole database to a file",
		"BACKUP TO file", "BACKUP TO 'monday.kbk'"},
}

// sessionForms are the statements about transactions, settings and the database.
var sessionForms = []Form{
	{"BEGIN", "begin a transaction",
		"BEGIN [READ ONLY]", "BEGIN"},
	{"COMMIT", "end the transaction and keep its changes",
		"COMMIT", "COMMIT"},
	{"ROLLBACK", "end the transaction without its changes",
		"ROLLBACK", "ROLLBACK"},
	{"SET", "change a setting of the session",
		"SET option", "SET timeout = '30s'"},
	{"SHOW SETTINGS", "list the settings of the session",
		"SHOW SETTINGS", "SHOW SETTINGS"},
	{"SHOW STATS", "show the size of the database",
		"SHOW STATS", "SHOW STATS"},
	{"SHOW LABELS", "list the labels with the number of their nodes",
		"SHOW LABELS [TOP n]", "SHOW LABELS TOP 20"},
	{"SHOW CACHE", "show the use of the cache of PageRank states",
		"SHOW CACHE", "SHOW CACHE"},
	{"CHECK", "verify every invariant of the database",
		"CHECK", "CHECK"},
	{"HELP", "list the statements, or show how some are written",
		"HELP [topic]", "HELP PREDICT"},
}
