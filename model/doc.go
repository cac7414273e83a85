// Package model is the learning half of kith. It scores candidate links of a node and learns from
// their outcomes.
//
// The package holds no graph and no storage. A [Scorer] ranks candidates for a source node in a
// [World]: a graph, the nodes' feature vectors, and a walker that computes PageRank. A [Model]
// learns from outcomes and returns the next Scorer. The method is PageRank Bandits (Ban et al.,
// NeurIPS 2024), here the policy prb. Its relatives and the usual heuristics are policies with the
// same interface.
//
// # A round
//
//	x    context of a candidate    the blocks that the model was created with: features of source and target, their
//	                               product, and the structure around the pair
//	f1   estimated reward          a network, plus the structural prior if it is switched on; or a belief
//	φ    gradient of f1 at x       mean-pooled over runs of Pool entries
//	f2   estimated error of f1     a network of φ, times explore_weight
//	h    start values              h[c] = f1 + f2 at the candidates; seed_weight at the source
//	v    walk                      v = αPv + (1-α)h, P = D⁻¹A (norm = row) or AᵀD⁻¹ (norm = column)
//
// Candidates are ranked by v. A [Score] shows the parts: Score = (1-α)(Exploit + Explore) + PPR,
// where PPR is the contribution of the walk. Policies without a walk have Score = Exploit +
// Explore. An outcome teaches f1 the reward of the chosen candidate, and f2 the difference between
// that reward and f1, at the current φ. In the rounds of the schedule both networks are trained on
// all kept samples. A belief has no f2 and no schedule: it learns each outcome at once.
//
// # Blocks of numbers
//
// The constants of package column name and explain each number of the blocks structural, topology
// and similarity. All are functions of the pair, the graph and the feature vectors: the other
// candidates change no score.
//
// Block structural is ten numbers: PageRank (personalised, α = 0.85, column form) in both
// directions, common neighbours and their weighted sums, degrees, and paths of three edges. For a
// linked pair these include paths that pass through the candidate before they end there. On a
// directed graph the common neighbours of (v, c) are the nodes w with v→w→c, and paths follow the
// arcs. If the neighbours of a source have more than 32,768 edges, only the paths through its first
// neighbours, by number, count. Only PageRank uses weights. A node without a feature vector counts
// as one with zeros.
//
// Block topology is for the network of the default. It has more such numbers, and compares the
// candidate with nodes around the source (column/rivals.go): with its rivals, which are the nodes
// two edges away that the source has no edge to, and with those neighbours of the source that are
// also two edges away, which show what links of this source look like. On email-Enron, the first
// start that was learned on other graphs had 1.03 times the MRR with these comparisons.
//
// # Vectors block
//
// Numbers of a pair that exist after [Model.TrainEdges] of the default and are 0 before. Nine come
// from a truncated singular value decomposition of the adjacency matrix (spectrum.go), of rank up
// to 256, in which an edge between nodes with many edges counts less: estimates of a ridge
// regression of each node's edges on those of the others, as in EASE (Steck, WWW 2019), and a
// cosine. With feature vectors there are 27 more: cosines of the nodes' words averaged over
// neighbourhoods of several sizes, nodes near the pair with similar words (profile.go), and
// products of the words near one end with those near the other (wordproducts.go).
//
// TrainEdges computes the vectors from the graph of that moment; later edges change only the
// columns that read the neighbours of a pair. A node that had neither edges nor features then is
// placed by its neighbours and its features. The vectors are left out if the computation of a
// spectrum of rank 16 takes more than 64 MB or half of the training's memory, or if the feature
// vectors, at 16 bytes per entry that is not zero, take more than the training's memory
// ([Model.VectorsLeftOut]).
//
// # Structural prior
//
// Without training the networks of preset default rank by a formula over the structural block,
//
//	prior = (to + from) / 4 + 0.1 log1p(Adamic-Adar) + 0.2 log1p(resource allocation),
//
// chosen among eight such sums by the rank of held-out edges of ego-Facebook and wiki-Vote. After
// training it remains a fixed part of f1, and the network learns the rest. It needs the unscaled
// structural block, so it is off without that block and with normalize = unit.
//
// # Policies
//
// A policy says how f1 and f2 are used. Policies with networks share one replay store and one
// schedule of trainings. A policy ignores options without a meaning for it; [Spec.Unused] names
// them.
//
//	default          f1 is a belief on top of a ranker
//	prb              f1, f2 and the walk; with alpha = 0 EE-Net (Ban et al., ICLR 2022)
//	prb_greedy       f1 and the walk
//	ppr              PageRank from the source: h is 1 there, 0 elsewhere
//
// [DescribePolicies] lists the others. A draw of random is a function of seed, round and pair: the
// same question has the same answer.
//
// # Presets
//
// A preset sets contexts and walk, networks and their training. The policy default uses only
// contexts and walk.
//
//   - paper: sections 4 and 5.1 of the PRB paper, with contexts [source; target] of unit length. The text does not say
//     how a training runs nor how long φ is. Here a training makes passes in random order with one sample a step and at
//     most 2,000 steps, and φ is pooled over runs of 50. Of the paper's grid of learning rates it uses 0.01 for f1 and
//     0.001 for f2; options exploit_rate and explore_rate set others. Algorithm 1 (lines 17 and 18) has one step a round, on
//     the newest sample; section 5.1 has the schedule, which is used here, and option step = round is the algorithm. Two
//     details are of the authors' program, not of the text: a training ends when the mean loss of a pass is below 0.001
//     (f1) or 0.002 (f2), which early_stop = off leaves out, and Adam's moments start from zero in each training, which
//     moments = kept leaves out. What each changes is in the figures of prbench.
//   - default: blocks source, target, product and structural, feature vectors of mean square 1, the prior, and a short
//     walk of centred start values (row form, α = 0.3), which the policy default leaves out. The output bias of f1
//     starts at 1, so that untried candidates look good: greedy runs can lock in on poor candidates for as long as they
//     last.
//
// Without feature vectors the contexts of paper are the structural block too.
//
// Centring subtracts the candidates' mean from the start values. Without it a walk sums what many
// candidates have in common, which ranks them by degree. The mean reciprocal rank of 100 held-out
// Facebook edges among the nodes two hops away was 0.348 by the prior alone, 0.077 after a walk
// (column form, α = 0.85), 0.332 after a short walk (row form, α = 0.2), and 0.345 after a short
// walk of the centred prior.
//
// # The default
//
// The policy default has two parts: a ranker, which learns from the edges of a graph, and a belief
// on top of it, which learns from each outcome.
//
// The ranker is the mean of three networks, each with one hidden layer of 48, that read the blocks
// vectors, similarity, topology and structural. Their loss is that of a conditional logit
// (McFadden, 1974): the negative log-probability that the link is chosen from a list of candidates
// of the same source, with exp(output) as the odds. [Model.TrainEdges] draws up to 8000 edges and
// reads each from a graph without it and without others, up to a tenth of all edges on large
// graphs. An undirected graph with fewer edges has edges read from both of their ends, up to the
// same number: Hits@100 of the validation parts of splits 3 and 4 rose from 0.957 to 0.963 on Cora
// and from 0.974 to 0.979 on Citeseer.
//
// TrainEdges makes up to three lists for an edge, because the kind of candidates decides which
// columns separate them: nodes within two steps, the 200 with the largest PageRank within three
// steps, and all nodes. Each list has 24 candidates that are no links, drawn uniformly from its
// kind. The links of the third lists also compete, with less weight, with all candidates of these
// lists in a batch, so that scores of different sources are comparable.
//
// Some nodes lose all their edges in these graphs, one for every 20 hidden edges, and up to three
// links of each are learned. This teaches the difference between nodes without edges and others.
// With it hits@10 of a tenth of the nodes, all of whose edges are hidden, is 0.32 on Cora and 0.53
// on Citeseer (0.30 and 0.49 without), and on ml-100k without times that of popularity (0.054 and
// 0.058 for users and items, 0.051 and 0.056 without).
//
// Training leaves out the columns that compare a pair with the rivals of its source. They help a
// start that has to suit many graphs, but what a network learns from them is misleading where
// hidden links are unlike the known ones: without them Hits@20 on ogbl-ddi is 0.764 for 0.612
// (0.751 for 0.740 on its validation part). Elsewhere they made little difference: without them the
// MRR of holdouts is 1.000 times as large on five graphs (seeds 4 and 5), 1.01 times on 15 parts of
// graphs with 60 to 600 nodes (seeds 11 to 16), and 0.98 (Epinions) to 1.02 times (wiki-Vote) on
// the eleven graphs that prbench reports.
//
// A tenth of the lists is held out of training. Each network keeps the weights, initial ones
// included, after the pass with the least loss on the held-out lists.
//
// A logistic regression then calibrates the outputs to log-odds: slope, constant, and a term for
// the degree of the source. It weights candidates by the number of nodes that they represent, and
// links as if a tenth of the graph's links were missing. So Exploit is the probability that the
// pair is linked when a tenth of the links is hidden.
//
// Before training the ranker has the weights of the learned start: the same network trained on the
// graphs that start_weights.txt names, their dense cores and a few generated graphs. It also ranks
// where there is no model ([Prior]). Three networks learn the links, with decaying weights and with
// resource allocation as a second teacher; a last one learns the mean of the three.
//
// The belief is Bayesian logistic regression. The probability of a link is σ(wᵀz), where z holds d
// numbers, each with a fixed scale and clipped at ±10: the context of the pair, its history, a
// constant, and the log-odds of the ranker. The belief about w is a normal distribution, N(m, C).
// An outcome y at z changes it in one step, like an extended Kalman filter (assumed density
// filtering: Spiegelhalter and Lauritzen, Networks 20, 1990):
//
//	v = zᵀCz    p = σ(mᵀz / sqrt(1 + πv/8))    q = p(1-p)
//	m += Cz (y - p) / (1 + qv)    C -= q Cz(Cz)ᵀ / (1 + qv)
//
// Rewards are clipped to 0 and 1. p is the probability of a link under uncertain w (MacKay, Neural
// Computation 4, 1992), and is Exploit.
//
// At first the weights are independent. There are two priors. One trusts the ranker, whose weight
// has mean 1, and the others have mean 0 and variance 1/(50 lambda). The other one ignores the
// ranker: it has the weights of the structural prior, mean 1 for the offers, a constant of -2, and
// variance 1/lambda. In both the success of the target has mean 1. A belief starts from the first.
// After 8, 16, 32, 64 and 128 outcomes, and in each training, it takes the other prior if that
// makes the outcomes so far much more likely: 8,000 times if most of their sources had edges,
// otherwise 20 times, and after 128 outcomes by any difference. On a graph that is known when the
// first outcome arrives, one outcome thus changes little, and on a graph that is empty at first,
// outcomes soon decide. A belief without a ranker, because of other blocks, has the second prior.
//
// Explore is the probability at nu standard deviations of the log-odds above their mean, σ(mᵀz + nu
// sqrt(v)), less Exploit: an upper confidence bound. A draw of w (Thompson sampling) would explore
// as well, but a bound gives the same answer to the same question and is shown as it is computed.
// Before the first outcome Explore is 0: uncertainty without outcomes only reflects the size of
// contexts.
//
// A belief needs no learning rate and no passes over old samples. A round takes d² steps. Its
// uncertainty is small near the outcomes seen and large elsewhere, as exploration requires.
//
// Inputs of a belief for a pair:
//
//   - Blocks, with preset default: structural, topology and vectors, and with feature vectors similarity. Vectors of up
//     to 32 numbers are inputs too: source, target, product, and difference, which is |source - target|, entry by
//     entry.
//   - History of the target: its success, with two average tries added, in log-odds relative to those of all tries; and
//     how often it was offered, as log((n + 3) / (m + 3)) where m is the mean n of all nodes that were offered. The
//     first is 0 for a target that was never tried, the second is 0 for all targets until something was offered.
//   - With pin = on, the pair itself. The inferred probability counts as a small fraction of one try, next to the
//     pair's own outcomes (in both directions on undirected graphs), and an existing edge counts as a success. So a
//     failed pair ranks below untried ones, and a linked pair above them.
//
// # Times
//
// On a [Timed] graph the default also has a forecast: whom a source will link to next, at the time
// of the question. It is a network of 32 hidden units, plus a linear function, of 41 time columns
// of the pair (time.go): ages, ranks by recency, counts and decayed counts of the pair, the reverse
// pair, the source and the target, and recent paths. A count is the weight of edges in units of a
// light edge, so that a common factor of all weights changes nothing. [Model.Follow] teaches it
// events one by one, each from the world before it; [Model.TrainEvents] trains it from scratch on
// the newest events. Its loss is a conditional logit too. The target of an event competes with
// recent partners of the source, with recent targets of any event, and with random targets and
// nodes that were no target yet (forecast_learn.go has the numbers of each). The random ones are
// weighted by the number of nodes that they represent; without this the MRR of tgbl-wiki's
// validation part fell from 0.851 to 0.836. A few pairs with other sources, each with a quarter of
// the weight, make scores of different sources comparable. A running mean of the weights answers.
//
// If World.Now is set and there were 256 events, the forecast answers. Where it answers alone, its
// log-odds, block time, replace the ranker and all columns read from the graph. Exploit is then
// about the probability that the next link of the source leads to the target. An existing edge is
// no certainty, because the question is whether it occurs again: about existing edges the forecast
// always answers alone. The belief learns outcomes on top of that.
//
// A question is often asked long after the last event of its source. What is new then is not what
// fits. Therefore [Model.TrainEvents] also learns how much the forecast counts beside the ranker,
// by the age of the newest edge out of the source (gate.go). The log-odds of a new link are the
// ranker's, plus 0, 1/4, 1/2 or 1 times the forecast's, plus a constant that gives the new links as
// much probability as the forecast gives them. Or the forecast answers alone. TrainEvents asks
// about three kinds of hidden links: the newest ones, before they occurred; the newest link of a
// source, after all events; and a link of any age, also after all events. A second forecast, which
// has not learned these links, answers. The ages are divided into three parts with equal numbers of
// late questions. Each part gets the weight with the highest reciprocal ranks, if these are above
// the ranker's by two standard errors in each kind of question. Otherwise the weight is 0, and the
// order of the new links is the order without times. Before a training the forecast answers alone.
//
// A question without a time, or a graph without times, has the same answer as without a forecast,
// bit for bit.
//
// # Offers
//
// Outcome.Offered lists the candidates that a pair was chosen from. Knowledge of a target that is
// offered often is used often, and such a target is often a link: in the prior that ignores the
// ranker the weight of the column is 1, so twice the offers mean about twice the odds. In the prior
// that trusts the ranker it is 0: on a graph that is known, a node is offered often because it is
// near many sources, which the ranker knows. With weight 1, the mean reciprocal rank of a trained
// model on ego-Facebook fell from 0.701 to 0.664 after 100 outcomes; with 0 it is 0.700.
//
// Protocols paper and fresh of package trial draw the candidates that are no links at random from
// all nodes. Nodes offered often there are also linked often, so the gain of offers there is partly
// due to how candidates are drawn. With another source of candidates the belief adapts the weight.
// Whether the same pair was offered before is not an input, although in those protocols it would
// tell nearly everything: a repeated candidate is a link there, which is a property of the
// benchmark and not of graphs. Outcomes without offers are learned too. Option offers = off ignores
// offers, and the column stays 0.
//
// # Learning again
//
// [Model.TrainLog] learns the kept outcomes again from scratch, in their order. So does
// [Model.TrainEdges], together with the new ranker.
//
// The measured quality of the default and of its parts is in cmd/prbench/doc.go.
//
// # State
//
// One goroutine at a time writes a Model. [Model.Scorer] is a view that later learning does not
// change, for any number of goroutines; the model returns the same Scorer until it learns
// something. [Model.MarshalBinary] encodes the whole model; [Model.MarshalState] and
// [Model.MarshalVectors] encode its two parts, of which an outcome changes only the first. A model
// from [Decode] continues bit for bit. A document names the numbers of its contexts, block by
// block, with their versions. If they differ from the current ones, Decode returns an untrained
// model that remembers the outcomes of pairs and nodes and is [Model.Outdated]. Seed, outcomes and
// their order determine every bit on one architecture, for any number of processors: matrix
// products sum each entry in one order.
//
// # Caveats
//
//   - Scores are for ranking. Exploit estimates the reward where there was enough feedback, and elsewhere states the
//     initial belief. The Explore of a belief is negative where a link is unlikely and its log-odds uncertain, because
//     the mean probability is above the probability of the mean.
//   - A training whose weights overflow is undone: the model keeps the weights from before.
//   - A belief has at most 1,024 inputs: its covariance takes 12 d² bytes, and a round and a candidate take d² steps.
//     Wider blocks are refused; feature vectors of more than 32 numbers enter by their similarity only.
//   - A belief remembers every tried pair, whatever the option replay, in 24 bytes each, and how often each node was
//     offered, in 4 bytes a node by pages of 512 nodes. An outcome copies the row of its source and the pages of the
//     offered nodes.
//   - An offer of more than 4,096 nodes says little about each of them and is not learned.
//   - The document holds the replay samples, so it grows with the option replay: 4 bytes for each number of a sample's
//     context and of its φ or history. Preset paper keeps all samples.
package model
