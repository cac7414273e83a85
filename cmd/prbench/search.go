package main

import "context"

// A grid search plays gridRounds rounds of a seed that no reported run has.
const (
	gridRounds = 2000
	gridSeed   = 1_000_003
)

// cell is a contender in an arena.
type cell struct {
	data, protocol, features string
	contender                contender
}

func cellOf(j job, c contender) cell {
	return cell{j.settings.Data, j.settings.Protocol, j.settings.Features, c}
}

// searchGrid returns the best point of the grid for each cell that has one.
func (x *experiment) searchGrid(ctx context.Context) (map[cell]map[string]string, error) {
	found := make(map[cell]map[string]string)
	var first, second []contender
	for _, c := range x.contenders {
		switch {
		case len(c.axes()) == 0:
		case c.afterGreedy():
			second = append(second, c)
		default:
			first = append(first, c)
		}
	}
	if len(second) > 0 {
		first = append(first, greedy(second[0])) // a job that occurs twice is played once
	}
	if err := x.searchCells(ctx, first, found); err != nil {
		return nil, err
	}
	return found, x.searchCells(ctx, second, found)
}

// greedy returns the contender whose rate is used for those searched after it.
func greedy(c contender) contender { return contender{"neural_greedy", c.preset} }

// searchCells plays the grids of contenders in all arenas and adds the best options to found.
func (x *experiment) searchCells(ctx context.Context, contenders []contender, found map[cell]map[string]string) error {
	grids := make(map[cell][]job)
	var all []job
	for _, a := range x.arenas {
		for _, c := range contenders {
			base := x.job(a, c, min(gridRounds, x.rounds), gridSeed)
			if c.afterGreedy() {
				base.settings = base.settings.with(found[cellOf(base, greedy(c))])
			}
			var jobs []job
			for _, point := range grid(c.axes(), base.settings.Options) {
				jobs = append(jobs, job{a, base.settings.with(point)})
			}
			grids[cellOf(base, c)] = jobs
			all = append(all, jobs...)
		}
	}
	if err := x.play(ctx, "grid", x.search(), all); err != nil {
		return err
	}
	for at, jobs := range grids {
		best, err := x.best(jobs)
		if err != nil {
			return err
		}
		found[at] = best
	}
	return nil
}

// best returns the options of the job with the least regret per live round, the first one among equals.
func (x *experiment) best(jobs []job) (options map[string]string, err error) {
	least := 0.0
	for i, j := range jobs {
		r, err := x.search().record(j.settings.name())
		if err != nil {
			return nil, err
		}
		if v := r.perLive(); i == 0 || v < least {
			options, least = j.settings.Options, v
		}
	}
	return options, nil
}
