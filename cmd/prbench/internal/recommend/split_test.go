package recommend

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// made returns a split of users who mostly have items of one of three kinds. User 0 has no training
// item, and the last item no training user.
func made(users, items int, seed uint64) *Split {
	rng := rand.New(rand.NewPCG(seed, 1))
	train, test := make([][]uint32, users), make([][]uint32, users)
	for u := range users {
		for range 6 + rng.IntN(8) {
			i := rng.IntN(items - 1)
			if rng.IntN(4) > 0 {
				i = (i/3*3 + u%3) % (items - 1)
			}
			if rng.IntN(5) == 0 || u == 0 {
				test[u] = append(test[u], uint32(i))
			} else {
				train[u] = append(train[u], uint32(i))
			}
		}
	}
	test[1] = append(test[1], uint32(items-1))
	return newSplit(train, test)
}

// Measures agree with values that were computed by hand.
func TestMeasure(t *testing.T) {
	t.Parallel()
	first := []uint32{50, 1, 51, 2} // then items that are not in the test part
	for i := range uint32(16) {
		first = append(first, 60+i)
	}
	late := slices.Clone(first)
	late[1], late[3], late[11] = 70, 71, 3
	var many []uint32
	for i := range uint32(40) {
		many = append(many, i)
	}
	s := &Split{Test: [][]uint32{{1, 2, 3}, {3}, many, {5}}}
	log := math.Log2
	ideal := func(k int) (sum float64) {
		for i := range k {
			sum += 1 / log(float64(i+2))
		}
		return sum
	}
	for _, c := range []struct {
		user        int
		recommended []uint32
		want        Measures
	}{
		{0, first, Measures{
			Recall20: 2.0 / 3, HR10: 1,
			NDCG20: (1/log(3) + 1/log(5)) / (1 + 1/log(3) + 0.5),
			NDCG10: (1/log(3) + 1/log(5)) / (1 + 1/log(3) + 0.5),
		}},
		{1, late, Measures{Recall20: 1, NDCG20: 1 / log(13)}},
		{2, many[:20], Measures{Recall20: 0.5, NDCG20: 1, NDCG10: 1, HR10: 1}},
		{2, many[:5], Measures{
			Recall20: 0.125, NDCG20: ideal(5) / ideal(20), NDCG10: ideal(5) / ideal(10), HR10: 1,
		}},
		{3, nil, Measures{}},
	} {
		if got := s.Measure([]int{c.user}, [][]uint32{c.recommended}); !near(got, c.want) {
			t.Errorf("user %d, %v: %+v, want %+v", c.user, c.recommended, got, c.want)
		}
	}
	got := s.Measure([]int{1, 3}, [][]uint32{late, nil})
	if want := (Measures{Recall20: 0.5, NDCG20: 0.5 / log(13)}); !near(got, want) {
		t.Errorf("mean %+v, want %+v", got, want)
	}
}

// near reports whether measures are equal up to rounding.
func near(a, b Measures) bool {
	for _, d := range []float64{
		a.Recall20 - b.Recall20, a.NDCG20 - b.NDCG20, a.NDCG10 - b.NDCG10, a.HR10 - b.HR10,
	} {
		if math.Abs(d) > 1e-12 {
			return false
		}
	}
	return true
}

// A tenth of the training items of each user is held out, and one item of a user with five to
// nineteen.
func TestHoldOut(t *testing.T) {
	t.Parallel()
	s := &Split{Train: make([][]uint32, 60), Test: make([][]uint32, 60), Items: 60}
	for u := range s.Train {
		for i := range u {
			s.Train[u] = append(s.Train[u], uint32(i))
		}
	}
	held := s.HoldOut(3)
	for u, items := range s.Train {
		want := u / 10
		if u >= 5 && u < 10 {
			want = 1
		}
		both := slices.Concat(held.Train[u], held.Test[u])
		slices.Sort(both)
		if len(held.Test[u]) != want || !slices.Equal(both, items) {
			t.Errorf("of %d items, %v are held out and %v are left", u, held.Test[u], held.Train[u])
		}
	}
	if again := s.HoldOut(3); again.text() != held.text() {
		t.Error("with the same seed, other items are held out")
	}
	if other := s.HoldOut(4); other.text() == held.text() {
		t.Error("with another seed, the same items are held out")
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	s := &Split{Test: [][]uint32{{1}, nil, {2}, {3}, nil, {4}}}
	all := []int{0, 2, 3, 5}
	for _, most := range []int{0, 4, 9} {
		if got := s.Users(most, 1); !slices.Equal(got, all) {
			t.Errorf("%d users: %v, want %v", most, got, all)
		}
	}
	seen := map[int]bool{}
	for seed := range uint64(50) {
		drawn := s.Users(2, seed)
		if len(drawn) != 2 || drawn[0] >= drawn[1] || !slices.Equal(drawn, s.Users(2, seed)) {
			t.Fatalf("drew %v", drawn)
		}
		seen[drawn[0]], seen[drawn[1]] = true, true
	}
	if len(seen) != len(all) {
		t.Errorf("drew only %v", seen)
	}
}

// The items with the highest scores are recommended, without training items, and equal scores in
// the order of the items.
func TestRecommend(t *testing.T) {
	t.Parallel()
	s := newSplit([][]uint32{{7, 9}, nil, {29}}, nil)
	score := func(user int, scores []float32) {
		for i := range scores {
			scores[i] += float32(user*i)/2 - float32(i%2*2)
		}
	}
	got, err := s.Recommend(context.Background(), []int{2, 0}, score)
	if err != nil {
		t.Fatal(err)
	}
	var want [2][]uint32
	for i := range uint32(30) {
		if i%2 == 0 {
			want[1] = append(want[1], i)
		}
	}
	want[1] = append(want[1], 1, 3, 5, 11, 13)
	want[0] = []uint32{28}
	for i := uint32(26); len(want[0]) < Top; i -= 2 {
		want[0] = append(want[0], i, i+1)
	}
	want[0] = want[0][:Top]
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("recommended %v, want %v", got[i], want[i])
		}
	}
}
