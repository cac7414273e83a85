package db_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	g := dbtest.Open(t, nil)
	f, err := os.Open("../../shared/data/snap/facebook_combined.txt")
	if err != nil {
		t.Skip(err)
	}
	rep, err := g.Load(ctx, f, db.LoadOptions{})
	fmt.Printf("%+v %v\n", rep, err)
	r, err := g.Predict(ctx, db.Prediction{For: 0, Among: db.Neighbors(2)})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range r.Links {
		fmt.Printf("%+v\n", l)
	}
	r.Links = nil
	fmt.Printf("%+v\n", r)
	if err := g.CreateModel(ctx, "m", model.Spec{}); err != nil {
		t.Fatal(err)
	}
	for i := range 120 {
		if err := g.Observe(ctx, db.Observation{Source: 0, Target: 1000 + i, Reward: float64(i % 2), Insert: true}); err != nil {
			t.Fatal(err)
		}
	}
	r, err = g.Predict(ctx, db.Prediction{For: 0, Among: db.Neighbors(2)})
	fmt.Printf("%+v %v\n", r, err)
	inf, err := g.Train(ctx, db.Training{Model: "m"})
	fmt.Println(inf, err)
	r, err = g.Predict(ctx, db.Prediction{For: 0, Among: db.Neighbors(2)})
	fmt.Printf("%+v %v\n", r, err)
}
