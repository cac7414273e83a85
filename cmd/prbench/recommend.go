package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/recommend"
	"kith/model"
)

// recommendPlan holds the options of prbench recommend.
type recommendPlan struct {
	data      []string
	policies  []string
	split     string
	users     int
	tuneUsers int
	easeItems int
	seed      uint64
}

func newRecommend() *cobra.Command {
	var p recommendPlan
	c := &cobra.Command{
		Use:   "recommend --data DIR,...",
		Short: "Play standard splits of recommender systems",
		Long: `Recommend trains on the training part of a split of users and items, and ranks
for each user of the test part all items that the user does not have in training. Data are
folders with train.txt and test.txt (a line has a user and its items), with train.npz and
test.npz (sparse matrices of SciPy), or with sequences.txt (a line has a user and its items in
the order of time, and the last of three or more is the test item), or prefixes P of files
P_train.npz and P_test.npz.

Recall@20 is the share of the test items of a user that are among the first 20, NDCG@K the
discounted cumulative gain over the largest possible one, and HR@10 the share of the users with a
test item among the first 10. All are means over the users with test items.

Policies:
  default     a model, trained with no options
  prior       the built-in model, untrained
  popularity  the number of users of an item
  itemknn     cosine similarities of items, k neighbors
  rp3beta     walks of three steps with a penalty for popularity
  ease        ridge regressions of each item on all others
  ials        a factorization by alternating least squares
  gfcf        a linear and a low-pass filter on the graph of items
  or the name of a heuristic

The options of all from itemknn to gfcf are chosen by NDCG@20 on a tenth of the training items of
each user, and the row names them. Their training time is without this choice.`,
		Example: `  prbench recommend --data ml-1m,gowalla --policies default,itemknn,ease
  prbench recommend --data yelp --split valid --users 1000`,
	}
	f := c.Flags()
	f.StringSliceVar(&p.data, "data", nil, "folders or prefixes of splits")
	f.StringSliceVar(&p.policies, "policies",
		[]string{"default", "popularity", "itemknn", "rp3beta", "ease", "ials", "gfcf"},
		"policies to ask")
	f.StringVar(&p.split, "split", "test", "the items to find: test, or valid, "+
		"a tenth of the training items, which are then hidden")
	f.IntVar(&p.users, "users", 0, "number of users to ask about, drawn at random; 0 means all")
	f.IntVar(&p.tuneUsers, "tune-users", 1000,
		"number of users to choose options with, drawn at random; 0 means all")
	f.IntVar(&p.easeItems, "ease-items", 12000,
		"largest number of items for ease, which takes 20 bytes for each pair of items")
	f.Uint64Var(&p.seed, "seed", 1, "seed of the draws and of the models")
	return command(c, p.check, p.run)
}

// check reports what is wrong with the plan before any file is read.
func (p *recommendPlan) check() error {
	if len(p.data) == 0 {
		return errors.New("--data DIR is missing")
	}
	if p.split != "valid" && p.split != "test" {
		return fmt.Errorf("--split %s: accepted are valid and test", p.split)
	}
	accepted := []string{"default", "prior"}
	for _, r := range recommend.Rivals() {
		accepted = append(accepted, r.Name)
	}
	accepted = append(accepted, model.Heuristics()...)
	for _, name := range p.policies {
		if !slices.Contains(accepted, name) {
			return fmt.Errorf("--policies %s: accepted are %s", name, strings.Join(accepted, ", "))
		}
	}
	return cmp.Or(
		cli.Least("users", p.users, 0), cli.Least("tune-users", p.tuneUsers, 0),
		cli.Least("ease-items", p.easeItems, 0),
	)
}

// run plays each split with each policy, and prints a row as soon as it is known.
func (p *recommendPlan) run(ctx context.Context, cmd *cobra.Command) error {
	heading := []string{
		"data", "policy", "users", "Recall@20", "NDCG@20", "HR@10", "NDCG@10",
		"training", "all questions", "a question",
	}
	var rows [][]string
	for _, path := range p.data {
		name := filepath.Base(filepath.Clean(path))
		s, err := recommend.Read(path)
		if err != nil {
			return err
		}
		published := publishedRecommendations[publishedSplit{name, s.Links()}]
		if p.split == "valid" {
			s, published = s.HoldOut(p.seed), nil
		}
		for _, policy := range p.policies {
			row, err := p.row(ctx, name, s, policy)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", name, policy, err)
			}
			if err := printRow(cmd, row); err != nil {
				return err
			}
			rows = append(rows, row)
		}
		for _, m := range published {
			rows = append(rows, m.row(name))
		}
	}
	return writeResults(cmd.OutOrStdout(), "", nil, markdown(heading, rows), nil)
}

// row returns the row of a policy.
func (p *recommendPlan) row(
	ctx context.Context, name string, s *recommend.Split, policy string,
) ([]string, error) {
	if policy == "ease" && s.Items > p.easeItems {
		return []string{
			name, fmt.Sprintf("ease refused: %d items, --ease-items is %d", s.Items, p.easeItems),
			"", "", "", "", "", "", "", "",
		}, nil
	}
	users := s.Users(p.users, p.seed)
	a, err := p.ask(ctx, s, users, policy)
	if err != nil {
		return nil, err
	}
	m := s.Measure(users, a.items)
	row := []string{name, a.title, fmt.Sprint(len(users))}
	for _, v := range []float64{m.Recall20, m.NDCG20, m.HR10, m.NDCG10} {
		row = append(row, fmt.Sprintf("%.4f", v))
	}
	seconds := a.took.Seconds()
	return append(row, fmt.Sprintf("%.1f s", a.training.Seconds()), fmt.Sprintf("%.1f s", seconds),
		fmt.Sprintf("%.2f ms", 1000*seconds/float64(max(1, len(users))))), nil
}

// publishedSplit is a split that figures are published for, by its name and the number of its
// training items: other splits have the same names.
type publishedSplit struct {
	name  string
	links int
}

// publishedMethod has the figures of a method as published.
type publishedMethod struct{ method, recall, ndcg string }

func (m publishedMethod) row(data string) []string {
	return []string{data, m.method + ", published", "all", m.recall, m.ndcg, "", "", "", "", ""}
}

// publishedRecommendations are Recall@20 and NDCG@20 as published: LightGCN (He et al., SIGIR
// 2020), UltraGCN (Mao et al., CIKM 2021, and the log of its authors for ml-1m), SimpleX (Mao et
// al., CIKM 2021, whose authors also report the figures of LightGCN on ml-1m), GF-CF (Shen et al.,
// CIKM 2021), and Turbo-CF (Park, Shin and Shin, SIGIR 2024).
var publishedRecommendations = map[publishedSplit][]publishedMethod{
	{"gowalla", 810128}: {
		{"LightGCN", ".1830", ".1554"}, {"UltraGCN", ".1862", ".1580"},
		{"SimpleX", ".1872", ".1557"}, {"GF-CF", ".1849", ".1518"}, {"Turbo-CF", ".1835", ".1531"},
	},
	{"yelp", 1237259}:     publishedYelp,
	{"yelp2018", 1237259}: publishedYelp,
	{"ml-1m", 796244}: {
		{"LightGCN", ".2576", ".2427"}, {"UltraGCN", ".2787", ".2642"},
		{"SimpleX", ".2802", ".2670"},
	},
}

var publishedYelp = []publishedMethod{
	{"LightGCN", ".0649", ".0530"}, {"UltraGCN", ".0683", ".0561"},
	{"SimpleX", ".0701", ".0575"}, {"GF-CF", ".0697", ".0571"}, {"Turbo-CF", ".0693", ".0574"},
}
