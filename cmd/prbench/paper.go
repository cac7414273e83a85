package main

// paperRounds is the number of rounds after which the paper prints regrets.
const paperRounds = 10000

// paperFigure returns the cumulative regret that the PRB paper prints in its tables of online link prediction, of node
// classification and of its variants: the mean of 10 runs. The paper's program draws rounds differently from its text,
// so the figure belongs to either protocol.
func paperFigure(s settings) (regret int, ok bool) {
	if s.Rounds != paperRounds || s.Protocol == "fresh" || s.Preset != "paper" && s.Preset != "released" {
		return 0, false
	}
	column, ok := map[string]int{"amazon": 0, "facebook": 1, "grqc": 2, "cora": 3, "citeseer": 4, "pubmed": 5}[s.Data]
	if !ok {
		return 0, false
	}
	row, ok := map[string][6]int{
		"ee_net":        {1698, 2274, 3419, 1990, 2299, 1659},
		"neural_greedy": {1952, 2601, 3629, 2826, 2543, 1693},
		"neural_ucb":    {1913, 2190, 3719, 2713, 3101, 1672},
		"neural_ts":     {2055, 2251, 3814, 1998, 3419, 1647},
		"prb":           {1455, 1929, 3236, 1874, 2168, 1577},
		"prb_n":         {1455, 1929, 3236, 1874, 2168, 1577},
		"prb_greedy":    {1567, 1994, 3332, 1932, 2194, 1634},
		"prb_prior":     {1408, 1858, 3085, 1804, 2158, 1630},
	}[s.Policy]
	return row[column], ok
}
