package db_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"kith/db"
)

// A social app: people follow each other, like posts and block people, posts have a language and tags.
// A feed shows posts that are not hidden, in the language of the reader, and that were not shown in the
// last week. It learns from what is liked.
func Example_social() {
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true}) // or the path of a directory, and nil
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if err := g.Update(ctx, app); err != nil {
		log.Fatal(err)
	}
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for day := range 3 {
		now = now.AddDate(0, 0, 4*day)
		posts, err := feed(ctx, g, "ann", now)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(now.Format(time.DateOnly), posts)
		if err := liked(ctx, g, "ann", posts[0], now); err != nil {
			log.Fatal(err)
		}
	}
	people, err := g.Predict(ctx, db.PredictOptions{For: "ann", Relation: "follows", Among: db.Label("user"), Top: 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range people.Links {
		fmt.Println("follow", l.Target)
	}
	// Output:
	// 2026-11-20 [cake chess]
	// 2026-11-24 [go]
	// 2026-12-02 [chess]
	// follow cid
	// follow eve
}

// app writes the relations, the people and the posts.
func app(tx *db.Tx) error {
	for _, r := range []db.Relation{
		{Name: "follows", Directed: true, SourceLabel: "user", TargetLabel: "user"},
		{Name: "blocks", Directed: true, Exclude: true, SourceLabel: "user", TargetLabel: "user"},
		{Name: "likes", Directed: true, SourceLabel: "user", TargetLabel: "post"},
		{Name: "shown", Directed: true, SourceLabel: "user", TargetLabel: "post"},
	} {
		if err := tx.AddRelation(r); err != nil {
			return err
		}
	}
	for post, of := range map[string]map[string]any{
		"bread": {"lang": "en", "tags": []string{"food"}}, "cake": {"lang": "en", "tags": []string{"food", "sweet"}},
		"brot": {"lang": "de", "tags": []string{"food"}}, "rant": {"lang": "en", "hidden": true},
		"chess": {"lang": "en", "tags": []string{"games"}}, "go": {"lang": "en", "tags": []string{"games"}},
	} {
		if err := tx.AddNode(db.Node{Key: db.Str(post), Label: "post", Properties: of}); err != nil {
			return err
		}
	}
	for _, e := range [][3]string{
		{"ann", "follows", "bob"}, {"bob", "follows", "cid"}, {"bob", "follows", "dan"}, {"dan", "follows", "eve"}, {"ann", "blocks", "dan"},
		{"ann", "likes", "bread"}, {"bob", "likes", "bread"}, {"bob", "likes", "cake"}, {"cid", "likes", "cake"}, {"cid", "likes", "bread"},
		{"cid", "likes", "rant"}, {"cid", "likes", "brot"}, {"dan", "likes", "chess"}, {"dan", "likes", "go"}, {"eve", "likes", "chess"},
		{"cid", "likes", "chess"},
	} {
		if err := tx.AddEdge(e[0], e[2], db.Via(e[1])); err != nil {
			return err
		}
	}
	return tx.SetProperties("ann", map[string]any{"lang": "en"})
}

// feed returns two posts for a user, and records that they are shown.
func feed(ctx context.Context, g *db.DB, user string, now time.Time) (posts []db.Key, err error) {
	err = g.Update(ctx, func(tx *db.Tx) error {
		reader, err := tx.Node(user)
		if err != nil {
			return err
		}
		lately := db.Neighbors(1).Via("shown").Within(7 * 24 * time.Hour)
		readable := db.Cond{Of: "lang", Op: "=", Value: reader.Properties["lang"]}.And(db.Cond{Of: "hidden", Op: "=", Value: true}.Not())
		answer, err := tx.Predict(ctx, db.PredictOptions{
			For: user, Relation: "likes", Among: db.Label("post").Except(lately).Where(readable), Top: 2, Now: now,
		})
		if err != nil {
			return err
		}
		for _, l := range answer.Links {
			posts = append(posts, l.Target)
			err = errors.Join(err, tx.PutEdge(user, l.Target, db.Via("shown"), db.At(now)))
		}
		return err
	})
	return posts, err
}

// liked makes a like of a post an edge, and teaches it.
func liked(ctx context.Context, g *db.DB, user string, post db.Key, now time.Time) error {
	return g.Observe(ctx, db.ObserveOptions{Source: user, Target: post, Relation: "likes", Reward: 1, Insert: true, At: now})
}
