// Package bench measures parts of kith on graphs that the user names, and prints lines that
// benchstat compares.
//
// # How far it goes
//
// One process writes a database and answers from it, on one machine; more machines have copies. The
// table has what a graph takes that is undirected and has integer keys, no weights, times and
// vectors. A figure with ~ is not measured: it is extrapolated by the law in the last column. The
// percentage is the largest relative difference between the law and a measured size; a law is exact
// if it has as many parameters as there are sizes. "prbench bench scale" measures the figures and
// derives the table; its help says how.
//
// The graphs are R-MAT with about 12 generated edges a node. They have hubs, so within two steps of
// a node is a large part of the graph, and candidates of NEIGHBORS(2) cost much more than in most
// graphs: a source of dblp-2010 takes 0.7 ms. PPR(100) looks at the near part only. For rows on
// disk, the database had half of the memory that the graph needs, and the page cache had the files;
// questions with more candidates than that memory allows are left out. "score all" by several
// machines begins with a restore on each. Cores are taken to be as fast as the measured ones, and
// not to hinder each other.
//
//	measured on 2 cores with the default --memory; machines of 16 cores and 256 GiB of memory
//
//	edges                                      870 k    3.6 M    15 M      10^8      10^9     10^10     law, residual
//	nodes                                      46 k     172 k    639 k     ~3.7 M    ~31 M    ~256 M    n^0.92, 0 %
//	on disk                                    3.7 MB   13 MB    56 MB     ~359 MB   ~3.6 GB  ~36 GB    constant + linear, 3 %
//	rows and keys in memory                    7.5 MB   31 MB    128 MB    ~855 MB   ~8.5 GB  -         constant + linear, 0 %
//	--memory for that                          ~67 MB   ~69 MB   ~285 MB   ~1.9 GB   ~19 GB   -         from the others
//	always in memory                           ~204 KB  ~754 KB  ~2.8 MB   ~16 MB    ~140 MB  ~1.2 GB   from the others
//	load                                       613 ms   3.2 s    13 s      ~98 s     ~18 min  ~3.4 h    n log n, 8 %
//	load, temporary files                      ~14 MB   ~58 MB   ~240 MB   ~1.6 GB   ~16 GB   ~160 GB   from the others
//	load, peak memory                          182 MB   453 MB   645 MB    -         -        -         at most --memory
//	check                                      99 ms    441 ms   1.6 s     ~11 s     ~109 s   ~18 min   constant + linear, 8 %
//	repair, memory                             ~113 MB  ~473 MB  ~2 GB     ~13 GB    ~130 GB  ~1.3 TB   from the others
//	open, cold                                 1.9 ms   5 ms     7.8 ms    ~47 ms    ~459 ms  ~4.6 s    constant + linear, 33 %
//	first answer, cold                         80 ms    84 ms    195 ms    ~309 ms   ~633 ms  ~1.3 s    n^0.31, 31 %
//	rows and keys into memory                  35 ms    120 ms   580 ms    ~3.5 s    ~35 s    -         constant + linear, 9 %
//	TRAIN                                      41 s     67 s     54 s      ~115 s    ~12 min  -         constant + linear, 27 %
//	TRAIN, peak memory                         641 MB   1.1 GB   1.5 GB    -         -        -         at most --memory
//	NEIGHBORS(2), median                       9.4 ms   26 ms    65 ms     ~237 ms   ~1.1 s   -         n^0.68, 3 %
//	NEIGHBORS(2), p99                          69 ms    183 ms   738 ms    ~3.3 s    ~23 s    -         n^0.83, 16 %
//	PPR(100), median                           21 ms    8.2 ms   11 ms     ~12 ms    ~12 ms   -         n^0.00, 51 %
//	PPR(100), p99                              35 ms    14 ms    18 ms     ~21 ms    ~21 ms   -         n^0.00, 52 %
//	100 candidates, median                     779 µs   1.2 ms   941 µs    ~1.2 ms   ~1.4 ms  -         n^0.07, 18 %
//	100 candidates, p99                        3.6 ms   2.9 ms   2.9 ms    ~3.1 ms   ~3.1 ms  -         n^0.00, 14 %
//	answers, peak memory                       576 MB   600 MB   883 MB    -         -        -         at most --memory
//	NEIGHBORS(2), rows on disk                 -        -        1.3 ms    -         -        -         two sizes are needed
//	score a source, adamic_adar                804 µs   1.9 ms   3.9 ms    ~11 ms    ~41 ms   -         n^0.56, 3 %
//	score a source, default                    26 ms    77 ms    134 ms    ~441 ms   ~1.7 s   -         n^0.58, 17 %
//	score a source, default, PPR(100)          18 ms    8.4 ms   12 ms     ~12 ms    ~12 ms   -         n^0.00, 49 %
//	backup                                     30 ms    84 ms    270 ms    ~1.8 s    ~18 s    ~2.9 min  constant + linear, 6 %
//	backup, size                               7.1 MB   19 MB    55 MB     ~363 MB   ~3.6 GB  ~36 GB    constant + linear, 11 %
//	restore                                    209 ms   271 ms   457 ms    ~2 s      ~18 s    ~2.9 min  constant + linear, 3 %
//	commits of an edge                         29 k/s   24 k/s   22 k/s    ~24 k/s   ~24 k/s  ~24 k/s   constant, 17 %
//	change of an edge                          235 B    235 B    235 B     ~235 B    ~235 B   ~235 B    constant, 0 %
//	changes applied by a replica               49 k/s   47 k/s   33 k/s    ~40 k/s   ~40 k/s  ~40 k/s   constant, 23 %
//	replica, an hour behind                    ~73 s    ~77 s    ~111 s    ~90 s     ~90 s    ~90 s     from the others
//	replica, from a backup                     ~209 ms  ~271 ms  ~457 ms   ~2 s      ~18 s    ~2.9 min  from the others
//	network, backup to 16 machines             ~114 MB  ~312 MB  ~874 MB   ~5.8 GB   ~57 GB   ~574 GB   from the others
//	score all, adamic_adar, 1 machine          ~2.3 s   ~20 s    ~2.6 min  ~43 min   ~22 h    -         from the others
//	score all, adamic_adar, 16 machines        ~354 ms  ~1.5 s   ~10 s     ~2.7 min  ~82 min  -         from the others
//	score all, default, 16 machines            ~4.8 s   ~52 s    ~5.6 min  ~105 min  ~2.3 d   -         from the others
//	score all, default, PPR(100), 16 machines  ~3.6 s   ~5.9 s   ~32 s     ~3 min    ~25 min  -         from the others
//
//	10^8 edges:
//	  no limit is met
//
//	10^9 edges:
//	  no limit is met
//
//	10^10 edges:
//	  rows stay on disk, whatever the memory: they have 20 G entries, memory takes 4294967295 in each direction
//	  training, and all figures with rows in memory, are not measured with rows on disk
//	  check --repair takes 1.3 TB of memory: a damaged database must be restored from a backup
//	  a load takes ~3.4 h
//
// The layout has room for 10^10 edges, and no graph of that size was made. It cannot be in memory,
// because the offsets of rows have 32 bits: that ends at 2^31 undirected or 2^32 directed edges. At
// [kith/index.MaxNodes] nodes everything ends, with ErrTooLarge. Rows that are neither in memory
// nor in the page cache are not measured at all: each block is then a read of the disk.
//
// What 10^10 edges would take: offsets of 64 bits, 4 bytes a node more; a load that sorts and
// writes on all cores, because much of it is done by one; a repair in bounded memory; and, where no
// machine has the memory for the graph, rows that are divided among machines, which kith does not
// have.
package bench
