// Package trial compares policies by playing them: in each round a player first chooses among candidates, then is told
// what came of it. What it lost is its regret.
//
// # Types
//
// [Data] is the truth: who is linked to whom. A [Protocol] says how questions are drawn from it. A [Trial] plays
// [Entrant] by Entrant, seed by seed; each makes a [Player], which may be a model in memory ([NewPlayer]), a database, or
// anything else. A [Result] holds a [Curve] a run, and makes tables and pictures of them.
//
// # Protocols
//
//   - paper: a serving node drawn from the nodes with a link; 100 candidates, up to 10 of them (all, if it has
//     fewer) true neighbours, the rest random nodes it is not linked to. (PRB, NeurIPS 2024, section 5.1.)
//   - released: ten rows of the data's lists, each a pair of its own, one of them listed as a link and nine as none.
//     What the lists say is the reward. (The program that the paper's authors published.)
//   - fresh: the draws of paper, but pairs that a player knows are left out of its candidates. A round without a
//     positive left counts for nobody; the table has regret by live round beside it.
//   - classify: a serving node drawn from those with a label; the candidates are the nodes that stand for the classes.
//     A player that missed the class is shown it. (PRB-N.)
//
// Their figures are never to be put in one ranking: their difficulty is far apart.
//
// Regret of a round is the best reward among the candidates minus the one got. Links are undirected, without loops; a
// player's graph begins with the share of the links that it is given, which is none but for [Entrant].Known, and gains
// those it wins or is shown.
//
// INVARIANT: draws are a function of data, protocol and seed, never of a player. A run is the same bits alone or beside
// others, but for its times.
//
// # Caveats
//
// Features that were computed from all links, as the published ones of the PRB paper were, leak the answer. Play
// without features too, and say which it was.
package trial
