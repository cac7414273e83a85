// Package query implements the language of kith: it parses statements to trees and runs them on a database.
//
// [Split] cuts a script into statements. [Parse] and [Fragment.Parse] parse the text of a statement to a tree of
// closed types ([Statement], [Value], [Set]). The parser does not know the data: it does not check whether a model
// exists or a weight is allowed. A syntax error is an [*Error], and [Fragment.Caret] shows its position in the line.
// [Complete] reports whether a prompt needs another line.
//
// # Text
//
// A script is UTF-8 without NUL. White space and line ends only separate words. Two hyphens begin a comment that ends
// with the line; /* begins a comment that ends with the next */. A semicolon ends a statement and is optional after
// the last one of a script. A statement is at most 1 MiB long.
//
// Keywords are case-insensitive, and none is reserved: where the grammar expects a name, a keyword is a name. A model
// may be called default and a label top.
//
//	name       letter or "_", then letters, marks, digits, "_"; or any text in double quotes
//	'string'   any text in single quotes
//	integer    digits, perhaps after "-", without leading zeros, within 64 bits
//	decimal    digits with a point or an exponent, perhaps after "-", finite in 64 bits
//	parameter  "?" or "$" and a name without quotes
//
// Within quotes, a doubled quote denotes one quote. The node 42 and the node '42' differ. A parameter may replace a
// node, a number or a string; its argument is given when the statement runs, by position for ? and by name for $name.
// In a list of nodes or of features, and after IN, the argument may be a slice, which is replaced by its elements. A
// time may be a time.Time, a duration a time.Duration.
//
// # Grammar
//
// Words in capitals and punctuation are literal, words in small letters are terms, [ ] encloses optional parts, { | }
// lists alternatives, and "..." means that the item before it may repeat, separated by commas if a comma precedes it.
//
//	PREDICT LINKS FOR node, ... [AT seconds] [AMONG sets]
//	    [ASSUMING edge, ...] [USING model] [WHERE condition] [TOP n]
//	    [RETURN column, ...] [WITH (option, ...)]
//	PREDICT CLASS FOR node, ... USING model [TOP n]
//	    [WITH (option, ...)]
//	WHY node -> node [AT seconds] [AMONG sets] [ASSUMING edge, ...]
//	    [USING model] [PATHS n] [WITH (option, ...)]
//	EXPLAIN statement
//	PROFILE statement
//	OBSERVE node -> node = number [AMONG sets] [USING name]
//	    [AND INSERT]
//	CHOOSE LINK FOR node [AT seconds] AMONG sets
//	    [EXPLORE explorer [WITH (option, ...)]] [USING name]
//	    [TTL duration]
//	REWARD n = number [AND INSERT]
//	SHOW DECISIONS [TOP n]
//	DESCRIBE DECISION n
//	EVALUATE PREDICT LINKS FOR { node, ... | ALL | SAMPLE(n) }
//	    [AMONG sets] [USING model]
//	    ON { HOLDOUT number | HOLDOUT AFTER seconds }
//	    [WITH (option, ...)]
//	EVALUATE PREDICT LINKS FOR { node, ... | ALL | SAMPLE(n) }
//	    [AMONG sets] [USING model]
//	    ON SPLIT file [AGAINST file [EACH n]]
//	    [WITH (option, ...)]
//	EVALUATE STREAM { file | EDGES } [CANDIDATES n] [USING policy]
//	    [BASELINES policy, ...] [WITH (option, ...)]
//	EVALUATE model ON LOG USING estimator [WITH (option, ...)]
//	CREATE MODEL name [USING policy] [WITH (option, ...)]
//	TRAIN MODEL name [FROM { EDGES | LOG }] [WITH (option, ...)]
//	DEPLOY MODEL name [VERSION n]
//	ROLLBACK MODEL name
//	FREEZE MODEL name
//	THAW MODEL name
//	DROP MODEL name
//	SHOW MODELS
//	SHOW VERSIONS OF name
//	SHOW POLICIES
//	DESCRIBE MODEL name
//	EXPORT MODEL model TO file
//	IMPORT MODEL name FROM file
//	INSERT NODE node [LABEL name] [FEATURES (number, ...)]
//	MERGE NODE node [LABEL name] [FEATURES (number, ...)]
//	INSERT EDGES edge, ...
//	MERGE EDGES edge, ...
//	DELETE NODE node
//	DELETE EDGES { node -> node }, ...
//	DESCRIBE NODE node
//	NEIGHBORS OF node [DEPTH n] [TOP n]
//	NODES [LABEL name] [WHERE condition] [TOP n]
//	PATH FROM node TO node [DEPTH n]
//	RANK NODES FOR node, ... [ASSUMING edge, ...] [TOP n]
//	    [WITH (option, ...)]
//	WARM node, ...
//	LOAD EDGES FROM file [FORMAT format] [WITH (option, ...)]
//	LOAD NODES FROM file [FORMAT format] [WITH (option, ...)]
//	LOAD FEATURES FROM file [FORMAT format] [WITH (option, ...)]
//	EXPORT EDGES TO file
//	EXPORT NODES TO file
//	EXPORT FEATURES TO file
//	EXPORT LOG TO file
//	BACKUP TO file
//	BEGIN [READ ONLY]
//	COMMIT
//	ROLLBACK
//	SET name = value
//	SHOW SETTINGS
//	SHOW STATS
//	SHOW LABELS [TOP n]
//	SHOW CACHE
//	CHECK
//	HELP [topic]
//
//	sets       = set [{ UNION | EXCEPT | INTERSECT } set] ...  (at most 64)
//	set        = (node, ...) | NEIGHBORS(n) | PPR(n) | SAMPLE(n)
//	    | SIMILAR(n) | LABEL name | ALL | parameter
//	edge       = node -> node [WEIGHT number] [AT seconds]  (since 1970)
//	model      = name [VERSION n]  (SHOW MODELS lists them)
//	policy     = name  (SHOW POLICIES lists them)
//	explorer   = name  (squarecb, epsilon_greedy)
//	estimator  = name  (ips, snips, dr)
//	format     = name  (snap, csv, tsv, mtx, npy, npz, pt, ogb)
//	column     = name  (of the answer)
//	condition  = predicate [{ AND | OR } predicate] ...  (AND binds first)
//	predicate  = [NOT] { comparison | (condition) }  (at most 100 deep)
//	comparison = column { = | <> | != | < | <= | > | >= } value
//	    | column IN (value, ...)
//	option     = name = value
//	value      = integer | decimal | 'string' | name | parameter
//	node       = integer | 'string' | parameter
//	number     = integer | decimal | parameter
//	n          = integer | parameter  (at least 1)
//	seconds    = integer | parameter
//	duration   = integer | 'string' | parameter  (seconds, '90s', '24h', '7d')
//	file       = 'string' | parameter
//	topic      = name ...  (as HELP lists them)
//
// The following sections describe the statements, then their options and the columns of their answers.
//
// # Prediction
//
// PREDICT LINKS ranks the links from each node after FOR to the candidates after AMONG: listed nodes, the nodes within
// n hops (NEIGHBORS), the n nodes with the largest personalised PageRank (PPR), n nodes drawn at random (SAMPLE), the
// n nodes most similar to the source (SIMILAR), the nodes with a label, or all nodes. The default is PPR(1000). Nodes
// that the source is linked to, and the source itself, are left out unless they are listed. PREDICT LINKS only reads.
//
// SIMILAR compares nodes by what the training of the model learned about them or, without a model, by their feature
// vectors. Where that says nothing about the source, or about too few nodes, it adds the nodes with the most edges
// leading to them. A source without edges gets SIMILAR(1000) unless AMONG is given.
//
// A source that LOAD EDGES made with source_label or target_label, or that has such a label, gets only nodes of the
// kinds that its kind is linked to, from the default PPR(1000) and from SIMILAR.
//
// Sets are combined from left to right. EXCEPT NEIGHBORS(2) also leaves out the nodes one hop away. SAMPLE draws the
// same nodes for the same graph, source and option seed. A parameter that stands for a set is a db.Candidates or a
// slice of nodes.
//
// USING names the model. Without USING, the deployed model answers or, if there is none, the learned start; a note
// says which model and version answered. TOP is the number of links for each node, 10 by default.
//
// WHERE selects links of the ranking, and TOP counts the selected ones. Links that WHERE leaves out are scored all the
// same, and the ranks are those of the whole ranking; AMONG determines what is scored. A condition compares columns of
// the answer, including label and degree, which are those of the target. Nodes, labels and certain are compared by =,
// <> and IN; the label of a node without one is empty. RETURN names the columns to answer with. Nodes have no
// properties other than a label and features, so INSERT NODE and conditions accept no others.
//
// ASSUMING makes a statement answer as if the graph had additional edges, or edges of another weight. Nothing is
// written, and nodes that such an edge lacks exist for this answer alone. In a transaction that has changed something
// ASSUMING is an error.
//
// WHY explains the score of a link. Its rows have four kinds of parts:
//
//   - score: the parts of the score that PREDICT LINKS with the same clauses gives the link among the same candidates.
//     A target that is not one of the candidates is added to them, and a note says so.
//   - input: the values that the model is shown of the pair, and what each adds to a sum. The last of these rows gives
//     and names the sum: the log-odds of the link for a model of policy default, exploit for the prior. The estimate of
//     a network is not such a sum.
//   - pagerank: the personalised PageRank of the target as seen from the source, in column form and with the
//     database's alpha.
//   - path: the paths that carry most of that PageRank, 3 by default. The value of a path is the probability that a
//     walk takes this path and ends there; its share is the value divided by the PageRank. The rest belongs to longer
//     paths, or to walks that go back and forth.
//
// RANK NODES returns the personalised PageRank itself, in column form by default. PATH finds a shortest path of at
// most DEPTH steps.
//
// PREDICT CLASS ranks the classes of a model that has classes. Classes are nodes: CREATE MODEL m USING prb_n WITH
// (classes = topic) takes the nodes that have the label topic at that moment, in the order in which they were made.
// The other policies that learn may have classes too. OBSERVE v -> class = 1 AND INSERT records that a prediction was
// right and links the node to its class. After OBSERVE v -> class = 0 the true class, if it is known, may be inserted
// as an edge, which later predictions see.
//
// # Learning
//
// OBSERVE gives a model the reward of a link and the candidates that the link was one of. With AND INSERT it adds the
// link to the graph when the reward is 1. The model learns from the graph as it was before. Give AMONG where the
// candidates are known: networks may learn from the candidates that were not chosen, and a model of policy default
// learns how often a node was offered, unless it has offers = off. Sets of more than 4,096 nodes do not count as
// offers.
//
// CHOOSE LINK draws one of the candidates instead of ranking them. EXPLORE names the explorer that turns scores into
// probabilities. squarecb, the default, gives a candidate that scores less than the best one of K the probability 1 /
// (K + g (best - score)), where g is gamma times the square root of one plus the number of outcomes observed; the best
// one has the rest. epsilon_greedy takes the best candidate, except that with probability epsilon it draws one of all
// candidates uniformly. The draw is a function of the database's seed, or of option seed, and of the decision's
// number.
//
// The decision is kept for TTL: seconds, or a string like '24h' or '7d'; 7 days by default. Until then REWARD gives
// its reward, once. The model learns it as it would from OBSERVE ... AMONG the candidates, from the graph as it was.
// Giving the same reward again changes nothing; giving another one is an error. AND INSERT adds the link to the graph
// when the reward is 1. SHOW DECISIONS lists the latest TOP decisions, 100 by default.
//
// # Evaluation
//
// EVALUATE ... ON LOG estimates what a model would have earned if its best candidate had been taken in each of the
// rewarded decisions. value is the estimate; low and high contain the true value with at least 95 %. USING names the
// estimator: ips weighs each reward by the inverse of its propensity, snips does so relative to the sum of the
// weights, and dr corrects a line through the model's scores by ips. The interval allows for rewards that the log
// lacks, so it depends on the range of rewards: from 0 to 1, and as far beyond as the rewards in the log, unless
// options min_reward and max_reward give another range (if only one is given, the other is 0 or 1).
//
// The model predicts on the current graph, without the links of the source that were added since the decision.
// effective is the number of decisions of the model's own that would carry as much information, logged the reward that
// was earned. Notes say when value is out of the range of rewards, which ips and dr allow, and in how many decisions
// the propensity of the model's candidate was too small to tell. A log that cannot be evaluated is an error that gives
// the reason, for example that a decision was made without randomness.
//
// AT is the time of a question, in seconds since 1970: a model that was trained on edges with times predicts the next
// links at that time. Without AT the time is now, or the second after the newest edge if that is earlier; for a node
// without edges the question has no time. TRAIN learns from the newest 8,192 times at which an edge was added, or
// added to. If no edge has a time, AT changes nothing. In EVALUATE ... ON HOLDOUT AFTER, the questions have that time.
// With other holdouts they have none: they are about missing links, not about the next ones.
//
// EVALUATE PREDICT LINKS ... ON HOLDOUT hides a share of the edges, drawn at random, or those AFTER a time: the edges
// with that time or a later one, where an edge that was added several times has the last of its times. Then it asks
// for links on the remaining graph: for the nodes listed, for ALL that have a hidden link, or for a SAMPLE of these.
// The learned start and resource_allocation are asked for the same links among the same candidates; their rows, and a
// note, show how the model compares. USING names a model, which is asked as it is, or a policy, for which a model is
// created and trained on the remaining edges. A model that was trained before may have seen the hidden edges, and a
// note says so. The database is not changed.
//
// mrr is the mean, over the hidden links, of 1 over their rank among the candidates of their node that it has no edge
// to. hits@K is the share of the hidden links that score above all but K - 1 of these candidates. Each link of a node
// with fewer than K of them counts as a hit, and a note gives the number of such nodes. A link that is not among the
// candidates counts as missed. auc is the share of pairs of a hidden link and such a candidate of its node that are in
// the right order, over the reached links: those that are candidates. Equal scores count as a miss for hits@K, and
// half for the others.
//
// ece is the expected calibration error of exploit as a probability of the link, for a model whose exploit is a number
// from 0 to 1: the candidates are divided into ten bins by their exploit, and ece is the mean difference between the
// exploit of a bin and its share of hidden links. With reliability = on each bin has a row: metric gives the mean
// exploit, value the share of links. count is the number of links, pairs or candidates that a value is computed from.
//
// ON SPLIT takes the links to find from a file, in a format of LOAD EDGES, or from the part of a folder of the Open
// Graph Benchmark that option split names (test; random0/test where there are several splits). Those of the links that
// are in the graph are hidden; a graph loaded from the training part alone has none of them. A link with a node that
// the graph lacks counts as missed, and a note gives the number of such links.
//
// AGAINST names a file of pairs that are not links, or a split that has such pairs, and replaces the candidates. All
// links are ranked among all pairs of the file, as the Open Graph Benchmark does. With EACH n every link is ranked
// among n pairs of its own, in the order of both files, as HeaRT does (Li et al., NeurIPS 2023); an array of n pairs
// for each link is accepted too. Then a pair of an undirected graph that begins or ends at an end of its link counts
// as another answer to the question about that end. A pair with a node that the graph lacks scores below those
// without.
//
// EVALUATE STREAM plays a policy on the links of a file, in a format of LOAD EDGES, or on the edges of the database.
// The policy knows none of the links at first. In each round a node and CANDIDATES nodes (100 by default, at most
// 100,000) are drawn, up to a tenth of them linked to the node; the policy chooses one candidate, then learns its
// reward. The rows give the regret up to a round: the number of rounds that had a link to find in which none was
// found. live is the number of rounds that had one. With several runs, whose seeds are consecutive, regret is the mean
// and deviation the sample standard deviation; missed is the share of the live rounds in which no link was found.
// Links have no direction. Each policy begins only with the share of links that option known gives, drawn at random.
// USING names a policy, default if absent; BASELINES names others that play the same rounds: ppr, adamic_adar,
// common_neighbors and random if absent. The database is not changed.
//
// # The graph
//
// INSERT NODE is an error if the node exists; MERGE NODE changes it. INSERT EDGES and MERGE EDGES are the same: an
// existing edge gets the given weight and time, by default 1 and none, and missing nodes are created. FEATURES sets a
// node's feature vector, which has the same length for all nodes of a label. DELETE NODE also deletes the node's
// edges. NEIGHBORS OF lists the nodes within DEPTH hops, nearest first. NODES lists the nodes, or those with a label,
// in the order in which they were made; its condition compares node, label, edges and degree. AT is in seconds since
// 1970. A weight is a number from 2^-40 to 2^40 (9.1e-13 to 1.1e12), stored in 32 bits; a feature or a reward is a
// number from -3.4e38 to 3.4e38.
//
// # Models
//
// One model is the answering model: it answers, learns and is evaluated where a statement names no model. The column
// answers of SHOW MODELS marks it. The first model to be trained becomes the answering model, DEPLOY MODEL selects
// another one, and DROP MODEL of the answering model leaves none. While there is none, or its deployed version is
// untrained, the learned start answers, and OBSERVE must name a model. Creating a model, importing one or training one
// with deploy = off changes no answer.
//
// A policy that learns nothing needs no model: USING accepts its name in place of a model's, and no model can have
// such a name. These policies are common_neighbors, adamic_adar, resource_allocation, preferential_attachment,
// jaccard, katz, ppr, eve_ppr and random. Those that count neighbours and walks ignore weights. katz sums over the
// walks of up to length edges, where a walk of l edges counts beta to the power of l; bound covers longer walks, and
// is infinite, with a note, if beta is too large for a known bound.
//
// CREATE MODEL creates version 1 of a model, untrained, that follows a policy, default if none is named. TRAIN MODEL
// fits a copy of it to the edges, or to the observations, as a new version that replaces the deployed one; with deploy
// = off the new version is only stored.
//
// A training from the edges of a graph with 200 or more edges leaves out a tenth of them, at most about 2,000, and
// ends with a comparison on these: mrr is that of the new version, mrr_before that of the deployed version, if it is
// trained, mrr_prior that of the learned start, and mrr_heuristic that of the best of common_neighbors, adamic_adar,
// resource_allocation and ppr. They rank the links of up to 200 nodes among up to 200 nodes each, two steps away, or
// three if no link is nearer. A version that is worse than one of the others is not deployed unless deploy = on; worse
// means by more than two standard errors of the differences, node by node. A version that is better than the one
// before by as much is deployed in any case. The next training leaves out the same edges, as far as the graph is the
// same.
//
// One version of a model is deployed: it answers where no version is named, and learns from OBSERVE and REWARD; the
// other versions do not change. Eight versions are kept. If there are more, the oldest ones that are neither deployed
// nor the one to roll back to are deleted. DEPLOY MODEL ... VERSION deploys another version. ROLLBACK MODEL deploys
// the version that was deployed before; repeated, it goes back further. FREEZE MODEL stops a model from learning,
// whichever version is deployed: observations are logged and not learned, not even after THAW MODEL. A model that was
// trained on the edges, and is not frozen, is trained again in the background when a tenth of the edges, and at least
// 1,000, have changed since; the new version, from refresh, is deployed only if it is better.
//
// EXPORT MODEL writes a model to a file, in the deployed version unless another is named: everything needed to
// continue learning, with a checksum. IMPORT MODEL creates a model from the file, in this or another database. If a
// model of that name exists, the file becomes a new version of it, which is not deployed. The model finds the nodes it
// remembers by their keys, and forgets those that the database lacks. EXPORT LOG writes the observations, as far back
// as the database keeps them, and then the decisions, as lines of JSON: kind is observation or decision, nodes are
// numbers or strings, and learned is false for an observation that a frozen model did not learn. An existing file is
// replaced when the new one is complete.
//
// # Files
//
// LOAD EDGES loads a whole file or, if it fails, nothing. An edge that occurs twice, or is in the graph already, gets
// the last weight. With repeats = sum its weights are added to the existing one; with repeats = count the number of
// its lines is added, whatever their weights; repeats = error makes it an error. The time is always the latest.
// Loading a list in parts has the same result as loading it whole. In an undirected graph the two directions of an
// edge are the same edge: both_ways is the number of edges that the list has in both directions, and a note says so if
// sum or count counted all of them twice. differing is the number of repeated lines that had another weight or time
// than the one before.
//
// A list may link two kinds of nodes that share their numbers: with source_label = user, target_label = item the
// source 7 is the node 'user:7' with label user, the target 7 the node 'item:7' with label item. Columns are detected
// from the header or the first lines, unless option columns gives their meaning or their names in the header; a number
// is a column's position. Times are seconds since 1970, as in AT. A list may have them in s, ms, us or ns, as rfc3339
// (2006-01-02T15:04:05Z), datetime (2006-01-02 15:04:05, in UTC) or date (2006-01-02), detected from the first lines
// unless option times is given. Notes say how times were read, and which columns were not.
//
// LOAD NODES creates the nodes of a file, one key a line, and gives them the labels next to the keys. LOAD FEATURES
// gives them feature vectors, a key and its numbers on each line. Both commit as they go. The formats are those of
// package edgelist: snap, csv, tsv, mtx, npy, npz or pt, plain or compressed, detected from the file unless FORMAT is
// given.
//
// LOAD EDGES also loads a folder of the Open Graph Benchmark, format ogb: its nodes, their labels and features, and
// then its edges, with a row for each file. If a file fails, the files before it stay loaded. The edges are those of
// raw/edge.csv.gz or, with split = train, valid, test or all, those of its split; if there are several splits, the
// option names one, as in split = 'random0/train'.
//
// EXPORT EDGES, NODES and FEATURES write what the LOAD statements read. The file name determines the format: .csv,
// .tsv or .txt (separated by blanks), compressed if .gz or .zst follows. Labels, weights, times and numbers are
// restored by loading the file with the format and the columns that EXPORT answers with; a key that would not be
// restored, such as the string '42', is an error. BACKUP writes the whole database, as kith backup does, for kith
// restore; it replaces no existing file other than a backup.
//
// # Statements about the database
//
// SHOW STATS shows the size of the database and the labels with the most nodes. SHOW CACHE shows the contents and the
// counters of the cache of PageRank states. SHOW MODELS and SHOW VERSIONS list the models; DESCRIBE shows everything
// known of one model, node or decision. CHECK verifies every invariant of the database. WARM computes the PageRank
// states of nodes and keeps them in the cache. EXPLAIN shows the plan of a statement and does not run it; PROFILE runs
// it and shows the time of each step instead of the rows. SHOW LABELS and SHOW POLICIES list labels and policies. HELP
// lists the statements; followed by the first words of some, it shows their grammar and an example.
//
// # Transactions and settings
//
// A statement is a transaction of its own, unless it runs between BEGIN and COMMIT or ROLLBACK: then it sees the
// writes of the statements before it, and others see them after COMMIT. One transaction writes at a time, so BEGIN
// waits for the writer before it. BEGIN READ ONLY does not wait, and all its statements see the database as it was at
// that moment. A statement that fails has no effect on its transaction, which stays open. COMMIT ends the transaction
// in any case; if COMMIT fails, none of its changes are made. Closing a session rolls back. CHOOSE cannot be part of a
// transaction, because its decision must be stored before anyone acts on it; neither can WARM, CHECK, LOAD, BACKUP or
// statements that create, train or drop models. Models learn at the commit, and answer until then as they were.
//
// SET changes a setting of the session: max_rows is the number of rows that an answer may have, where the rest is left
// out and a note says so; timeout is how long a statement may take, in seconds or as a string like '500ms' or '1d',
// after which it is cancelled; seed is the seed of SAMPLE, CHOOSE and EVALUATE; model is the model that answers where
// a statement may name one and does not. The value none resets a setting.
//
// # Options
//
// Clauses come in the order of the grammar. The names of options are case-insensitive, and an option may be given
// once. A name in FORMAT, or after USING, is checked when the statement runs.
//
//	PREDICT          alpha, norm (row or column), seed_weight, center (on or off): parameters of the
//	                 walk, in place of the model's; beta (0.005), length (5, at most 20): parameters of katz
//	                 epsilon: maximum error of PageRank, relative to the largest start value (with
//	                 norm = column: times the node's degree)
//	                 cache (on or off): off makes the answer a function of graph, model and statement
//	                 until (certain or epsilon): certain stops as soon as the requested ranks are certain
//	                 seed: seed of SAMPLE; the database's by default
//	RANK NODES       alpha, norm (column by default), epsilon, cache: as in PREDICT
//	WHY              the options of PREDICT
//	CHOOSE ... EXPLORE squarecb        gamma (10), seed
//	CHOOSE ... EXPLORE epsilon_greedy  epsilon (0.1), seed
//	EVALUATE LOG     min_reward (0), max_reward (1)
//	EVALUATE HOLDOUT seed, reliability (on or off); with a policy: samples, negatives, folds, epochs of its
//	                 training; ON SPLIT: columns, source_label, target_label, and for a folder split (test)
//	EVALUATE STREAM  rounds (1000), seed, runs (1, at most 10,000), known (0), points (of a curve, 10),
//	                 plot (an SVG file to write; refused if the session has no Plot),
//	                 protocol (fresh: links a policy knows are left out of its candidates; paper: they are not)
//	CREATE MODEL     preset, seed, classes (a label), and every other option that DESCRIBE MODEL shows
//	TRAIN MODEL      samples, negatives, folds, epochs; FROM LOG: epochs; deploy (better, on or off)
//	LOAD EDGES       columns ('src,dst', 'src,dst,weight', 'src,dst,time' or 'src,dst,weight,time', or their names, as
//	                 in 'src=user_id,dst=item_id,time=created_at'), max_errors,
//	                 times (auto, s, ms, us, ns, rfc3339, datetime or date),
//	                 repeats (last, sum, count or error), source_label, target_label; for a folder split
//	LOAD NODES, LOAD FEATURES
//	                 keyless (on: the file has no keys, and its first line describes node 0), max_errors,
//	                 label (label of all nodes: with label = user, 7 is the node 'user:7')
//
// # Answers
//
// Every statement answers with rows of these columns, and possibly with notes for people.
//
//	PREDICT LINKS    source, target, rank, score, exploit, explore, ppr, bound, certain; with RETURN also label, degree
//	PREDICT CLASS    node, class, rank, score, exploit, explore, ppr, bound
//	NEIGHBORS OF     source, target, depth, weight (at depth 1), label, degree
//	WHY              part (score, input, pagerank or path), name, value, adds, share
//	RANK NODES       source, node, rank, score, bound, certain
//	PATH             step, node, weight (of the edge that leads there)
//	NODES            node, label, edges, degree
//	INSERT, MERGE    NODE: node, label, features; EDGES: edges_added, edges_changed, nodes_added
//	DELETE           NODE: nodes_deleted, edges_deleted; EDGES: edges_deleted
//	OBSERVE          source, target, reward, model, edge_added
//	CHOOSE           decision, source, target, score, propensity, policy, graph_version, model_version
//	REWARD           decision, source, target, reward, model, new, edge_added
//	SHOW DECISIONS   decision, source, target, propensity, policy, model, time, expires, reward
//	EVALUATE LOG     model, estimator, value, low, high, decisions, effective, logged
//	EVALUATE HOLDOUT model, metric (mrr, hits@10, @20, @50, @100, auc, reached, ece), value, count, of
//	EVALUATE STREAM  policy, round, regret, deviation, live, missed
//	CREATE, TRAIN    model, version, policy, answers, trained, rounds, bytes; SHOW MODELS too; TRAIN also deployed,
//	                 mrr, mrr_before, mrr_prior, mrr_heuristic, heuristic (the best one)
//	DEPLOY, ROLLBACK, FREEZE, THAW MODEL
//	                 model, version, before, frozen, answers, trained, rounds
//	SHOW VERSIONS    model, version, deployed, from (create, edges, log, import, refresh), parent, made, trained,
//	                 rounds, bytes
//	EXPORT MODEL     file, model, version, bytes
//	EXPORT LOG       file, observations, decisions
//	IMPORT MODEL     model, version, deployed, known, forgotten (nodes that the model remembers)
//	DROP MODEL       dropped
//	LOAD EDGES       file, lines, nodes, edges, loops, repeated, differing, both_ways, skipped,
//	                 columns
//	LOAD NODES, LOAD FEATURES
//	                 file, lines, nodes, skipped
//	EXPORT EDGES, EXPORT NODES, EXPORT FEATURES
//	                 file, lines, format, columns
//	BACKUP           file, version, records, bytes
//	BEGIN, COMMIT, ROLLBACK
//	                 transaction
//	SET              name, value
//	SHOW SETTINGS    name, value (null if not set), meaning
//	SHOW LABELS      label, nodes
//	SHOW POLICIES    policy, learns, summary
//	HELP             statement, summary; of a topic name, value
//	SHOW, DESCRIBE   name, value
//	CHECK            check
//	WARM             warmed
//	EXPLAIN          step, detail, cost_ms (predicted)
//	PROFILE          step, detail, cost_ms, took_ms
//
// In the rows of PREDICT, exploit is the estimated reward, explore the estimated gain of trying the link, and ppr the
// contribution of the walk over the graph: score = (1-alpha) (exploit + explore) + ppr, or exploit + explore for a
// policy without a walk. bound is the certified numerical error of score; certain means that no error within the
// bounds could change the rank of the link.
//
// # From a program
//
// [Run] runs a statement. A [Session] runs many, and may hold a transaction and settings. [Connector] serves
// database/sql. Package web serves HTTP.
package query
