// Package model is the learning half of kith: it scores candidate links of a node, and learns from what became of them.
//
// It holds no graph and no storage. A [Scorer] is asked about a source node and its candidates in a [World] (a graph, the
// nodes' feature vectors, and a walker that computes PageRank); a [Model] learns from outcomes and returns the next
// Scorer. The method is PageRank Bandits (Ban et al., NeurIPS 2024), the policy prb; its relatives and the usual
// heuristics are policies of the same shape.
//
// # A round
//
//	x    context of a candidate    blocks the model was created with: features of source and target, their product,
//	                               and what the graph says of the pair (the structural block)
//	f1   estimated reward          a network, plus the structural prior where that is switched on; or a belief
//	φ    gradient of f1 at x       mean-pooled by runs of Pool entries
//	f2   what f1 underrates        a network of φ; times explore_weight
//	h    start values              h[c] = f1 + f2 at the candidates; seed_weight at the source
//	v    walk                      v = αPv + (1-α)h, P = D⁻¹A (norm = row) or AᵀD⁻¹ (norm = column)
//
// Candidates are ranked by v. A [Score] shows the parts: Score = (1-α)(Exploit + Explore) + PPR, where PPR is what the walk
// brought. Policies without a walk have Score = Exploit + Explore. An outcome teaches f1 the reward of the chosen candidate
// and f2 the difference between that reward and f1, at the φ of the moment; on the rounds of the schedule both networks are
// fitted to all samples kept. A belief has no f2 and no schedule: it learns each outcome when it comes.
//
// # Structural block
//
// Ten numbers: the personalised PageRank (α = 0.85, column form) of the candidate seen from the source and of the
// source seen from the candidate, as log(1 + 1e6 p) / log(1 + 1e6); log1p of common neighbours, Adamic-Adar and
// resource allocation; log1p of the source's out-neighbours and the candidate's in-neighbours; Salton's index, which is
// common neighbours over the root of the product of those two counts; log1p of the paths of three edges, each over the
// root of the out-neighbours of its first inner node (of a linked pair, also those that turn round at the candidate); and
// the first number again for p over the candidate's in-neighbours. On a directed graph the common neighbours of (v, c) are
// the w with v→w→c, and paths lead the same way. Of a source whose neighbours have more than 32,768 edges the paths through
// the first neighbours by number count. Weights count in the PageRank alone. A node without a feature vector has zeros in
// the feature blocks.
//
// # Topology block
//
// More numbers, for the network of the default: the logarithms of resource allocation and of the sum of 1/degree²
// over the common neighbours, down to small values; the pair's share of all resource that the source gives; Jaccard's
// index, and common neighbours over the smaller and the larger count of neighbours; paths of three edges over the degrees
// of both inner nodes; and the PageRank of the candidate over its neighbours. On a directed graph also whether the candidate has an
// arc to the source, the common successors, the common predecessors and the ways back, each by number and by resource
// allocation, the source's in-neighbours and the candidate's out-neighbours; these are 0 on an undirected one.
//
// The rest compare the candidate with the nodes around the source (column/rivals.go): with its rivals, which are all nodes two edges away
// that the source has no edge to, and with the source's neighbours that are two edges away too, which show what links of
// this source look like. By each of four yardsticks (resource allocation, Adamic-Adar, paths of two edges over the degrees,
// in-neighbours) there are the rank of the candidate among the rivals, the part of the neighbours above it, and the mean
// log rank that the neighbours themselves would have; then common neighbours, Adamic-Adar and resource allocation over the
// largest of a rival, the number of rivals, the part of the neighbours that are two edges away, and the parts of mutual arcs
// of both ends. Among nodes within two steps on email-Enron, weights that were
// learned on other graphs are 2 % below resource allocation with these columns, and 5 % without.
//
// All are functions of the pair and the graph: what else is among the candidates changes no score.
//
// # Vectors block
//
// Numbers of a pair that exist after [Model.TrainEdges] of the default, and are 0 before. Seven come from a truncated singular
// value decomposition of the adjacency matrix (spectrum.go), of rank up to 256: estimates of a ridge regression of each
// node's edges on those of the others, as policy ease has them, and a cosine. Nodes with feature vectors have 28 more: cosines of
// the nodes' words averaged over surroundings of several sizes, what is near by similar words (profile.go),
// and products of the words near one end with those near the other (wordproducts.go).
//
// TrainEdges computes the vectors from the graph as it is then, and a later edge changes only the products. A node that comes
// later is placed by its neighbours and its features. Graphs whose spectrum of rank 16 would take more than 64 MB have no
// vectors.
//
// # Structural prior
//
// Without any training the networks of preset default rank by a fixed formula over the structural block,
//
//	prior = (to + from) / 4 + 0.1 log1p(Adamic-Adar) + 0.2 log1p(resource allocation),
//
// chosen among eight such sums by the rank of held-out edges of ego-Facebook and wiki-Vote. Afterwards it is a part of f1
// that is not learned: the network fits what it leaves over. The fitted policies rank by it until they are trained. It
// needs the structural block as it is, so it is off without that block and with normalize = unit.
//
// # Policies
//
// A policy is what is done with f1 and f2. Those with networks share one replay store and one schedule of trainings. Options
// that mean nothing to a policy are ignored; [Spec.Unused] names them.
//
//	default          f1 is a belief on top of a ranker
//	prb              f1, f2 and the walk
//	prb_greedy       f1 and the walk
//	prb_prior        prb that knows a share of the true edges from the start ([Known]); the caller inserts them
//	prb_n            prb for node classification: see below
//	ee_net           f1 and f2 (Ban et al., ICLR 2022)
//	neural_greedy    f1
//	neural_ucb       f1 + ν sqrt(λ gᵀ Z⁻¹ g) (Zhou, Li and Gu, ICML 2020)
//	neural_ts        a draw from N(f1, ν² λ gᵀ Z⁻¹ g) (Zhang et al., ICLR 2021)
//	eve_ppr          the walk of prb with one fixed h: the same mass at every candidate, none elsewhere
//	ppr              PageRank as seen from the serving node: h is 1 there, 0 elsewhere
//
// and the heuristics common_neighbors, adamic_adar, resource_allocation, random. g is the gradient of f1 with respect to
// all its weights; Z is diagonal, λI at first, and gains the squares of g at each pair whose outcome is observed. A draw
// of neural_ts or random is a function of seed, round and pair: asking twice changes nothing. The paper searches ν in
// {0.001, 0.01, 0.1, 1} and λ in {0.01, 0.1, 1}; options nu and lambda are 0.1 unless set. The paper names EvePPR
// without defining its h: eve_ppr is PRB without a bandit.
//
// prb_n turns classes into nodes ([Spec].Classes): the candidates of a node are the class nodes, ascending, and the context
// of the i-th has the node's features in the i-th of as many blocks. On reward 1 the edge to the class joins the graph;
// on reward 0 the edge to the true class may, where it becomes known. It is prb that must have classes; the other policies
// that learn may have them, and are its rivals then.
//
// # Presets
//
// A preset is contexts and walk, networks and their training. The policy default takes the first two from it and has no
// networks.
//
//   - paper: sections 4 and 5.1 of the PRB paper. Contexts [source; target] of unit length, two layers of 100 without
//     biases, normal initialisation, gradient descent for f1 and Adam for f2, a training every 50 rounds to 2,000 and
//     then every 100. The text leaves open how a training goes and how long φ is: passes in random order, one sample a
//     step, at most 2,000 steps, and runs of 50. Of the learning rates on the paper's grid it has 0.01 for f1 and
//     0.001 for f2; exploit_rate and explore_rate set others.
//   - released: the authors' program. Biases and uniform initialisation, f2 behind a convolution of 40 numbers, targets
//     of f2 one higher, loss without the half, candidates not chosen in a failed round of the first 1,000 as samples
//     with target 1.2, f2 counting 1/sqrt(t) from round 500, a training every 10 rounds to 1,000 and then every 100.
//     The walk is the paper's; option propagation = released makes it the program's: P normalised by column, and
//     edges that lead only from the serving node to the one that was chosen. Where no edge leads on from a candidate,
//     as on a bipartite graph, that walk changes no ranking.
//   - default: blocks source, target, product and structural, feature vectors of mean square 1, the prior, and a short walk
//     of centred start values (row form, α = 0.3), which the policy default leaves out. Networks have mini-batches of 32 with Adam, at most 20,000 samples
//     kept, and an output bias of f1 that starts at 1, so that what was never tried looks good: greedy runs can lock in on
//     losers for as long as they last.
//
// Without feature vectors the contexts of paper and released are the structural block too.
//
// Centring takes start values relative to the candidates' mean. Otherwise a walk adds up what many candidates have in
// common, which ranks them by degree. The mean reciprocal rank of 100 held-out Facebook edges among the nodes two hops away
// was 0.348 by the prior alone, 0.077 after a walk of it (column form, α = 0.85), 0.332 after a short one (row form,
// α = 0.2), and 0.345 after a short one of the centred prior.
//
// # The default
//
// The policy default has two parts: a ranker, which learns from the edges of a graph, and a belief on top of it, which
// learns from each outcome.
//
// The ranker is a network of one hidden layer of 48 that reads the blocks vectors, similarity, topology and structural. Its
// loss is that of a conditional logit (McFadden, 1974): -log of the probability that the link is chosen from a list of
// candidates of the same source, exp of their outputs being the odds. [Model.TrainEdges] draws up to 8000 edges and reads
// each from a graph that lacks it and others, up to a tenth of all edges where there are many. It makes up to three lists of
// an edge, because the kind of candidates decides which columns tell them apart: nodes within two steps, the 200 with the
// most PageRank among those within three, any nodes. Each list has 24 candidates that are no links, drawn uniformly from its
// kind. The links of the third lists also compete, with less weight, with all candidates of these lists in a batch, so that
// scores of different sources can be compared.
//
// A few nodes lose all their edges there, one for every 20 edges that are hidden, and up to three links of each are learned:
// that is what tells a node without edges from others. With them hits@10 of a tenth of the nodes, all of whose edges are hidden,
// is 0.32 on Cora and 0.53 on Citeseer (0.30 and 0.49 without), and on ml-100k without times that of popularity (0.054 and
// 0.058 for users and items, 0.051 and 0.056 without).
//
// A tenth of the edges or more is kept from training. The weights of the pass that has the least loss on them stay, or the
// weights before the first.
//
// A logistic regression then brings the outputs to log-odds: slope, constant, and a term for the degree of the source. It
// weighs candidates by the number of nodes that they stand for, and links as if a tenth of the graph's was missing, so that
// Exploit is the probability that the pair is linked when a tenth of the links is hidden.
//
// Before a training the weights are those of the learned start: the same network after training on the graphs that
// start_weights.go names, their dense cores and a few made ones. It is what ranks where there is no model ([Prior]). Three
// networks learn the links, whose weights decay, with resource allocation as a second teacher; a last one learns the mean of
// the three.
//
// The belief is Bayesian logistic regression. The probability of a link is σ(wᵀz), where z
// holds d numbers, each in a fixed scale and cut off at ±10: the context of the pair, its history, a constant, and the log-odds of the ranker. What is
// known of w is a normal distribution, N(m, C). An outcome y of z changes it in one step, as an extended Kalman filter
// would (assumed density filtering: Spiegelhalter and Lauritzen, Networks 20, 1990):
//
//	v = zᵀCz    p = σ(mᵀz / sqrt(1 + πv/8))    q = p(1-p)
//	m += Cz (y - p) / (1 + qv)    C -= q Cz(Cz)ᵀ / (1 + qv)
//
// Rewards count from 0 to 1. p is the probability of a link under uncertain w (MacKay, Neural Computation 4, 1992), and
// Exploit. The belief starts with independent weights around 0, of variance 1/lambda, and a fiftieth of it where the ranker was trained on the graph;
// the constant's has variance 4, or 0.5 then; that of the ranker is 1 with variance 0.02, or 0.1 where there are feature vectors and no training; and those of the history are 1, that of success
// with variance 0.1. A belief without a ranker, as other blocks leave it, starts around the structural prior and a constant of -2.
//
// Explore is the probability at nu standard deviations of the log-odds above their mean, σ(mᵀz + nu sqrt(v)), less
// Exploit: an upper confidence bound. A draw of w (Thompson sampling) would explore as well, but a bound gives a question
// asked twice one answer, and is said to people as it is. Before the first outcome Explore is 0: uncertainty that no
// outcome has shaped tells nothing apart but the size of contexts.
//
// A belief has no learning rate and no passes over old samples to tune, a round costs d² steps, and its uncertainty comes
// with it: it is small where outcomes were like the one asked about, and not elsewhere, which is what exploring needs.
//
// What a belief sees of a pair:
//
//   - Blocks, with preset default: structural, topology and vectors, and with feature vectors similarity, which is how close both ends are
//     (cosine, L1, L2 and its logarithm, of vectors of unit length) and how close each is to the neighbours of the
//     other (the largest cosine and a mean, of the first 128 by number). Vectors of up to 32 numbers are inputs of their own:
//     source, target, product, and difference, which is |source - target|, entry by entry.
//   - History, of the target alone: its success, as if two average tries had come before, in log-odds relative to those of
//     all tries; and how often it was on offer, as log((n + 3) / (m + 3)) where m is the mean n of the nodes that ever were.
//     The first is 0 for a target that was never tried, the second for all until something was on offer.
//   - With pin = on, the pair itself. What is inferred counts as a small fraction of one try beside the pair's own
//     outcomes, in both directions where edges have none, and an edge that is there counts as a success. So a
//     pair that failed sinks below the untried ones, and one that is linked rises above them.
//
// # Times
//
// Of a [Timed] graph the default has a forecast as well: who a source will link to next, at the time of the question. It is a
// network of 32 hidden units, plus a linear function, of 41 time columns of the pair (time.go): ages, ranks by recency, counts
// and decayed counts of the pair, the reverse pair, the source and the target, and recent paths. [Model.Follow] teaches it
// events, one after the other, from the world before each; [Model.TrainEvents] makes it anew from the newest ones. Its loss is a
// conditional logit too: the target of an event beside the 12 newest partners of the source, the 6 newest sources that linked
// to it, the 8 newest targets of any event, 16 targets and 8 nodes that were no target yet, drawn at random, which stand for as
// many as there are (without that the MRR of tgbl-wiki's validation part fell from 0.851 to 0.836). Eight pairs of
// other sources, each of which counts half, make scores of different sources comparable. Adam takes a step each 8
// events; what answers is a running mean of the weights.
//
// Where World.Now is set and there were 256 events, the log-odds of the forecast, block time, take the place of the ranker's
// and of all columns that are read from the graph. Exploit is then about the probability that the next link of the source leads
// to the target. An edge that is there is no certainty, as the question is whether it comes once more. The belief learns
// outcomes on top of that. A question without a time, or a graph without times, has the same answer as if there were no
// forecast, bit for bit.
//
// # Offers
//
// Outcome.Offered says what a pair was chosen from. A target that is offered often is worth knowing, as what is learned of
// it is used often, and it is often liked: the weight of that column starts at 1, which says that twice the offers are about
// twice the odds. Protocols paper and fresh of package trial draw the candidates that are no links at random from all nodes,
// so nodes that are often on offer there are also often linked, and a part of what offers gain there is owed to how
// candidates are drawn. Whoever proposes candidates by other means gets what the belief learns of the weight, from 1 on.
// That the same pair was on offer before is left out on purpose, though in those protocols it would tell nearly everything: a
// candidate that returns is a link there, which is a property of the benchmark and not of graphs. Outcomes that do not
// say what was on offer are learned without; option offers = off ignores what they say, and the column stays 0.
//
// # Learning again
//
// [Model.TrainLog] learns the outcomes kept once more from the beginning, in their order. So does [Model.TrainEdges], beside the
// new ranker.
//
// What the default reaches on graphs and in streams, and what its parts are worth, is in cmd/prbench/doc.go.
//
// # Policies fitted to a whole graph
//
// pair_net, embedding, pair_mix and ease learn nothing from single outcomes, which they only count: [Model.TrainEdges]
// fits them to all edges of a graph at once, and their scorers read the graph they are asked about, which may have changed
// since. They look at it as undirected and unweighted. Before a training they rank by the structural prior. Reading a graph
// takes from a fraction of a second to half a minute; a scorer keeps what it read until it is asked about another one.
//
//   - pair_net: a network on closed-form features of a pair: of the graph, of the similarity of the nodes' words, and of the
//     graph with links between nodes whose words are most similar.
//   - embedding: a network on the product of learned vectors of the nodes, which their words and the graph determine.
//   - pair_mix: both, added.
//   - ease: a ridge regression of each node's edges on those of the others, for dense graphs.
//
// Feature vectors are taken for words, most of them absent: entries count times their rarity. In a training every edge is
// read from a graph that lacks it.
//
// # State
//
// A Model is written by one goroutine. [Model.Scorer] is a view that later learning does not change, for any number of
// goroutines; it is a new one only after something was learned. [Model.MarshalBinary] is everything, or
// [Model.MarshalState] and [Model.MarshalVectors] are, of which an outcome changes the first alone: [Decode] of it
// continues bit by bit. A document says what the numbers of its contexts were, block by block, with their versions. Where they are
// others than today's, Decode returns an untrained model that remembers what became of pairs and nodes, and that is [Model.Outdated]. Seed, outcomes and their order decide every bit on one architecture, for any number of
// processors: matrix products sum each entry in one order.
//
// # Caveats
//
//   - Scores are for ranking. Exploit is an estimate of the reward where there was enough feedback, and what was believed
//     before it elsewhere; the Explore of a belief is negative where a link is unlikely and its log-odds uncertain, because
//     the mean probability lies above that of the mean.
//   - A training whose weights overflow is taken back: the model keeps those it had.
//   - A belief has at most 1,024 inputs: its covariance takes 12 d² bytes, and d² steps a round and a candidate. Wider
//     blocks are refused; feature vectors of more than 32 numbers are seen by their similarity alone.
//   - A belief remembers every pair that was tried, whatever the option replay: 24 bytes for each distinct pair beside what a
//     node takes; and how often each node was on offer: 4 bytes a node, by pages of 512 nodes. An outcome copies the row of
//     its source and the pages of what was on offer.
//   - An offer of more than 4,096 nodes says little of each, and is not learned.
//   - The document holds the replay samples, so it grows with the option replay: 4 bytes for each number of a sample's
//     context and of its φ or history. Presets paper and released keep all.
//     With classes a context has the length of a feature vector times the number of classes.
package model
