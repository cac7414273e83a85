package recommend

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Rival is a recommender that is fitted to the training part of a split.
type Rival struct {
	Name    string
	options []option
	// prepare does the work that is the same for all values of the options.
	prepare func(ctx context.Context, m *matrix, seed uint64) (fit, error)
}

// option is an option of a rival, with the values that Tune tries.
type option struct {
	name   string
	values []float64
}

// fit fits a rival with values of its options, in the order of the options.
type fit func(ctx context.Context, values []float64) (Scorer, error)

// Rivals returns all rivals, in the order of tables.
func Rivals() []*Rival {
	return []*Rival{popularity(), itemKNN(), rp3beta(), ease(), ials(), gfcf()}
}

// matrix is the binary matrix of users and items that a rival is fitted to.
type matrix struct {
	items [][]uint32 // of each user, ascending
	users [][]uint32 // of each item, ascending
}

// matrix returns the matrix of the training part.
func (s *Split) matrix() *matrix {
	m := &matrix{items: s.Train, users: make([][]uint32, s.Items)}
	for u, items := range s.Train {
		for _, i := range items {
			m.users[i] = append(m.users[i], uint32(u))
		}
	}
	return m
}

// Title returns the name of a rival with values of its options.
func (r *Rival) Title(values []float64) string {
	var b strings.Builder
	b.WriteString(r.Name)
	for i, o := range r.options {
		fmt.Fprintf(&b, ", %s %v", o.name, values[i])
	}
	return b.String()
}

// Fit fits a rival to the training part of a split.
func (r *Rival) Fit(
	ctx context.Context, s *Split, values []float64, seed uint64,
) (Scorer, error) {
	fit, err := r.prepare(ctx, s.matrix(), seed)
	if err != nil {
		return nil, err
	}
	return fit(ctx, values)
}

// Tune returns the values of the options with the highest NDCG@20 on a part of the training items
// that the rival is not fitted to, for a number of users with such items.
func (r *Rival) Tune(
	ctx context.Context, s *Split, users int, seed uint64,
) (best []float64, err error) {
	grid := r.grid()
	if len(grid) == 1 {
		return grid[0], nil
	}
	held := s.HoldOut(seed)
	asked := held.Users(users, seed)
	fit, err := r.prepare(ctx, held.matrix(), seed)
	if err != nil {
		return nil, err
	}
	highest := -1.0
	for _, values := range grid {
		score, err := fit(ctx, values)
		if err != nil {
			return nil, err
		}
		recommended, err := held.Recommend(ctx, asked, score)
		if err != nil {
			return nil, err
		}
		if v := held.Measure(asked, recommended).NDCG20; v > highest {
			highest, best = v, values
		}
	}
	return best, nil
}

// grid returns all combinations of the values of the options.
func (r *Rival) grid() [][]float64 {
	all := [][]float64{nil}
	for _, o := range r.options {
		var longer [][]float64
		for _, values := range all {
			for _, v := range o.values {
				longer = append(longer, append(slices.Clip(values), v))
			}
		}
		all = longer
	}
	return all
}
