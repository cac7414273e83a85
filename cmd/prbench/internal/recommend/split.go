// Package recommend plays standard splits of recommender systems. [Read] reads a split, the methods
// of [Split] draw users, rank all items that a user does not have yet and measure the ranks, and
// [Rivals] are recommenders that kith's models are compared with.
//
// [Rival.Tune] chooses the options of a rival on a part of the training items that it hides, and
// [Rival.Fit] fits the rival to all training items. Both run on all processors. All results depend
// only on the data and the seed.
package recommend

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"kith/model/nn"
)

// Split is a data set of users and their items, both numbered from 0.
//
// INVARIANT: Train and Test have a list for each user, in which every item is below Items, occurs
// once, and is greater than the one before.
type Split struct {
	Train, Test [][]uint32
	Items       int
}

// newSplit returns the split of lists, which may have any order and repetitions.
func newSplit(train, test [][]uint32) *Split {
	users := max(len(train), len(test))
	s := &Split{Train: sorted(train, users), Test: sorted(test, users)}
	for _, items := range slices.Concat(s.Train, s.Test) {
		if n := len(items); n > 0 {
			s.Items = max(s.Items, int(items[n-1])+1)
		}
	}
	return s
}

// sorted returns lists of a number of users, each in ascending order and without repetitions. It
// changes the given ones.
func sorted(lists [][]uint32, users int) [][]uint32 {
	all := make([][]uint32, users)
	for u, items := range lists {
		slices.Sort(items)
		all[u] = slices.Compact(items)
	}
	return all
}

// Links returns the number of training items of all users together.
func (s *Split) Links() (n int) {
	for _, items := range s.Train {
		n += len(items)
	}
	return n
}

// HoldOut returns a split of the training part. Its test part is a tenth of the items of each user,
// drawn at random, and at least one item of a user with five or more.
func (s *Split) HoldOut(seed uint64) *Split {
	rng := rand.New(rand.NewPCG(seed, 41))
	held := &Split{
		Train: make([][]uint32, len(s.Train)), Test: make([][]uint32, len(s.Train)), Items: s.Items,
	}
	for u, items := range s.Train {
		n := len(items) / 10
		if len(items) >= 5 {
			n = max(n, 1)
		}
		drawn := nn.Subset(rng, len(items), n)
		for at, item := range items {
			to := &held.Train[u]
			if _, hidden := slices.BinarySearch(drawn, at); hidden {
				to = &held.Test[u]
			}
			*to = append(*to, item)
		}
	}
	return held
}

// Users returns the users with test items. If most is positive and there are more, it draws that
// number of them at random.
func (s *Split) Users(most int, seed uint64) (users []int) {
	for u, items := range s.Test {
		if len(items) > 0 {
			users = append(users, u)
		}
	}
	if most <= 0 || most >= len(users) {
		return users
	}
	drawn := nn.Subset(rand.New(rand.NewPCG(seed, 43)), len(users), most)
	for i, at := range drawn {
		users[i] = users[at] // at is at least i
	}
	return users[:most]
}

// Scorer adds the scores of all items for a user to a vector of zeros.
type Scorer func(user int, scores []float32)

// Top is the number of items that a user is recommended.
const Top = 20

// Recommend returns the items with the highest scores for each user, the best first, among all that
// the user does not have in training. Equal scores are in the order of the items.
func (s *Split) Recommend(
	ctx context.Context, users []int, score Scorer,
) (recommended [][]uint32, err error) {
	recommended = make([][]uint32, len(users))
	lowest := float32(math.Inf(-1))
	return recommended, inParts(ctx, len(users), func(first, end int) {
		scores := nn.NewVector(s.Items)
		for i, u := range users[first:end] {
			clear(scores)
			score(u, scores)
			for _, item := range s.Train[u] {
				scores[item] = lowest
			}
			recommended[first+i] = nn.Largest(scores, Top, lowest)
		}
	})
}

// inParts calls f for small consecutive parts of the numbers below n, in parallel, until ctx ends.
func inParts(ctx context.Context, n int, f func(first, end int)) error {
	const part = 32
	return nn.Parallel(ctx, (n+part-1)/part, func(i int) { f(i*part, min((i+1)*part, n)) })
}
