package db_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strconv"
	"time"

	"kith/db"
)

// A social app: people follow each other, like posts and block people, posts have a language and
// tags. A feed shows a slate of posts that are not hidden, in the language of the reader, and that
// were not shown in the last week. It learns from the likes, which come from a queue, each once. A
// person who leaves is erased, and the files forget the person with the next compaction.
func Example_social() {
	ctx := context.Background()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	// Or the path of a directory, and nil.
	g, err := db.Open("", &db.Options{InMemory: true, Now: func() time.Time { return now }})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if err := errors.Join(g.Update(ctx, declare), history(g.BulkWriter(ctx))); err != nil {
		log.Fatal(err)
	}
	var queue []like
	for day := range 3 {
		now = now.AddDate(0, 0, 4*day)
		page, err := feed(ctx, g, "ann")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(now.Format(time.DateOnly))
		for _, p := range page.Places {
			fmt.Print(" ", p.Target)
		}
		fmt.Println()
		queue = append(queue, like{page.ID, len(page.Places)}) // ann likes the last post of the page
		if err := g.Update(ctx, func(tx *db.Tx) error { return learn(ctx, tx, queue) }); err != nil {
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
	if err := g.Update(ctx, func(tx *db.Tx) error { return tx.Erase("eve") }); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		s, err := g.Stats()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("erased, to be compacted:", s.Erased)
		if err := g.Compact(ctx); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 2026-11-20 cake go
	// 2026-11-24 chess
	// 2026-12-02 cake
	// follow cid
	// follow eve
	// erased, to be compacted: 1
	// erased, to be compacted: 0
}

// declare adds the relations.
func declare(tx *db.Tx) error {
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
	return nil
}

// history writes the people and the posts, in as many commits as they take.
func history(w *db.BulkWriter) error {
	for _, post := range []db.Node{
		{Key: db.Str("bread"), Properties: map[string]any{"lang": "en", "tags": []string{"food"}}},
		{Key: db.Str("brot"), Properties: map[string]any{"lang": "de", "tags": []string{"food"}}},
		{Key: db.Str("cake"), Properties: map[string]any{"lang": "en", "tags": []string{"food", "sweet"}}},
		{Key: db.Str("chess"), Properties: map[string]any{"lang": "en", "tags": []string{"games"}}},
		{Key: db.Str("go"), Properties: map[string]any{"lang": "en", "tags": []string{"games"}}},
		{Key: db.Str("rant"), Properties: map[string]any{"lang": "en", "hidden": true}},
	} {
		post.Label = "post"
		if err := w.PutNode(post); err != nil {
			return err
		}
	}
	if err := w.PutNode(db.Node{Key: db.Str("ann"), Label: "user", Properties: map[string]any{"lang": "en"}}); err != nil {
		return err
	}
	for _, e := range [][3]string{
		{"ann", "follows", "bob"}, {"bob", "follows", "cid"}, {"bob", "follows", "dan"}, {"dan", "follows", "eve"}, {"ann", "blocks", "dan"},
		{"ann", "likes", "bread"}, {"bob", "likes", "bread"}, {"bob", "likes", "cake"}, {"cid", "likes", "cake"}, {"cid", "likes", "bread"},
		{"cid", "likes", "rant"}, {"cid", "likes", "brot"}, {"dan", "likes", "chess"}, {"dan", "likes", "go"}, {"eve", "likes", "chess"},
		{"cid", "likes", "chess"},
	} {
		if err := w.PutEdge(e[0], e[2], db.Via(e[1])); err != nil {
			return err
		}
	}
	return w.Flush()
}

// feed draws a page of two posts for a user, and records that they are shown.
func feed(ctx context.Context, g *db.DB, user string) (page db.Decision, err error) {
	err = g.Update(ctx, func(tx *db.Tx) error {
		reader, err := tx.Node(user)
		if err != nil {
			return err
		}
		lately := db.Neighbors(1).Via("shown").Within(7 * 24 * time.Hour)
		readable := db.Cond{Of: "lang", Op: "=", Value: reader.Properties["lang"]}.And(db.Cond{Of: "hidden", Op: "=", Value: true}.Not())
		page, err = tx.Choose(ctx, db.ChooseOptions{
			For: user, Relation: "likes", Among: db.Label("post").Except(lately).Where(readable), Places: 2,
		})
		for _, p := range page.Places {
			err = errors.Join(err, tx.PutEdge(user, p.Target, db.Via("shown"), db.At(page.Time)))
		}
		return err
	})
	return page, err
}

// like is a message of the queue: a person liked what a page showed at a place.
type like struct {
	page  uint64
	place int
}

// learn makes the likes that it has not read yet edges, and teaches them. Its position in the queue
// is in the same commit. Posts above a liked one were seen, and not liked.
func learn(ctx context.Context, tx *db.Tx, queue []like) error {
	position, err := tx.Get("likes")
	if err != nil {
		return err
	}
	read, _ := strconv.Atoi(string(position)) // 0 at first
	for _, l := range queue[read:] {
		page, err := tx.Decision(l.page)
		if err != nil {
			return err
		}
		err = errors.Join(
			tx.RewardPlaces(ctx, l.page, map[int]float64{l.place: 1}, db.ExaminedAbove),
			tx.PutEdge(page.Source, page.Places[l.place-1].Target, db.Via("likes"), db.At(page.Time)))
		if err != nil {
			return err
		}
	}
	return tx.Set("likes", []byte(strconv.Itoa(len(queue))))
}
