package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/cmd/prbench/internal/trial"
	"kith/model/nn"
)

// ratingsFile is the file of MovieLens 100K: user, item, rating from 1 to 5, time.
const ratingsFile = "u.data"

// readRatings reads MovieLens 100K, which stands for the MovieLens file of the paper, which is not
// published. A rating of 4 or 5 is a link, 1 or 2 is listed as none. The features are the ten
// leading singular vectors of all ratings, as in the paper's data: they leak the answer.
func readRatings(root fs.FS) (*trial.Data, error) {
	f, err := root.Open(ratingsFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rated, err := scanRatings(f)
	if err != nil {
		return nil, err
	}
	var rows [][3]int
	users, items := 0, 0
	for _, r := range rated {
		rows = append(rows, [3]int{r.user - 1, r.item - 1, r.stars})
		users, items = max(users, r.user), max(items, r.item)
	}
	features, err := singularVectors(rows, users, items)
	if err != nil {
		return nil, err
	}
	var list [][]float32
	for _, r := range rows {
		switch {
		case r[2] > 3:
			list = append(list, []float32{float32(r[0]), float32(r[1]), 1})
		case r[2] < 3:
			list = append(list, []float32{float32(r[0]), float32(r[1]), -1})
		}
	}
	return listed(list, features, users)
}

// rating is how many stars a user gives an item.
type rating struct{ user, item, stars int }

// likes reports whether a rating is a like.
func (r rating) likes() bool { return r.stars > 3 }

func (r rating) userKey() string { return fmt.Sprintf("user %d", r.user) }

func (r rating) itemKey() string { return fmt.Sprintf("item %d", r.item) }

// scanRatings reads lines of MovieLens 100K.
func scanRatings(from io.Reader) (all []rating, err error) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var r rating
		var time int
		_, err := fmt.Sscan(lines.Text(), &r.user, &r.item, &r.stars, &time)
		if err != nil || min(r.user, r.item) < 1 || max(r.user, r.item) > 1<<16 || r.stars < 1 || r.stars > 5 {
			return nil, fmt.Errorf("line %d: %q (accepted: user, item, rating from 1 to 5, time)", len(all)+1, lines.Text())
		}
		all = append(all, r)
	}
	if lines.Err() != nil || len(all) == 0 {
		return nil, fmt.Errorf("no ratings: %w", lines.Err())
	}
	return all, nil
}

// singularLen is the number of singular vectors, as in the features that the paper's authors
// publish.
const singularLen = 10

// singularVectors returns the entries of the leading singular vectors of the ratings, for users and
// then for items. Rows have a mean square length of 1 on each side.
func singularVectors(rows [][3]int, users, items int) ([][]float32, error) {
	n := users + items
	l := nn.Krylov{ // the eigenvectors of the symmetric matrix of both kinds, each twice: with either sign
		Power: 3,
		Rng:   rand.New(rand.NewPCG(1, 29)),
		Product: func(_ context.Context, x, y blas32.General) error {
			clear(y.Data)
			for _, r := range rows {
				u, v, w := r[0], users+r[1], float32(r[2])
				nn.Axpy(w, nn.Row(x, v), nn.Row(y, u))
				nn.Axpy(w, nn.Row(x, u), nn.Row(y, v))
			}
			return nil
		},
	}
	values, vectors, err := l.Eigen(context.Background(), n, 2*singularLen)
	if err != nil {
		return nil, err
	}
	features := make([][]float32, n)
	for u := range features {
		for j, value := range values {
			if value > 0 {
				features[u] = append(features[u], nn.Row(vectors, u)[j])
			}
		}
	}
	for _, side := range [][][]float32{features[:users], features[users:]} {
		scale(side)
	}
	return features, nil
}

// scale makes the mean square length of the rows 1.
func scale(rows [][]float32) {
	sum := 0.0
	for _, row := range rows {
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
	}
	by := float32(1 / math.Sqrt(max(sum/float64(len(rows)), 1e-12)))
	for _, row := range rows {
		for i := range row {
			row[i] *= by
		}
	}
}
