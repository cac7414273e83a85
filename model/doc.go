// Package model is the learning half of kith: it scores candidate links of a node, and learns from what became of them.
//
// It holds no graph and no storage. A [Scorer] is asked about a source node and its candidates in a [World] (a graph, the
// nodes' feature vectors, and somebody who answers PageRank questions); a [Model] is told outcomes and hands out the
// next Scorer. The method is PageRank Bandits (Ban et al., NeurIPS 2024), the policy prb; its relatives and the usual
// heuristics are policies of the same shape.
//
// # A round
//
//	x    context of a candidate    blocks the model was created with: features of source and target, their product,
//	                               and what the graph says of the pair (the structural block)
//	f1   estimated reward          a network, plus the structural prior where that is switched on
//	φ    gradient of f1 at x       mean-pooled by runs of Pool entries
//	f2   what f1 underrates        a network of φ; times explore_weight
//	h    start values              h[c] = f1 + f2 at the candidates; seed_weight at the source
//	v    walk                      v = αPv + (1-α)h, P = D⁻¹A (norm = row) or AᵀD⁻¹ (norm = column)
//
// Candidates are ranked by v. A [Score] shows the parts: Score = (1-α)(Exploit + Explore) + PPR, where PPR is what the walk
// brought. Policies without a walk have Score = Exploit + Explore. An outcome teaches f1 the reward of the chosen candidate
// and f2 the difference between that reward and f1, at the φ of the moment; on the rounds of the schedule both networks are
// fitted to all samples kept.
//
// # Structural block
//
// Seven numbers: the personalised PageRank (α = 0.85, column form) of the candidate seen from the source and of the
// source seen from the candidate, as log(1 + 1e6 p) / log(1 + 1e6); log1p of common neighbours, Adamic-Adar and
// resource allocation; log1p of the source's out-neighbours and the candidate's in-neighbours. On a directed graph the
// common neighbours of (v, c) are the w with v→w→c. Weights count in the PageRank alone. A node without a feature
// vector has zeros in the feature blocks.
//
// # Structural prior
//
// Without any training the structural block ranks by a fixed formula,
//
//	prior = (to + from) / 4 + 0.1 log1p(Adamic-Adar) + 0.2 log1p(resource allocation),
//
// chosen among eight such sums by the rank of held-out edges of ego-Facebook and wiki-Vote. It is what [Prior] scores
// by, what a learning policy scores by until its first training, and afterwards a part of f1 that is not learned: the
// network fits what it leaves over. It needs the structural block as it is, so it is off without that block and with
// normalize = unit.
//
// # Policies
//
// A policy is what is done with the networks. All share one replay store and one schedule of trainings.
//
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
// without saying what its h is: eve_ppr is what is left of PRB without a bandit.
//
// prb_n turns classes into nodes ([Spec].Classes): the candidates of a node are the class nodes, ascending, and the context
// of the i-th has the node's features in the i-th of as many blocks. On reward 1 the edge to the class joins the graph;
// on reward 0 the edge to the true class may, where it becomes known. It is prb that must have classes; the other policies
// that learn may have them, and are its rivals then.
//
// # Presets
//
// A preset is networks and training.
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
//   - default: all blocks, inputs of mean square 1, the prior, mini-batches of 32 with Adam, at most 20,000 samples kept.
//
// Without feature vectors the contexts of paper and released are the structural block too.
//
// # The default
//
// The policy default is f1 and the walk, without f2. What departs from prb as published, with the regret of 2,000
// rounds, protocol paper with features, seeds 101 to 106 of Facebook and 101 to 104 of AmazonFashion, by which it was
// chosen (standard deviations are about 120 and 45):
//
//	                             Facebook   AmazonFashion
//	default, α = 0.2             977        641
//	default, α = 0.5             963        617
//	with f2, α = 0.2             1008       650
//	with f2, α = 0.5             1034       674
//	without the walk             1042       637
//
// Optimism: f1's output bias starts at 1, so that what was never tried looks good. Greedy runs can lock in on losers
// for as long as they last. Policy prb without it had 784 ± 183 on AmazonFashion (seeds 101 to 106), with it
// 652 ± 73. With it f2 has nothing left to add.
//
// Centring: start values are taken relative to the candidates' mean. Otherwise a walk adds up what many candidates have
// in common, which ranks them by degree. The mean reciprocal rank of 100 held-out Facebook edges among the nodes two
// hops away was 0.348 by the prior alone, 0.077 after a walk of it (column form, α = 0.85), 0.332 after a short one (row
// form, α = 0.2), and 0.345 after a short one of the centred prior. The preset has row form and α = 0.3.
//
// # Policies fitted to a whole graph
//
// pair_net, embedding, pair_mix and ease learn nothing from single outcomes, which they only count: [Model.TrainEdges]
// fits them to all edges of a graph at once, and their scorers read the graph they are asked about, which may have changed
// since. They look at it as undirected and unweighted. Before a training they rank by the structural prior. Reading a graph
// takes from a fraction of a second to half a minute; a scorer keeps what it read until it is asked about another one.
//
//   - pair_net: a network on closed-form features of a pair, of the graph and of the similarity of the nodes' words.
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
// goroutines; it is a new one only after something was learned. [Model.MarshalBinary] is everything: [Decode] of it
// continues bit by bit. Seed, outcomes and their order decide every bit on one architecture, for any number of
// processors: matrix products sum each entry in one order.
//
// # Caveats
//
//   - Scores are for ranking. Exploit is an estimate of the reward where there was enough feedback, and optimistic elsewhere.
//   - A training whose weights overflow is taken back: the model keeps those it had.
//   - The document holds the replay samples, so it grows with the option replay: 4 bytes for each number of a sample's
//     context and of its φ. Presets paper and released keep all.
//     With classes a context has the length of a feature vector times the number of classes.
package model
