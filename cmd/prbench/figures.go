// # Figures
//
// Times and rates are of a machine with 2 cores. The paper is "PageRank Bandits for Link
// Prediction".
//
// # PageRank
//
// Median times on dblp-2010 (300,647 nodes, 807,700 edges) in one thread. igraph and scipy ran
// within minutes on the same machine. The benchmark compares each certified bound with the true
// error and fails if a bound does not hold.
//
//	solve for one node, certified L1 1e-6 (true error 2e-7)        51 ms    igraph (PRPACK) 320 ms
//	solve for 100 nodes, certified L1 1e-6 (true error 7e-8)       77 ms    igraph 342 ms, scipy power series 307 ms
//	state of one node, eps 1e-4, 1e-5, 1e-6                        0.07, 0.31, 1.9 ms
//	values at 100 new candidates from states of eps 1e-5           0.20 ms
//	the same, each error certified below 1e-5                      11.5 ms
//	catch-up of a state (eps 1e-5) after 1, 1,000 inserts anywhere 0.8, 59 us    from scratch 0.59, 0.61 ms
//	after an insert at one of the 50 nearest, a neighbour, the source  45, 313, 558 us    from scratch 0.60 to 0.68 ms
//	insert of an edge in memory, 0 or 10,000 cached states         1.6, 1.4 us
//	a state of eps 1e-5 in memory, in the store                    56, 8.2 KB
//
// The cost of a local state or a catch-up depends on the neighbourhood, not on the size of the
// graph (eps 1e-5, microseconds):
//
//	                      edges      state  after 1 insert anywhere  at one of the 50 nearest
//	CA-GrQc               14,496     533    2.6                      43
//	ego-Facebook          88,234     306    0.6                      10
//	soc-Epinions1 (dir.)  508,837    449    0.9                      13
//	dblp-2010             807,700    326    0.8                      34
//	cnr-2000 (dir.)       3,216,152  160    0.6                      26
//
// # Predictions
//
// prbench bench predict --edges dblp-2010.edges.txt.gz --queries 3000 --time 20s: 100 candidates by
// a trained model of policy default, with a new source and new candidates each time out of 2,000
// nodes whose states are cached; and the best 10 within two steps by a heuristic. Median and 99th
// percentile:
//
//	100 candidates, Go API                         1.3 ms, 7.5 ms
//	the same as a statement                        1.3 ms, 6.7 ms
//	adamic_adar AMONG NEIGHBORS(2) TOP 10          13 us, 0.29 ms
//
// With a writer of 1,000 edges a second, in commits of 10, a reader made 5.6 % fewer predictions.
//
// # Links round by round
//
// Regret of 10,000 rounds: rounds in which a link was on offer and another candidate was chosen.
// Mean and standard deviation of seeds 1 to 10 for default and for all policies of protocol paper,
// features svd; seeds 1 to 3 for the others (neural_ucb, neural_ts: 1 to 3 everywhere). All
// policies see the same rounds and begin without knowledge. The paper's methods run in preset paper
// with its grid search on other rounds; default has one setting, chosen with other seeds. Features
// svd are the features that the authors ship. They are computed from all links and so leak the
// answer; with features none, a policy sees only what was revealed. Protocol paper has 100
// candidates, up to 10 of them links, as the paper's text says. Protocol fresh leaves out pairs
// that were won before. Protocol released has ten unrelated pairs, one of them a link, as in the
// authors' program.
//
//	protocol, features  policy                        GrQc            Facebook    AmazonFashion  Yelp
//	paper, svd          prb                           8722 ± 338      5891 ± 804  2930 ± 479     6429 ± 160
//	                    prb_greedy                    8454 ± 347      7453 ± 858  4502 ± 1266    7253 ± 952
//	                    ee_net                        8020 ± 327      6879 ± 760  4443 ± 805     6991 ± 95
//	                    neural_greedy                 8635 ± 605      8116 ± 626  5783 ± 945     7447 ± 838
//	                    neural_ucb                    8124 ± 923      5726 ± 131  3675 ± 102     6816 ± 293
//	                    neural_ts                     8541 ± 428      4725 ± 260  5796 ± 1133    6658 ± 169
//	                    default                       2701 ± 81       1055 ± 40   1636 ± 279     3582 ± 70
//	                    default, pin = off            2711 ± 64       1072 ± 40   1985 ± 985     3601 ± 77
//	paper, none         best of the paper's methods   9070 ± 233      7606 ± 596  3688 ± 752     7779 ± 130
//	                    default                       8569 ± 114      4051 ± 100  2141 ± 221     5606 ± 83
//	                    default, pin = off            8582 ± 105      4076 ± 133  2144 ± 221     5621 ± 75
//	fresh, svd          best of the paper's methods   6956 ± 361      4764 ± 73   2602 ± 540     6875 ± 207
//	                    default                       3622 ± 80       2090 ± 48   1433 ± 164     4563 ± 69
//	                    default, pin = off            3640 ± 94       2094 ± 35   1442 ± 170     4574 ± 78
//	fresh, none         best of the paper's methods   9366 ± 259      8282 ± 767  4166 ± 899     8407 ± 120
//	                    default                       8956 ± 47       5405 ± 86   2398 ± 254     6474 ± 93
//	                    default, pin = off            8966 ± 60       5421 ± 107  2408 ± 258     6497 ± 64
//	released, svd       prb                           4589 ± 467      3160 ± 393  2582 ± 1524    7190 ± 78
//	                    ee_net                        3894 ± 374      2980 ± 710  3523 ± 659     7078 ± 60
//	                    best of the paper's methods   3223 ± 364      2079 ± 270  2582 ± 1524    6806 ± 70
//	                    default                       1657 ± 26       1512 ± 35   511 ± 126      3217 ± 47
//	                    default, pin = off            1952 ± 38       1620 ± 39   558 ± 146      4363 ± 57
//	released, none      best of the paper's methods   8208 ± 438      6788 ± 284  1487 ± 184     8636 ± 86
//	                    default                       7201 ± 177      4013 ± 319  969 ± 60       4537 ± 65
//	                    default, pin = off            7994 ± 255      4096 ± 328  1135 ± 102     5447 ± 62
//	printed in the paper  PRB                         3236            1929        1455
//	                    best rival (EE-Net)           3419            2274        1698
//
// The printed figures are not reproduced. By the protocol of the paper's text its methods stay far
// above them, with features or without. With one link among ten unrelated pairs, as in the authors'
// program, the rivals come near theirs on GrQc and Facebook, but PRB is not the best of them: the
// ten pairs belong to ten nodes, and the PageRank of their targets mostly tells their degree.
// Compare figures of one protocol only.
//
// The default gains by Bayesian logistic regression over the entries of both vectors, and by
// remembering how often a node was on offer: candidates that are no links are drawn at random here,
// so nodes often on offer are often linked. Without it (offers = off) its regret is 2754, 1488,
// 2151 and 4103 with features, and 8991, 7604, 3484 and 7672 without (3 seeds). One in ten of the
// runs on AmazonFashion with pin = off ends near 4,500.
//
//	prbench online --data prb/grqc,prb/facebook,prb/amazon,prb/yelp --protocol paper,fresh,released --features svd,none \
//	    --policies prb,prb_greedy,ee_net,neural_greedy,neural_ucb,neural_ts --preset paper --grid --seeds 3 --out results
//	prbench online --data prb/grqc,prb/facebook,prb/amazon,prb/yelp --protocol paper,fresh,released --features svd,none \
//	    --policies default --seeds 10 --out results   (and again with --set pin=off)
//
// 10,000 rounds on GrQc take 4 seconds in one thread with default, and with prb in the authors'
// preset and protocol, PageRank and training included; the authors' program took 2,466 seconds on a
// similar machine (prbench cost --data prb/grqc).
//
// # Nodes round by round
//
// Regret of 10,000 rounds, one seed (prbench classify --data cora --seeds 1 --out classes). prb_n
// is the best on Cora as in the paper, but at another level.
//
//	                       prb_n  ee_net  prb_greedy  neural_ucb  neural_greedy  neural_ts
//	Cora                   2972   3087    3530        3621        3625           3709
//	printed in the paper   1874   1990    1932        2713        2826           1998
//	Citeseer               3137   3099    3752        3761        3855           3988
//	printed in the paper   2168   2299    2194        3101        2543           3419
//
// # Fixed splits
//
// Hits@K in percent on the test part as the Open Graph Benchmark defines it. Cora and Citeseer:
// mean and standard deviation of splits random0 to random4, which need not be the splits of the
// paper. The graph holds the training edges.
//
//	                                              Cora @100     Citeseer @100  ogbl-ddi @20  printed in the paper
//	common_neighbors                              33.21 ± 1.05  25.82 ± 1.38   17.73         33.92, 29.79, 17.73
//	adamic_adar                                   33.21 ± 1.05  25.82 ± 1.38   18.61         39.85, 35.19, 18.61
//	resource_allocation                           33.21 ± 1.05  25.82 ± 1.38   6.23          41.07, 33.56, 27.60
//	ppr                                           66.03 ± 0.53  53.63 ± 2.04   0.80
//	prb, 10,000 rounds on the training edges      63.41                        23.45         92.33, 95.13, 88.31
//	default                                       91.18 ± 1.40  95.21 ± 1.32   70.66
//	pair_mix                                      91.32 ± 0.51  95.65 ± 1.27
//	ease                                                                       79.66
//	default, validation edges in the graph                                     87.22
//	ease, validation edges in the graph                                        91.24
//	NCNC                                                                                     89.65, 93.47, 84.11
//
// Resource allocation by its definition has 6.23 on ogbl-ddi, not the printed 27.60; the other two
// heuristics come out to the digit. A third of Cora's and a quarter of Citeseer's test edges have a
// common neighbour, hence one figure for three heuristics. PRB as the paper describes it stays far
// below the printed figure: 12 (preset paper) or 17 (released) on the words of Cora alone, 63 with
// kith's structural contexts. pair_mix trains for 70 to 80 seconds a split on two busy cores and
// was chosen by the validation parts; ease trains in 0.02 seconds.
//
// Among the negatives of HeaRT, on its split of Citeseer, the MRR in percent is 8.84 for
// common_neighbors, 11.23 for adamic_adar, 11.08 for resource_allocation and 29.64 for default. Li
// et al. (NeurIPS 2023) print 28.65 for NCN, the best of their table.
//
//	prbench offline --data . --dataset cora --policies common_neighbors,adamic_adar,resource_allocation,ppr,default,pair_mix
//	prbench offline --data . --dataset citeseer --negatives heart --policies common_neighbors,adamic_adar,resource_allocation,default
//	prbench offline --data . --dataset ogbl_ddi --policies common_neighbors,adamic_adar,resource_allocation,ppr,default,ease --valid-edges
//
// # Streams
//
// prbench temporal plays a stream of events: each event of the last part is ranked before the graph
// gets it. Mean reciprocal rank on tgbl-wiki-v2 among all pages: EdgeBank 0.4947, pair recency
// 0.8172, pair, then page recency 0.8206.
//
//	prbench temporal --data temporal/tgbl-wiki.txt.gz --protocol all --policies edgebank,pair_recency,pair_node_recency,default
package main
