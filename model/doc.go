// Package model is the learning half of kith. It scores candidate links of a node and learns from
// their outcomes.
//
// The package holds no graph and no storage. A [Scorer] ranks candidates for a source node in a
// [World]: a graph, the nodes' feature vectors and words, and a walker that computes PageRank. A
// [Model] learns from outcomes and returns the next Scorer. The method is PageRank Bandits (Ban et
// al., NeurIPS 2024), here the policy prb. Its relatives and the usual heuristics are policies with
// the same interface ([DescribePolicies]).
//
// # A round
//
//	x    context of a candidate    blocks of numbers of the pair (block.go): feature vectors, and the graph around it
//	f1   estimated reward          a network, plus the structural prior if it is switched on; or a belief
//	φ    gradient of f1 at x       mean-pooled over runs of Pool entries
//	f2   estimated error of f1     a network of φ, times explore_weight
//	h    start values              h[c] = f1 + f2 at the candidates; seed_weight at the source
//	v    walk                      v = αPv + (1-α)h, P = D⁻¹A (norm = row) or AᵀD⁻¹ (norm = column)
//
// Candidates are ranked by v. A [Score] shows the parts: Score = (1-α)(Exploit + Explore) + PPR,
// where PPR is the contribution of the walk. Policies without a walk have Score = Exploit +
// Explore. An outcome teaches f1 the reward of the chosen candidate, and f2 the difference between
// that reward and f1, at the current φ. In the rounds of a schedule both networks are trained on
// all kept samples. A belief has no f2 and no schedule: it learns each outcome at once.
//
//	default          f1 is a belief on top of a ranker; no walk
//	prb              f1, f2 and the walk; with alpha = 0 EE-Net (Ban et al., ICLR 2022)
//	prb_greedy       f1 and the walk
//	ppr              PageRank from the source: h is 1 there, 0 elsewhere
//
// A policy ignores options without a meaning for it; [Spec.Unused] names them. A preset sets
// contexts, walk, networks and their training. Preset paper has the values of sections 4 and 5.1 of
// the PRB paper, preset default the values of kith; presetPaper says what kith does where the text
// of the paper is open. The structural prior is a formula over the structural block that ranks
// until the networks of preset default are trained, and remains a part of f1. Contexts, and so
// scores, are functions of the pair, the graph and the feature vectors: candidates do not change
// each other's scores, except by a walk.
//
// # The default
//
// The ranker learns from the edges of a graph: the mean of three networks with one hidden layer,
// whose loss is the loss of a conditional logit (McFadden, 1974): the negative log-probability that
// the link is chosen from a list of candidates of its source. [Model.TrainEdges] reads each drawn
// edge from a graph without it, among three kinds of candidates that are no links: nodes within two
// steps, nodes with a large PageRank, and all nodes. A tenth of the lists is held out, and each
// network keeps the weights after its best pass. A logistic regression then calibrates the outputs:
// Exploit is the probability that the pair is linked when a tenth of the links is hidden. Before
// training the ranker has the weights of the learned start, the same network trained on the graphs
// that start_weights.txt names. It also ranks where there is no model ([Prior]).
//
// Nodes may have words ([Spec].Words), a sparse vector of 16,384 entries. It precedes the feature
// vector of the node, and the columns of similarities and of node vectors read both as one. A
// training with words learns links to a few nodes whose edges are all hidden, so that it ranks new
// nodes by their words, and it leaves nodes without any edge out of the candidates that are no
// links: whom they will be linked to is not known yet.
//
// The relational part predicts links of one relation from the edges of all relations, in a [World]
// that asks for them (World.Typed). [Model.TrainRelations] mines rules over paths and trains
// networks, like the ranker's, that read the evidence of rules (package rules). Scores of other
// kinds (addedScores) are added to the networks' output: the ranker's log-odds by the edges of the
// relation, and by all edges, and the scores of learned vectors. Their weights are fitted to
// choices that the networks have not learned, for all relations together and, where that helps, for
// one. The log-odds of the sum replace the ranker's. [Scorer.OnRules] gives an untrained model a
// relational part: weights that were trained on the graphs that relation_weights.txt names, and the
// rules of the graph at hand, which are mined when they are asked for. A graph without relations
// has no relational part, and its answers are the same as without one, bit for bit.
//
// The belief is Bayesian logistic regression on top of the ranker. The probability of a link is
// σ(wᵀz), where z holds d numbers, each with a fixed scale and clipped at ±10: the context of the
// pair, the history of the target (its success, and how often it was offered), a constant, and the
// log-odds of the ranker. The belief about w is a normal distribution, N(m, C). An outcome y at z
// changes it in one step, like an extended Kalman filter (assumed density filtering: Spiegelhalter
// and Lauritzen, Networks 20, 1990):
//
//	v = zᵀCz    p = σ(mᵀz / sqrt(1 + πv/8))    q = p(1-p)
//	m += Cz (y - p) / (1 + qv)    C -= q Cz(Cz)ᵀ / (1 + qv)
//
// Rewards are clipped to 0 and 1. p is the probability of a link under uncertain w (MacKay, Neural
// Computation 4, 1992), and is Exploit. Explore is the probability at nu standard deviations of the
// log-odds above their mean, less Exploit: an upper confidence bound. Before the first outcome it
// is 0: uncertainty without outcomes only reflects the size of contexts. With pin = on the inferred
// probability counts as a small fraction of one try, next to the pair's own outcomes.
//
// There are two priors of w. One trusts the ranker: its weight has mean 1, and the remaining
// weights have mean 0 and variance 1/(50 lambda). The second ignores the ranker: it has the weights
// of the structural prior, mean 1 for the offers, a constant of -2, and variance 1/lambda. A belief
// starts from the first. After 8, 16, 32, 64 and 128 outcomes, and in each training, it switches to
// the second prior, or back, if that makes the outcomes so far much more likely. On a graph that is
// known when the first outcome arrives, one outcome thus changes little, and on a graph that is
// empty at first, outcomes soon decide.
//
// The forecast answers on a [Timed] graph, if World.Now is set and there were 256 events: whom the
// source will link to next. It is a network, plus a linear function, of the time columns of the
// pair. [Model.Follow] teaches it events one by one, each from the world before it, and
// [Model.TrainEvents] trains it from scratch on the newest events. About existing edges it answers
// alone, because they may occur again. For new links it is added to the ranker, with a weight by
// the age of the newest edge out of the source, which is learned too (gate.go). A question without
// a time, or a graph without times, has the same answer as without a forecast, bit for bit.
//
// # Files
//
// The files form layers, and a call goes down:
//
//	train, ranker_learn, draw,          trainings from edges, events and outcomes
//	forecast_learn, gate_learn, relation_learn, relation_start_learn
//	codec                               a model as a document
//	model                               the learner
//	scorer, retrieve, near, walk        answers and their parts
//	choice, relation_blend              learning to rank choices; weights of scores
//	belief, ranker, relation,           the parts of the default
//	relation_scores, relation_start
//	memory                              outcomes of nodes and pairs
//	offpolicy                           estimates from logs of choices
//	scratch, block                      contexts of pairs
//	forecast, gate, time, time_paths    predictions from the times of edges
//	edges, heuristic                    reading edges of a graph; policies that learn nothing
//	spec, policy                        options, policies and presets
//	progress, metric, types             progress of a training; measures of rankings; common types
//	explorer                            choices by probabilities, one or a slate
//	package factor                      vectors of nodes and relations
//	package rules                       rules over relations, and their evidence
//	package spectral                    columns that read vectors of nodes
//	package column                      columns that read the graph
//	package nn                          networks and matrices
//	package gemm                        products of matrices
//
// The experiments with the parts of the default, and their results, are in cmd/prbench.
//
// # State
//
// One goroutine at a time writes a Model. [Model.Scorer] is a view that later learning does not
// change, for any number of goroutines; the model returns the same Scorer until it learns
// something. [Model.MarshalBinary] encodes the whole model; [Model.MarshalState] and
// [Model.MarshalVectors] encode its two parts; an outcome changes only the first. [OpenParts]
// leaves the vectors of nodes where they are stored, and reads a page of them when it is first
// needed. A model from [Decode] or [OpenParts] continues bit for bit. A document names the numbers
// of its contexts, block by block, with their versions. If they differ from the current ones,
// Decode returns an untrained model that remembers the outcomes of pairs and nodes and is
// [Model.Outdated].
//
// INVARIANT: seed, outcomes and their order determine every bit on one architecture, for any number
// of processors: matrix products sum each entry in one order, and random draws are functions of the
// seed.
//
// # Caveats
//
//   - Scores are for ranking. Exploit estimates the reward where there was enough feedback, and
//     elsewhere states the initial belief. The Explore of a belief is negative where a link is
//     unlikely and its log-odds uncertain, because the mean probability is above the probability of
//     the mean.
//   - A training computes the vectors of nodes from its graph; a later node is placed by its
//     neighbours and its features. They are left out if they take too much of the memory of the
//     training ([Model.VectorsLeftOut]).
//   - A training whose weights overflow is undone: the model keeps the weights from before.
//   - A belief has at most 1,024 inputs: its covariance takes 12 d² bytes, and a round and a
//     candidate take d² steps. Wider blocks are refused; feature vectors of more than 32 numbers
//     enter by their similarity only.
//   - A belief remembers every tried pair, whatever the option replay, in 24 bytes each, and how
//     often each node was offered, in 4 bytes a node by pages of 512 nodes.
//   - An offer of more than 4,096 nodes says little about each of them and is not learned.
//   - The document holds the replay samples, so it grows with the option replay: 4 bytes for each
//     number of a sample's context and of its φ or history. Preset paper keeps all samples.
package model
