package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// alphas returns the damping factors of the paper's grid, and 0.7.
func alphas() []string { return []string{"0.1", "0.3", "0.5", "0.7", "0.85", "0.9"} }

// stages returns the stages that have data, in the order of the paper. The seconds of a round hold
// for a machine of 2025.
func (p *paperPlan) stages() (all []stage) {
	p.absent = nil
	seeds, study := 10, 5
	if p.quick {
		seeds, study = 2, 1
	}
	links := p.folders("ml-100k", "prb/amazon", "prb/facebook", "prb/grqc")
	rivals := "ee_net,neural_greedy,neural_ucb,neural_ts"
	online := p.online("online", links, rivals+",prb,prb_greedy,prb_prior,eve_ppr,default", seeds)
	online.grid = true
	timed := p.online("time", links, rivals+",prb,prb_greedy,default", 1)
	repaired := p.online("time", links, "prb,prb_greedy", 1)
	timed.workers, repaired.workers, repaired.walks = 1, 1, "repaired"
	var alpha []stagePart
	for _, a := range alphas() {
		x := p.online("alpha", links, "prb", study)
		x.set = []string{"alpha=" + a}
		alpha = append(alpha, x)
	}
	for _, s := range []stage{
		{name: "online", about: "online link prediction, with grid searches", parts: []stagePart{online}, secs: 0.0006},
		{name: "classify", about: "online node classification", parts: []stagePart{p.classes(rivals, seeds)}, secs: 0.05},
		{name: "alpha", about: "prb by its damping factor", parts: alpha, secs: 0.0007},
		{name: "time", about: "seconds of a run by part, one run at a time", parts: []stagePart{timed, repaired}, secs: 0.0006, alone: true},
		{name: "offline", about: "held-out links, Hits@K", parts: p.offline(), secs: 1},
		{name: "heart", about: "held-out links among the negatives of HeaRT", parts: p.heart(), secs: 1},
	} {
		if s.hasData() {
			all = append(all, s)
		}
	}
	return all
}

// classes returns the experiment of node classification.
func (p *paperPlan) classes(rivals string, seeds int) *experiment {
	x := p.online("classify", p.folders("cora", "citeseer", "pubmed"), rivals+",prb_n,prb_greedy,prb_prior,eve_ppr", seeds)
	x.classify, x.reveal, x.protocols, x.features = true, true, []string{"classify"}, []string{"attributes"}
	x.grid = !p.quick
	if p.quick {
		x.seeds, x.rounds = 1, cmp.Or(p.rounds, 1000)
	}
	return x
}

// hasData reports whether a part has a data set that is there.
func (s stage) hasData() bool {
	return slices.ContainsFunc(s.parts, func(part stagePart) bool {
		x, isOnline := part.(*experiment)
		return !isOnline || len(x.folders) > 0
	})
}

// online returns an experiment that is played round by round, in a folder of its own.
func (p *paperPlan) online(name string, folders []string, policies string, seeds int) *experiment {
	return &experiment{
		folders: folders, protocols: []string{"paper"}, features: []string{"svd"}, policies: strings.Split(policies, ","), preset: "paper",
		rounds: cmp.Or(p.rounds, paperRounds), seeds: seeds, firstSeed: 1, workers: p.workers, out: filepath.Join(p.out, name),
	}
}

// offline returns the experiments of held-out links: heuristics and the default; prb trained round
// by round, and prb trained by passes over the edges as appendix A.1 says (width 500, 100 epochs).
// On the words of Cora and Citeseer prb ranks near chance and takes an hour, so it reads kith's
// structural contexts.
func (p *paperPlan) offline() (parts []stagePart) {
	epochs := 100
	if p.quick {
		epochs = 10
	}
	plain := "common_neighbors,adamic_adar,resource_allocation"
	for _, set := range []struct{ name, folder, policies string }{
		{"cora", "cora/split", plain + ",default"}, {"citeseer", "citeseer/split", plain + ",default"},
		{"pubmed", "heart/pubmed", plain}, {"ogbl_ddi", "ogbl_ddi/split", plain},
	} {
		if len(p.folders(set.folder)) == 0 {
			continue
		}
		if set.name == "pubmed" && !p.quick || set.name == "ogbl_ddi" && !p.quick {
			set.policies += ",default"
		}
		base := p.held(set.name, "offline", set.policies)
		rounds := p.held(set.name, "offline", "prb")
		rounds.set = []string{"blocks=structural"}
		edges := *rounds
		edges.training, edges.epochs, edges.set = "edges", epochs, []string{"blocks=structural", "width=500"}
		parts = append(parts, base, rounds)
		if set.name != "ogbl_ddi" || !p.quick {
			parts = append(parts, &edges)
		}
	}
	return parts
}

// heart returns the experiments among the negatives of HeaRT.
func (p *paperPlan) heart() (parts []stagePart) {
	for _, name := range []string{"cora", "citeseer"} {
		if _, err := os.Stat(filepath.Join(p.data, name, "split")); err == nil { // otherwise offline has named it
			x := p.held(name, "heart", "common_neighbors,adamic_adar,resource_allocation,default")
			x.negatives = "heart"
			parts = append(parts, x)
		}
	}
	return parts
}

// held returns an experiment of held-out links, in a folder of its own.
func (p *paperPlan) held(dataset, folder, policies string) *offlinePlan {
	x := &offlinePlan{
		data: p.data, out: filepath.Join(p.out, folder), dataset: dataset, policies: strings.Split(policies, ","), negatives: "own",
		training: "rounds", seeds: 1, rounds: cmp.Or(p.rounds, paperRounds), epochs: 1, workers: p.workers,
	}
	if p.quick {
		x.splits = "0"
	}
	return x
}

func (x *experiment) playPart(ctx context.Context, log io.Writer, t *tally) error {
	if len(x.folders) == 0 {
		return nil
	}
	x.log, x.tally = log, t
	if err := x.checkKept(); err != nil {
		return err
	}
	if x.arenas == nil {
		if err := x.read(); err != nil {
			return err
		}
	}
	return x.run(ctx)
}

func (p *offlinePlan) playPart(ctx context.Context, log io.Writer, t *tally) error {
	p.log, p.tally = log, t
	if err := p.check(); err != nil {
		return err
	}
	return p.play(ctx)
}
