// Package ppr computes personalised PageRank on a graph that changes, with a certificate on every
// answer.
//
// The package only computes: graphs come in as a [Graph], results go out as values. It stores,
// locks and logs nothing.
//
// # The two forms
//
// A is the weighted adjacency matrix (A[u][v] is the weight of u -> v), d_u the sum of row u, Dh
// the diagonal matrix of d with each 0 replaced by 1, a the damping factor alpha, and h the right
// side, a sparse vector with values of any sign.
//
//	Column: v = a A^T Dh^-1 v + (1-a) h    (Dh - a A^T) y = (1-a) h       v = Dh y    mass spreads from h
//	Row:    v = a Dh^-1 A   v + (1-a) h    (Dh - a A)   y = (1-a) Dh h    v = y       neighbours are averaged
//
// Both are linear systems Q y = b with the same pivots. On an undirected graph A is symmetric, so
// both are one system, and the state of a source s serves both forms up to the factor Dh_s. On a
// directed graph they are two systems: column states push along Out rows, row states along In rows.
// A node of degree 0 passes nothing on: its v is (1-a) h, in column form plus the mass that
// arrives. A self-loop counts once in the degree.
//
// # States
//
// A [State] is an approximate solution y for one right side, together with its residual
//
//	r = b - Q y        the invariant that everything rests on
//
// on the graph the state was last brought up to. [Solver.Solve] computes the first state;
// [Solver.Refine] and [Solver.CatchUp] compute the next one from it. To push u is to increase y_u
// by t = omega r_u/Dh_u: r_u decreases by Dh_u t, and the residual of each w in column u of Q
// increases by a A t.
//
// Storing y = v/d instead of v makes an edge change linear: with y fixed, a weight that increases
// by w on {u,v} gives
//
//	r_u += a w y_v - (Dh'_u - Dh_u) y_u        and the same for v
//
// (on a directed graph, only the terms that Q has). The order of the changes does not matter and no
// old degree is needed. This is the rule of Zhang, Lofgren and Goel (KDD 2016) in other variables.
// It also holds where a degree changes from 0 or to 0. [Solver.CatchUp] applies the rule to the
// changes that meet the support of y, then pushes the nodes above the threshold. The new state
// shares the lists of the old one and stores the changed nodes separately, so the cost depends on
// the size of the touched neighbourhood, not of the graph. The changes are passed as a [ChangeSet],
// which is indexed once for all states that follow the same stretch of a log. The first states scan
// the changes; with the index, a state scans its own nodes instead, at one bit a node. Both ways
// find the same changes, so the result is the same to the bit.
//
// y is stored in float32 without loss: a push is rounded to a float32 value, and r is updated by
// the rounded push. Where rounding would change a push noticeably (fine targets, sweeps), a second
// float32 stores the remainder. r is float64. To store a state, write [State.Estimate];
// [Solver.Reload] recomputes r from it, so only the remainder is lost.
//
// # Certificates
//
// With |r|_1, li = max |r_u|/Dh_u and n2 = sum r_u^2/Dh_u, and y* the solution:
//
//	sum_j Dh_j |y_j - y*_j| <= |r|_1 / (1-a)              undirected; directed in column form
//	max_j      |y_j - y*_j| <= li / (1-a)                 undirected; directed in row form
//	sqrt(Dh_j) |y_j - y*_j| <= sqrt(n2) / (1-a)           undirected
//
// [State.Value], [State.Bound] and [Combine] return the smallest bound that holds.
// [Solver.CombineTwoSided] uses the state of a candidate j to carry the combined residual R to j.
// This leaves the error r_j Q^-1 R / (1-a), at most
//
//	min( sqrt(n2_j n2_R), |r_j|_1 li_R, li_j |R|_1 ) / (1-a)^2
//
// Before that, the component along the constant vector of the giant component C is removed from
// both residuals. Since Q 1_C = (1-a) d_C on the nodes of C with degree above 0, this part of R is
// solved exactly, and n2 decreases by S^2/vol, where S is the sum of R over C.
//
// The bounds hold in exact arithmetic. A relative 1e-12 of the bound covers rounding. Beyond that,
// results are accurate to about 1e-12 |h|_1 (with the largest h in the life of a tracked query), so
// a bound below that value only means that value. r is recomputed from y after many repairs, and
// when a node's degree falls to a small fraction of its former value, so that rounding errors do
// not accumulate over the life of a state.
//
// When a degree decreases, |r_u|/Dh_u increases although r_u does not change, also at nodes without
// an estimate. A catch-up therefore checks these nodes too.
//
// # The unit of weights
//
// A common factor of all weights changes neither the values of PageRank nor how they are computed.
// In column form y is v over the degree, so a target in the maximum norm counts in units of
// 1/[MeanWeight], the mean weight of the edges of the start nodes. That depends on no other node,
// so a change elsewhere changes no target, and a state stays valid. The threshold of a push at u is
// eps times the degree of u in these units, but at most eps times the number of its edges: where
// weights spread over orders of magnitude, a walk would end at every node whose edges weigh much
// more than the edges of the source. The certificates do not need that limit. Without weights both
// numbers are the degree.
//
// The pivot 1 of a node without edges out of it has no unit. On an undirected graph with weights
// the equation of such a node, which has no other unknown, is solved at once, so that it leaves no
// residual. In column form its estimate moves to the residual when it gains its first edge, and
// when it has lost its last one. Repairs across such changes may depend on the unit, within the
// bounds.
//
// # How a solve runs
//
// A solve starts with a FIFO queue of the nodes above the threshold. Most local targets are met
// there. Once the queue has cost a set fraction of a pass over the graph, sweeps in node order take
// over, at about a tenth of the cost per edge. The threshold of a sweep decreases with the
// residual. Both over-relax: by 1.1 in the queue and 1.38 in sweeps. On directed graphs, where a
// larger factor may not converge, the factor is at most 1.08 and below 2/(1+a). It is 1 once such
// sweeps make no progress, as on long cycles.
//
// Only sweeps and [NewSurvey] pass over the whole graph. The queue reads the rows of the nodes that
// it pushes and the degrees of their neighbours; with weights, in column form, also the rows of
// neighbours whose residual is above the threshold of a node with one edge. A Solver whose Memory
// has no room for sweeps continues with the queue, and where there is no room for further
// neighbours, with the nodes whose neighbours it has reached. What it could not push is in the
// residual, so all bounds hold, and the state comes with ErrPrecision if it misses the target.
//
// The package departs from the usual advice in two points. First, sweeps do not deflate the
// constant vector. On six real graphs (CA-GrQc, ego-Facebook, email-Enron, soc-Epinions1, dblp-2010
// and cnr-2000, taken as undirected), all else equal, plain sweeps at 1.38 took 16 to 20 times the
// graph's arcs to certify L1 1e-6 of 100 sources. Deflated sweeps, at the best factor for each
// graph, took 15 to 23, and every deflation is a pass over the nodes. Second, sweeps replace the
// queue after an eighth of a pass, for L1 after a thirty-second.
//
// The following were tried on dblp-2010 (L1 1e-6, 100 sources), compared with 75 to 80 ms for the
// sweeps alone, and rejected: sweeps that pull (at the best factor, 1.35, 24 passes in the same
// time) and sweeps with float32 estimates (10 % slower); float32 residuals with float64 corrections
// (20 % slower); alternating forward and backward sweeps (four times the passes); conjugate
// gradients with SSOR after Eisenstat (17 iterations, twice the time); selecting the nodes above
// the threshold in advance, in blocks of 32 to 2,048 (no mispredicted branch, but up to half as
// many edge operations again). Pulling from copied rows sorted by length took a tenth less time,
// not counting the copy.
//
// Solving to a finer threshold than requested does not save later catch-ups any pushes: one changed
// edge at a node with an estimate moves the residual by more than the difference.
//
// Results depend on the arguments and on Memory alone, to the bit, not on earlier use of the
// [Solver].
//
// # Caveats
//
// The changes passed to CatchUp must be all changes between the two graphs; a state cannot detect a
// missing one. A directed graph in column form has no certificate of y in the maximum norm; see
// [MaxNorm]. Degrees must lie between 2^-40 and 2^72. Parts of an estimate below 1e-45 are lost.
package ppr
