package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kith/cmd/prbench/internal/recommend"
	"kith/db"
	"kith/db/edgelist"
)

// recommendAnswer is what a policy recommends.
type recommendAnswer struct {
	title          string     // the name of the policy, with its options
	items          [][]uint32 // for each user, the best first
	training, took time.Duration
}

// ask fits a policy to the training part of a split, and asks it about users.
func (p *recommendPlan) ask(
	ctx context.Context, s *recommend.Split, users []int, policy string,
) (recommendAnswer, error) {
	rivals := recommend.Rivals()
	at := slices.IndexFunc(rivals, func(r *recommend.Rival) bool { return r.Name == policy })
	if at < 0 {
		return p.askModel(ctx, s, users, policy)
	}
	return p.askRival(ctx, s, users, rivals[at])
}

// askRival tunes a rival, fits it and asks it.
func (p *recommendPlan) askRival(
	ctx context.Context, s *recommend.Split, users []int, r *recommend.Rival,
) (a recommendAnswer, err error) {
	values, err := r.Tune(ctx, s, p.tuneUsers, p.seed)
	if err != nil {
		return a, err
	}
	a.title = r.Title(values)
	start := time.Now()
	score, err := r.Fit(ctx, s, values, p.seed)
	if err != nil {
		return a, err
	}
	a.training = time.Since(start)
	start = time.Now()
	a.items, err = s.Recommend(ctx, users, score)
	a.took = time.Since(start)
	return a, err
}

// askModel asks a model of kith.
func (p *recommendPlan) askModel(
	ctx context.Context, s *recommend.Split, users []int, policy string,
) (a recommendAnswer, err error) {
	store, err := loadLists(ctx, s.Train)
	if err != nil {
		return a, err
	}
	defer store.Close()
	a.title = policy
	switch policy {
	case "default":
		if a.training, err = trainDefault(ctx, store, p.seed, ""); err != nil {
			return a, err
		}
	case "prior":
		policy = "" // no model is trained
	}
	question := func(i int) db.PredictOptions {
		return db.PredictOptions{
			For: db.Str(fmt.Sprintf("user:%d", users[i])), Among: db.Label("item"),
			Model: policy, Top: recommend.Top,
		}
	}
	a.items = make([][]uint32, len(users))
	start := time.Now()
	err = predictEach(ctx, store, len(users), question, func(i int, links []db.Link) {
		for _, l := range links {
			a.items[i] = append(a.items[i], itemOf(l.Target))
		}
	})
	a.took = time.Since(start)
	return a, err
}

// loadLists returns a database of users and their items, loaded as kith load does with --format
// lists --source-label user --target-label item.
func loadLists(ctx context.Context, lists [][]uint32) (*db.DB, error) {
	var text strings.Builder
	for u, items := range lists {
		fmt.Fprint(&text, u)
		for _, i := range items {
			fmt.Fprintf(&text, " %d", i)
		}
		text.WriteByte('\n')
	}
	return inMemory(false, func(store *db.DB) error {
		_, err := store.Load(ctx, strings.NewReader(text.String()), db.LoadOptions{
			Format: edgelist.Lists, SourceLabel: "user", TargetLabel: "item",
		})
		return err
	})
}

// itemOf returns the number of an item of loadLists.
func itemOf(k db.Key) uint32 {
	number, _ := strings.CutPrefix(k.Value().(string), "item:")
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		panic("prbench: item " + k.String() + ": " + err.Error())
	}
	return uint32(n)
}
