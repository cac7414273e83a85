// Package ppr computes personalised PageRank on a graph that changes, with a certificate on every answer.
//
// It is arithmetic alone: graphs come in as a [Graph], results go out as values; nothing is stored, locked or logged.
//
// # The two forms
//
// A is the weighted adjacency matrix (A[u][v] the weight of u -> v), d_u the sum of row u, Dh the diagonal of d with 1
// in place of 0, a the damping factor alpha, h the right side: sparse, of any sign.
//
//	Column: v = a A^T Dh^-1 v + (1-a) h    (Dh - a A^T) y = (1-a) h       v = Dh y    mass spreads from h
//	Row:    v = a Dh^-1 A   v + (1-a) h    (Dh - a A)   y = (1-a) Dh h    v = y       neighbours are averaged
//
// Both are Q y = b with the same pivots. On an undirected graph A is symmetric, both are one system, and the state of a
// source serves both forms up to the factor Dh_s. On a directed graph they are two: column states push along Out rows,
// row states along In rows. A node of degree 0 passes nothing on: v = (1-a) h there, plus, in column form, what arrives.
// A self-loop counts once in the degree.
//
// # States
//
// A [State] is an approximate y of one right side and its residual
//
//	r = b - Q y        the invariant that everything rests on
//
// on the graph it was last brought up to. [Solver.Solve] makes one, [Solver.Refine] and [Solver.CatchUp] make the next.
// To push u is to move y_u by t = omega r_u/Dh_u: r_u loses Dh_u t, and each w that Q's column u reaches gains a A t.
//
// Keeping y = v/d rather than v makes an edge change linear: with y fixed, a weight that grows by w on {u,v} gives
//
//	r_u += a w y_v - (Dh'_u - Dh_u) y_u        and the same for v
//
// (directed: the parts that Q has), whatever the order of the changes, with no old degree in it. This is the rule of
// Zhang, Lofgren and Goel (KDD 2016) in other variables, and holds where degrees come from or go to 0.
// [Solver.CatchUp] applies it to the changes that meet the support of y and pushes what then stands above the
// threshold. A state that is caught up shares its lists with the one it came from and keeps what changed beside them, so
// the cost follows the touched neighbourhood: not the graph's size. The changes come as a [ChangeSet], which is indexed
// once for all states that follow the same stretch of a log: each then passes over its own nodes, at a bit a node, where
// the first ones pass over the changes. Both ways find the same, so that the result is the same to the bit.
//
// y is held in float32, exactly: a push is rounded to what float32 holds, and r follows the rounded push. Where that
// would change a push noticeably (fine targets, sweeps) a second float32 holds the rest. r is float64. What has to be
// stored of a state is [State.Estimate]; [Solver.Reload] computes r anew and so loses nothing but that rest.
//
// # Certificates
//
// With |r|_1, li = max |r_u|/Dh_u and n2 = sum r_u^2/Dh_u, and y* the solution:
//
//	sum_j Dh_j |y_j - y*_j| <= |r|_1 / (1-a)              undirected; directed in column form
//	max_j      |y_j - y*_j| <= li / (1-a)                 undirected; directed in row form
//	sqrt(Dh_j) |y_j - y*_j| <= sqrt(n2) / (1-a)           undirected
//
// [State.Value], [State.Bound] and [Combine] give the smallest that holds. [Solver.CombineTwoSided] carries the combined
// residual R to a candidate j by the state of j, which leaves r_j Q^-1 R / (1-a), at most
//
//	min( sqrt(n2_j n2_R), |r_j|_1 li_R, li_j |R|_1 ) / (1-a)^2
//
// Both residuals are first freed of the constant vector of the giant component C: Q 1_C = (1-a) d_C on the nodes of C
// with degree above 0, so that part of R is solved exactly, and n2 falls by S^2/vol for S the sum of R over C.
//
// The bounds hold in exact arithmetic; rounding is covered by a relative 1e-12 of the bound, and beyond that the results
// are good to about 1e-12 |h|_1 (of the largest h in a tracked query's life), so bounds below that mean that much.
// r is computed anew from y after many repairs, and when a node's degree falls to a small part of what it was, so that
// rounding cannot build up over a state's life.
//
// A decrease of a degree makes |r_u|/Dh_u grow although r stays, also at nodes without an estimate: catching up looks
// at those too.
//
// # How a solve runs
//
// First a FIFO queue of the nodes above the threshold; most local targets end there. Once the queue has cost a set part
// of a pass over the graph, sweeps in node order take over, at about a tenth of the cost an edge. The threshold of a
// sweep falls with the residual. Both over-relax: 1.1 in the queue, 1.38 in sweeps; at most 1.08, and below 2/(1+a), on
// directed graphs, where more need not converge.
//
// We deviate from the usual advice in two points. Sweeps do not deflate the constant vector: on six real graphs
// (CA-GrQc, ego-Facebook, email-Enron, soc-Epinions1, dblp-2010 and cnr-2000, taken as undirected), all else equal, plain
// sweeps at 1.38 took 16 to 20 times the graph's arcs to certify L1 1e-6 of 100 sources, deflated ones at the best
// factor for each graph 15 to 23, and every deflation is a pass over the nodes. And the queue gives way at an eighth of a
// pass, for L1 at a thirty-second.
//
// Tried on dblp-2010 (L1 1e-6, 100 sources) and left out, against 75 to 80 ms for the sweeps alone: sweeps that pull (at
// the best factor, 1.35, 24 passes in the same time) and those with float32 estimates (10 % slower); float32 residuals
// with float64 corrections (20 % slower); forward and backward sweeps in turn (four times the passes); conjugate gradients
// with SSOR after Eisenstat (17 iterations, twice the time); nodes above the threshold picked ahead by blocks of 32 to
// 2,048 (no mispredicted branch, but up to half as many edge operations again). Copied rows in the order of their
// lengths, pulled, took a tenth less, without what the copy costs.
//
// Solving to a finer threshold than asked, to spare catch-ups their pushes, does not: one changed edge at a node with an
// estimate moves the residual by more than that.
//
// What is returned depends on the arguments alone, to the bit, not on what a [Solver] did before.
//
// # Caveats
//
// The changes given to CatchUp must be all there were between the two graphs: a state cannot tell. A directed graph in
// column form has no certificate of y in the maximum norm; see [MaxNorm]. Degrees must lie between 2^-40 and 2^60.
// Parts of an estimate below 1e-45 are lost.
package ppr
