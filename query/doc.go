// Package query is the language of kith: statements of text and the trees they are parsed to.
//
// A script is cut into statements ([Split]), and a statement's text is parsed ([Parse],
// [Fragment.Parse]) to a tree of closed types ([Statement], [Value], [Set]). The parser knows no
// data: whether a model exists or a weight is allowed is not its business. What it refuses it
// refuses with an [*Error], which [Fragment.Caret] shows in its line; [Complete] tells a prompt
// whether to ask for another line.
//
// # Text
//
// A script is UTF-8 without NUL. Blanks and line ends separate words and mean nothing else; two
// hyphens begin a comment up to the end of the line, /* one up to the next */. A semicolon ends a
// statement; the last one of a script may do without. A statement has at most 1 MiB.
//
// Keywords are read in any case, and none is reserved: where the grammar wants a name, a keyword is
// a name, so a model may be called default and a label top.
//
//	name       letter or "_", then letters, marks, digits, "_"; or any text in double quotes
//	'string'   any text in single quotes
//	integer    digits, perhaps after "-", without leading zeros, within 64 bits
//	decimal    digits with a point or an exponent, perhaps after "-", finite in 64 bits
//	parameter  "?" or "$" and a name without quotes
//
// In quotes, a doubled quote stands for one. The node 42 and the node '42' differ. A parameter may
// stand wherever a node, a number or a string may; what it stands for is given when the statement
// runs, by position for ?, by name for $name. In a list of nodes or of features, and after IN, it may be
// a slice, and stands for all of its elements. A time is also a time.Time, a duration a time.Duration.
//
// # Grammar
//
// Words in capitals and signs stand for themselves, words in small letters are terms, [ ] encloses what may be
// left out, { | } alternatives, and "..." repeats what it follows, behind a comma each time where there is one.
//
//	PREDICT LINKS FOR node, ... [AT seconds] [AMONG sets]
//	    [ASSUMING edge, ...] [USING model] [WHERE condition] [TOP n]
//	    [RETURN column, ...] [WITH (option, ...)]
//	PREDICT CLASS FOR node, ... USING model [TOP n]
//	    [WITH (option, ...)]
//	WHY node -> node [AT seconds] [AMONG sets] [ASSUMING edge, ...]
//	    [USING model] [PATHS n] [WITH (option, ...)]
//	OBSERVE node -> node = number [AMONG sets] [USING name]
//	    [AND INSERT]
//	CHOOSE LINK FOR node [AT seconds] AMONG sets
//	    [EXPLORE explorer [WITH (option, ...)]] [USING name]
//	    [TTL duration]
//	REWARD n = number [AND INSERT]
//	EVALUATE PREDICT LINKS FOR { node, ... | ALL | SAMPLE(n) }
//	    [AMONG sets] [USING model]
//	    ON { HOLDOUT number | HOLDOUT AFTER seconds
//	       | SPLIT file [AGAINST file [EACH n]] }
//	    [WITH (option, ...)]
//	EVALUATE model ON LOG USING estimator [WITH (option, ...)]
//	EVALUATE STREAM { file | EDGES } [CANDIDATES n] [USING policy]
//	    [BASELINES policy, ...] [WITH (option, ...)]
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
//	SHOW DECISIONS [TOP n]
//	DESCRIBE MODEL name
//	DESCRIBE DECISION n
//	DESCRIBE NODE node
//	INSERT NODE node [LABEL name] [FEATURES (number, ...)]
//	MERGE NODE node [LABEL name] [FEATURES (number, ...)]
//	INSERT EDGES edge, ...
//	MERGE EDGES edge, ...
//	DELETE NODE node
//	DELETE EDGES { node -> node }, ...
//	NEIGHBORS OF node [DEPTH n] [TOP n]
//	NODES [LABEL name] [WHERE condition] [TOP n]
//	PATH FROM node TO node [DEPTH n]
//	RANK NODES FOR node, ... [ASSUMING edge, ...] [TOP n]
//	    [WITH (option, ...)]
//	LOAD { EDGES | NODES | FEATURES } FROM file [FORMAT format]
//	    [WITH (option, ...)]
//	EXPORT { EDGES | NODES | FEATURES | MODEL model | LOG } TO file
//	IMPORT MODEL name FROM file
//	BACKUP TO file
//	BEGIN [READ ONLY]
//	COMMIT
//	ROLLBACK
//	SET name = value
//	SHOW SETTINGS
//	SHOW STATS
//	SHOW LABELS [TOP n]
//	SHOW CACHE
//	WARM node, ...
//	CHECK
//	EXPLAIN statement
//	PROFILE statement
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
// What follows says what these mean, then which options there are and which columns the answers have.
//
// # Prediction
//
// PREDICT LINKS ranks the links from each of the nodes after FOR to the candidates after AMONG:
// the nodes listed, those within so many hops, those of largest personalised PageRank, so many drawn
// at random, those with a label, or all; PPR(1000) unless said. SIMILAR are the nodes that are most like the source, by what the
// training of the model learned of nodes or, without one, by their feature vectors, and the nodes with the most edges that lead
// to them where that says nothing of the source, or of too few. SIMILAR(1000) is what a node without edges gets unless AMONG is
// said. A node that LOAD EDGES made with source_label or target_label, or of such a label, gets of PPR where nothing is said, and of
// SIMILAR, nodes of the kinds that its kind is linked to. Nodes that the source is linked to, and
// itself, are left out unless they are listed. Sets are combined from left to right, and EXCEPT
// NEIGHBORS(2) leaves out those one hop away too. SAMPLE draws the same nodes for the same graph, source and
// option seed. A parameter that stands for a set is a db.Candidates or a slice of nodes. USING names
// the model; without it the one that is deployed answers or, where there is none, the learned start: a note says
// which model and version it was. TOP is
// how many links a node gets, 10 unless said. It reads only.
//
// WHERE says which links of the ranking are wanted, and TOP counts those; what it leaves out was scored
// all the same, and ranks stay what they are in the whole ranking. AMONG is what says what is scored.
// A condition compares columns of the answer, and label and degree, which are those of the target.
// Nodes, labels and certain are compared by =, <> and IN; a node without a label has the empty one.
// RETURN names the columns to answer with. Nodes have no other properties than a label and features, so
// INSERT NODE takes no others, and a condition knows none.
//
// ASSUMING has a statement answer as if the graph had some edges more, or edges of another weight:
// nothing is written, and nodes that an edge lacks are there for this answer alone. In a transaction
// that has changed something it is refused.
//
// WHY says where the score of a link comes from: the parts of the score as PREDICT LINKS with the same
// clauses gives it, from the same candidates (a target that is none of them is added, and a note says so);
// what the model is shown of the pair, and what each number adds to a sum, which the last of these rows
// gives and names: the log-odds of the link where a model of policy default tells, exploit where the prior
// does (a network's estimate is no sum of such terms); and the paths that carry most of
// the personalised PageRank of the target as seen from the source, in column form and with the
// database's alpha, 3 unless said. The value of a path is the probability that a walk
// goes this way and ends there, its share what that is of the PageRank; the rest goes longer ways, or
// to and fro. RANK NODES is personalised PageRank itself, in column form unless said. PATH finds a
// shortest path of at most DEPTH steps.
//
// PREDICT CLASS ranks the classes of a model that has some. Classes are nodes: CREATE MODEL m USING
// prb_n WITH (classes = topic) takes those that have the label topic at that moment, in the order in
// which they were made; the other policies that learn may have classes too. OBSERVE v -> class = 1 AND INSERT says that a prediction was right
// and links the node to its class; after OBSERVE v -> class = 0 the true class, where it is known, may
// be inserted as an edge, which later predictions see.
//
// # Learning
//
// OBSERVE tells a model the reward of a link, among the candidates it was one of, and with AND INSERT
// adds the link to the graph when the reward is 1. The model learns from the graph as it was before.
// Say AMONG where it is known: networks may learn from the candidates that were not chosen, and a model
// of policy default learns how often a node was on offer, unless it has offers = off. From
// sets of more than 4,096 nodes it does not.
//
// CHOOSE LINK draws one of the candidates, where PREDICT would only rank them: EXPLORE says how
// probabilities are made of the scores. With squarecb, the default, a candidate that scores less than
// the best one of K has 1 / (K + g (best - score)), where g is gamma times the root of the outcomes
// observed plus one, and the best one has the rest; with epsilon_greedy the best one is taken but for
// a share epsilon, when it is any of them. The draw is a function of the database's seed, or of option
// seed, and the decision's number. The decision is kept for TTL: seconds, or a string like '24h' or '7d'; seven
// days unless said. Until then REWARD says, once, what became of it, and the model learns that as it
// would from OBSERVE ... AMONG the candidates, from the graph as it was. The same reward again changes
// nothing; another one is an error. AND INSERT adds the link to the graph when the reward is 1. SHOW
// DECISIONS lists the latest 100 unless TOP says how many.
//
// # Evaluation
//
// EVALUATE ... ON LOG estimates what a model would have earned, had its best candidate been taken where
// the rewarded decisions were made: value, and low and high, which contain the true value with at least
// 95 %. USING says how: ips weighs each reward by the inverse of its propensity, snips does so relative to
// the sum of the weights, dr corrects a line through the model's scores by ips. The interval allows for
// rewards that the log has not, so it depends on the range that rewards have: from 0 to 1, and as far
// beyond as those of the log, unless options min_reward and max_reward say otherwise (one of them alone:
// with 0 or 1 as the other). The model is asked about the graph as it is now, without the links of the
// source that have come since. effective is how many decisions of the model's own would tell as much,
// logged what was earned. Notes tell when value is out of the range of rewards, which ips and dr can be,
// and in how many decisions the model's candidate had too small a propensity to tell. A log that cannot tell is
// refused with the reason: for one, that a decision was made without randomness.
//
// AT is the time of a question, in seconds since 1970: a model that was trained on edges with times tells what comes next then.
// Without it the time is now, or the second after the newest edge where that is earlier; a node without edges is asked about at
// no time. TRAIN learns the newest 8,192 times that an edge was added, or added to. Where no edge has a time, AT changes
// nothing. EVALUATE ... ON HOLDOUT AFTER asks at that time, other holdouts at none: what is missing, not what comes next.
//
// EVALUATE PREDICT LINKS ... ON HOLDOUT hides a share of the edges, drawn at random, or those AFTER a time: with that time or a
// later one, an edge that was added several times by the last of its times. Then it asks for links
// on the graph that is left: for the nodes listed, for ALL that have a hidden link, or for a SAMPLE of
// these. The learned start and resource_allocation are asked beside the model, for the same links among the same
// candidates: their rows, and a note, tell what the model is worth. USING names a model, which is asked as it is, or a policy, of which a model is made and
// trained on the edges that are left: a model that was trained before may have seen what is hidden, and a
// note says so. mrr is the mean, over the hidden links, of 1 over their rank among the candidates of their
// node that it has no edge to; hits@K is the share of the hidden links that score above all but K - 1 of
// these. Each link of a node with fewer than K of them counts, and a note says how many such nodes there
// were. A link that is not among the candidates counts as missed. auc is the share of pairs of a hidden link
// and such a candidate of its node that are in the right order, over the links that are reached: those that
// are candidates. Equal scores count as a miss for hits@K, and half for the others. ece is the expected calibration error of
// exploit as a probability of the link, for a model whose exploit is a number from 0 to 1: the candidates are cut into ten parts by
// their exploit, and it is the mean difference between the exploit of a part and the share of hidden links in it. With reliability =
// on each part has a row: metric says the mean exploit, value the share of links. count says what a value
// rests on. The database is left as it is.
//
// ON SPLIT takes the links to be found from a file, in a format of LOAD EDGES, or from the part of a folder of the Open Graph
// Benchmark that option split names (test; random0/test where there are several splits). Those that the graph has are
// hidden; it need not have any, where it was loaded from the training part alone. A link with a node that the graph lacks counts as
// missed, and a note tells how many there are. AGAINST names a file of pairs that are no links, or a split that has such pairs, and
// replaces the candidates. All links are ranked among all pairs of the file, as the Open Graph Benchmark does; with EACH n every link
// is ranked among n pairs of its own, in the order of both files, as HeaRT does (Li et al., NeurIPS 2023: an array of n pairs a link is
// read too). Then a pair of an undirected graph that begins or ends at an end of its link counts as another answer to the
// question about that end. A pair with a node that the graph lacks scores below those without.
//
// EVALUATE STREAM plays a policy on the links of a file, in a format of LOAD EDGES, or of the database,
// none of which it knows at first: round after round a node and CANDIDATES (100 unless said, at most
// 100,000) are drawn, up to a tenth of them linked to it; it chooses one, then learns what came of it. The rows are the
// regret, the rounds that had a link to be found and got none, up to a round; live is how many had one.
// Of several runs, with seeds that follow one another, regret is the mean and deviation the sample standard
// deviation; missed is the share of the live rounds that got none. Links have no direction, and each policy
// begins with those alone that option known says, a share drawn at random.
// USING names a policy, default unless said, BASELINES others that play the same rounds; ppr,
// adamic_adar, common_neighbors and random unless said. The database is left as it is.
//
// # The graph
//
// INSERT NODE is an error where the node exists; MERGE NODE changes it. INSERT EDGES and MERGE EDGES
// are the same: an edge that exists gets the weight and the time, 1 and none unless said, and nodes
// that an edge lacks are made. FEATURES sets a node's feature vector, of one length for all nodes of
// a label. DELETE NODE takes the node's edges with it. NEIGHBORS OF lists the nodes within DEPTH hops,
// the near ones first; NODES lists those with a label, in the order in which they came, its condition
// being about node, label, edges and degree. AT is in seconds since 1970. A weight is a number from 2^-40
// to 2^40 (9.1e-13 to 1.1e12), kept in 32 bits; a feature or a reward is one from -3.4e38 to 3.4e38.
//
// # Models
//
// One model answers, learns and is evaluated where a statement may name one and does not; SHOW MODELS tells which
// (answers). The first to be trained becomes it, DEPLOY MODEL makes another one it, and DROP MODEL leaves none. While
// there is none, or its deployed version is untrained, the learned start answers, and OBSERVE has to name a model.
// Making a model, importing one or training one with deploy = off changes no answer.
//
// A policy that learns nothing needs no model: USING takes its name wherever it takes that of a model, and no model can
// have such a name. They are common_neighbors, adamic_adar, resource_allocation, preferential_attachment, jaccard,
// katz, ppr, eve_ppr and random. Those that count neighbours and walks take no notice of weights. katz sums over the
// walks of up to length edges, each of l edges counting beta to the power of l; bound covers the longer ones, and is
// infinite, with a note, where beta is so large that no bound of them is known.
//
// CREATE MODEL makes version 1 of a model, untrained, that follows a policy, default unless another is named; TRAIN MODEL fits a copy of
// it to the edges, or to what it has observed, as a new version that takes the place of the old, or with
// deploy = off only stands beside it. A training from the edges of a graph with 200 or more of them leaves out a tenth, at most
// about 2,000, and ends with a comparison on these: mrr is that of the new version, mrr_before that of the version that is deployed, if
// it is trained, mrr_prior that of the learned start, and mrr_heuristic that of the best of common_neighbors, adamic_adar,
// resource_allocation and ppr. They rank the links of up to 200 nodes among up to 200 nodes each, two steps away, or three where no
// link is nearer. A version that is worse than one of the others is not deployed unless deploy = on: worse by more than two standard
// errors of the differences, node by node. Where it is better than the version before by as much, it is deployed in any case. The
// next training leaves out the same edges, as far as the graph is the same. One version of a model is deployed: it answers where no version is named,
// and learns from OBSERVE and REWARD; the others stand still. Eight are kept: of more the oldest go
// that are neither deployed nor the one to go back to. DEPLOY MODEL ... VERSION deploys another version, ROLLBACK
// MODEL the one that was deployed before, and once more the one before that. FREEZE MODEL keeps a model
// from learning, whatever version is deployed: what is observed is in the log and is not learned, also
// not after THAW MODEL. A model that was trained on the edges, and is not frozen, is trained again in the background when a tenth of
// the edges has changed since, and at least 1,000; the new version, from refresh, is deployed only if it is better.
//
// EXPORT MODEL writes a model to a file, in the version that is deployed unless another is named: all it
// takes to go on learning, under a checksum. IMPORT MODEL makes a model of it, here or in another
// database; where there is one of that name it makes a version of it, which waits to be deployed. What a
// model remembers of nodes it finds again by their keys; of nodes that are not here it forgets. EXPORT
// LOG writes what was observed, as far back as the database keeps it, and then the decisions, as lines of JSON: kind is observation or decision,
// nodes are numbers or strings, learned is false for what a frozen model was told. A file that is there
// is replaced when the new one is whole.
//
// # Files
//
// LOAD EDGES reads all of a file or, where it fails, nothing of it. An edge that comes twice, or is in the
// graph already, has the weight that came last; with repeats = sum its weights are added to the one it has,
// with repeats = count its lines are, whatever their weights, and repeats = error refuses it. The time is
// the latest in any case. To load a list in parts comes to the same as to load it whole. In an undirected
// graph the two directions of an edge are the same one: both_ways says how many edges the list has in
// both, and a note says so where sum or count took all of them twice. differing is how many of the lines that
// repeat had another weight or time than the one before. A list may join nodes of two kinds that it calls by the
// same numbers: with source_label = user, target_label = item the source 7 is the node 'user:7' with label
// user, the target 7 the node 'item:7' with label item. Columns are told from the header or the first lines, unless
// the option columns says what they are or what the header calls them; a number is a column's place. Times are
// seconds since 1970, as AT has them: a list may have them in s, ms, us or ns, as rfc3339
// (2006-01-02T15:04:05Z), datetime (2006-01-02 15:04:05, in UTC) or date (2006-01-02), told from the first lines
// unless the option times says. Notes name how times were read, and the columns that were not. LOAD NODES makes the nodes of a file,
// a key a line, and gives them the labels beside the keys; LOAD FEATURES gives them feature vectors, key
// and numbers a line. These two commit as they go. The formats are those of package edgelist: snap, csv,
// tsv, mtx, npy, npz or pt, plain or packed, told from the file unless FORMAT says. LOAD EDGES also reads a
// folder of the Open Graph Benchmark, format ogb: its nodes, their labels and features, and then its edges, with a
// row for each file; a file that fails leaves those before it loaded. The edges are those of raw/edge.csv.gz or,
// with split = train, valid, test or all, those of its split; where it has several, the option names one, as in
// split = 'random0/train'. EXPORT EDGES,
// NODES and FEATURES write what the three read back, as the name ends: .csv, .tsv or .txt (between
// blanks), with .gz or .zst behind it packed. Labels and weights, times and numbers come back as they were with the format and the
// columns that EXPORT answers with; a key that would not, as the string '42', is refused. BACKUP writes
// all there is, as kith backup does, for kith restore; it takes the place of no other file than a backup.
//
// # Statements about the database
//
// SHOW STATS says how large it is and which labels have the most nodes, SHOW CACHE what the cache of PageRank states holds and did, SHOW MODELS
// and SHOW VERSIONS which models there are; DESCRIBE tells all of one model, node or decision. CHECK
// re-derives every invariant of the database. WARM computes the PageRank states of nodes and keeps them
// in the cache. EXPLAIN shows the plan of a statement and does not run it; PROFILE runs it and shows,
// instead of its rows, what each step took. SHOW LABELS and SHOW POLICIES list what can be named; HELP lists the
// statements, and behind the first words of some it tells their grammar and an example.
//
// # Transactions and settings
//
// A statement is a transaction of its own, unless it stands between BEGIN and COMMIT or ROLLBACK: then
// it sees what those before it have written, and others see that when COMMIT has returned. One
// transaction writes at a time, so BEGIN waits for the one before it. BEGIN READ ONLY waits for nobody,
// and its statements all see the database as it was then. A statement that fails leaves no trace in its
// transaction, which stays open. COMMIT ends it in any case: where it fails, nothing has happened. A
// session that ends rolls back. CHOOSE, of which the decision must be there before anybody acts on it,
// WARM, CHECK, LOAD, BACKUP and what makes, trains or drops models cannot be part of a transaction. Models
// learn when it is committed, and answer until then as they were.
//
// SET changes what the session goes by: max_rows, how many rows an answer may have, what is more being
// left out with a note that says so; timeout, how long a statement may take, in seconds or as a string
// like '500ms' or '1d', after which it is cancelled; seed, where SAMPLE, CHOOSE and EVALUATE begin to draw; model,
// which answers where USING may name one and does not. The value none takes a setting back.
//
// # Options
//
// Clauses come in the order of the grammar. The names of options are read in any case, and an option
// is given once. A name in FORMAT, or after USING, is checked when the statement runs.
//
//	PREDICT          alpha, norm (row or column), seed_weight, center (on or off): the walk, instead
//	                 of the model's; beta (0.005), length (5, at most 20): of katz
//	                 epsilon: error allowed to PageRank, relative to the largest start value (with
//	                 norm = column: times the node's degree)
//	                 cache (on or off): off makes the answer a function of graph, model and statement
//	                 until (certain or epsilon): certain stops as soon as the ranks asked for are
//	                 seed: of SAMPLE; the database's unless said
//	RANK NODES       alpha, norm, epsilon, cache: as in PREDICT, with norm = column unless said
//	WHY              those of PREDICT
//	CHOOSE ... EXPLORE squarecb        gamma (10), seed
//	CHOOSE ... EXPLORE epsilon_greedy  epsilon (0.1), seed
//	EVALUATE LOG     min_reward (0), max_reward (1)
//	EVALUATE HOLDOUT seed, reliability (on or off); with a policy: samples, negatives, folds, epochs of its
//	                 training; ON SPLIT: split of a folder (test), columns, source_label, target_label
//	EVALUATE STREAM  rounds (1000), seed, runs (1, at most 10,000), known (0), points of a curve (10),
//	                 plot (an SVG file to write),
//	                 protocol (fresh: links a policy knows are left out of its candidates; paper: they are not)
//	CREATE MODEL     preset, seed, classes (a label), and every other option that DESCRIBE MODEL shows
//	TRAIN MODEL      samples, negatives, folds, epochs; FROM LOG: epochs; deploy (better, on or off)
//	LOAD EDGES       columns ('src,dst', 'src,dst,weight', 'src,dst,time' or 'src,dst,weight,time', or their names, as
//	                 in 'src=user_id,dst=item_id,time=created_at'), max_errors,
//	                 times (auto, s, ms, us, ns, rfc3339, datetime or date),
//	                 repeats (last, sum, count or error), source_label, target_label; of a folder split
//	LOAD NODES, LOAD FEATURES
//	                 keyless (on: the file has no keys, and its first line is of node 0), max_errors,
//	                 label (of all nodes: with label = user, 7 is the node 'user:7')
//
// # Answers
//
// Every statement answers with rows of these columns, and perhaps with notes for people.
//
//	PREDICT LINKS    source, target, rank, score, exploit, explore, ppr, bound, certain; on demand label, degree
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
//	SHOW SETTINGS    name, value (nothing where it is none), meaning
//	SHOW LABELS      label, nodes
//	SHOW POLICIES    policy, learns, summary
//	HELP             statement, summary; of a topic name, value
//	SHOW, DESCRIBE   name, value
//	CHECK            check
//	WARM             warmed
//	EXPLAIN          step, detail, cost_ms (predicted)
//	PROFILE          step, detail, cost_ms, took_ms
//
// In PREDICT's rows, exploit is the estimated reward, explore the estimated gain of trying, ppr what
// the walk over the graph brought: score = (1-alpha) (exploit + explore) + ppr, or exploit + explore
// for a policy without a walk. bound is the certified numerical error of score; certain says that no
// error within the bounds could give the link another rank.
//
// # From a program
//
// [Run] runs a statement; a [Session] runs many, and may hold a transaction and settings. [Connector]
// is for what speaks database/sql.
//
// # Over HTTP
//
// [Handler] answers statements that only read, so that one can look into the database of a process that
// runs; a [Client] asks it, and gets the same rows and errors as [Run]. A request is
//
//	POST /query HTTP/1.1
//	Content-Type: application/json
//
//	{"statement": "PREDICT LINKS FOR ? TOP 1", "parameters": ["ann"]}
//
// and its answer lines of JSON: what the columns are and which of them hold nodes, a line for each row
// and each note, and how many rows there were. An answer without that last line, or a line of an error
// instead, is not whole.
//
//	{"columns":["source","target","rank",...],"keys":["source","target"]}
//	{"row":["ann","cid",1,...]}
//	{"note":"answered by the learned start: there is no model"}
//	{"rows":1}
//
// Parameters are a list for ? or an object for $name.
//
// # Invariants
//
// The String of every tree parses to an equal tree, positions apart; parameters and the difference
// between 1 and 1.0 survive. Only conditions nest, to a bounded depth, so parsing uses bounded stack, and
// time and memory linear in the text.
package query
