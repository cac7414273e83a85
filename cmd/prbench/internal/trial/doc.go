// Package trial compares policies by playing them. In each round a player chooses among candidates
// and then learns the reward of its choice. The reward that it missed is its regret.
//
// # Types
//
// [Data] is the ground truth: the true links. A [Protocol] defines how questions are drawn from it.
// A [Trial] plays [Entrant] by Entrant, seed by seed. Each Entrant makes a [Player], which may be a
// model in memory ([NewPlayer]), a database, or any other implementation. A [Result] holds a
// [Curve] for each run and produces tables and plots.
//
// # Protocols
//
//   - paper: a serving node drawn from the nodes with a link; 100 candidates, up to 10 of them
//     (all, if it has fewer) true neighbours, the rest random nodes that it is not linked to. (PRB,
//     NeurIPS 2024, section 5.1.)
//   - released: ten rows of the data's lists, each with its own source, one of them listed as a
//     link and nine as non-links. The lists define the reward. (The program that the paper's
//     authors published.)
//   - fresh: the draws of paper, but pairs that a player already knows are left out of its
//     candidates. A round without a remaining positive is not counted; the table also shows regret
//     per live round.
//   - classify: a serving node drawn from the nodes with a label; the candidates are the class
//     nodes. A player that missed the class is shown the class. (PRB-N.)
//
// Results of different protocols must not be ranked together: their difficulty differs widely.
//
// Regret of a round is the best reward among the candidates minus the reward received. Links are
// undirected, without loops. A player's graph starts with a share of the links, [Entrant].Known,
// which is 0 by default. It gains the links that the player finds or is shown.
//
// INVARIANT: draws are a function of data, protocol and seed, never of a player. A run has
// bit-identical results alone or among other runs, except for its times.
//
// # Caveats
//
// Features that were computed from all links, such as the published ones of the PRB paper, leak the
// answer. Play without features, too, and state which setting was used.
package trial
