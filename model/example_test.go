package model_test

import (
	"context"
	"fmt"

	"kith/model"
)

// Prior ranks without a model, by weights that were learned on other graphs.
func ExamplePrior() {
	w := model.SmallWorld(5, [][2]model.ID{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}}...)
	s := model.Prior(0, false)
	scores, err := s.Score(context.Background(), w, model.Pairs(0, []model.ID{3, 4}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Basis())
	fmt.Println("3 before 4:", scores[0].Score > scores[1].Score)
	// Output:
	// built-in weights
	// 3 before 4: true
}

// A model learns from outcomes. Its document contains everything that it needs to continue.
func Example() {
	spec := model.Spec{Policy: "prb", Seed: 1}
	if err := spec.Set("width", 32); err != nil {
		fmt.Println(err)
		return
	}
	m, err := model.New(spec)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := model.SmallWorld(4, [2]model.ID{0, 1})
	candidates := []model.ID{1, 2, 3}
	for range 10 {
		x, err := m.Scorer().Contexts(context.Background(), w, model.Pairs(0, candidates))
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := m.Observe(model.Outcome{Contexts: x, Chosen: 0, Reward: 1}); err != nil {
			fmt.Println(err)
			return
		}
	}
	b, err := m.MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := model.Decode(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Rounds(), again.Scorer().Basis())
	// Output:
	// 10 model
}
