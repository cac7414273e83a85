package db_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// badInput is a write that is rejected, or a read of something that does not exist.
type badInput struct {
	f    func(tx *db.Tx) error
	want error
	text string
}

func badInputs() map[string]badInput {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	return map[string]badInput{
		"weight NaN":     {func(tx *db.Tx) error { return tx.PutEdge(1, 2, db.Weight(nan)) }, db.ErrInput, "NaN"},
		"weight Inf":     {func(tx *db.Tx) error { return tx.PutEdge(1, 2, db.Weight(inf)) }, db.ErrInput, "1 -> 2"},
		"weight 0":       {func(tx *db.Tx) error { return tx.PutEdge(1, 2, db.Weight(0)) }, db.ErrInput, "0 is not"},
		"weight -1":      {func(tx *db.Tx) error { return tx.PutEdge("x", 2, db.Weight(-1)) }, db.ErrInput, "'x' -> 2"},
		"feature NaN":    {func(tx *db.Tx) error { return tx.SetFeatures(1, []float32{0, nan, 1}) }, db.ErrInput, "feature 1 of 3 is NaN"},
		"feature Inf":    {func(tx *db.Tx) error { return tx.SetFeatures(1, []float32{-inf, 0, 1}) }, db.ErrInput, "-Inf"},
		"two features":   {func(tx *db.Tx) error { return tx.SetFeatures(2, []float32{1, 2}) }, db.ErrInput, "2 features, nodes without a label have 3"},
		"a label's":      {func(tx *db.Tx) error { return tx.SetFeatures("i", []float32{1, 2}) }, db.ErrInput, `2 features, label "item" has 1`},
		"another label":  {func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: db.Int(1), Label: "item"}) }, db.ErrInput, `3 features, label "item" has 1`},
		"empty key":      {func(tx *db.Tx) error { return tx.PutEdge("", 2) }, db.ErrInput, "empty"},
		"empty node":     {func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: db.Str("")}) }, db.ErrInput, "empty"},
		"long key":       {func(tx *db.Tx) error { return tx.PutEdge(1, strings.Repeat("x", 2000)) }, db.ErrInput, "2000 bytes"},
		"zero byte":      {func(tx *db.Tx) error { return tx.PutEdge(1, "a\x00") }, db.ErrInput, "zero byte"},
		"not UTF-8":      {func(tx *db.Tx) error { return tx.PutEdge(1, "\xff") }, db.ErrInput, "UTF-8"},
		"float key":      {func(tx *db.Tx) error { return tx.PutEdge(1.5, 2) }, db.ErrInput, "1.5 (a number) is no key"},
		"nil key":        {func(tx *db.Tx) error { _, err := tx.Node(nil); return err }, db.ErrInput, "no key"},
		"large key":      {func(tx *db.Tx) error { return tx.PutEdge(uint64(1<<63), 2) }, db.ErrInput, "no key"},
		"unknown node":   {func(tx *db.Tx) error { _, err := tx.Node("42"); return err }, db.ErrNotFound, "node '42'"},
		"unknown source": {func(tx *db.Tx) error { return tx.SetFeatures(9, nil) }, db.ErrNotFound, "node 9"},
		"unknown end":    {func(tx *db.Tx) error { return tx.DeleteEdge(1, 9) }, db.ErrNotFound, "node 9"},
		"unknown edge":   {func(tx *db.Tx) error { _, err := tx.Edge(1, 1); return err }, db.ErrNotFound, "1 -> 1"},
		"deleted edge":   {func(tx *db.Tx) error { return tx.DeleteEdge(1, "i") }, db.ErrNotFound, "1 -> 'i'"},
		"deleted node":   {func(tx *db.Tx) error { return tx.DeleteNode(9) }, db.ErrNotFound, "node 9"},
		"node again":     {func(tx *db.Tx) error { return tx.AddNode(db.Node{Key: db.Int(1)}) }, db.ErrExists, "node 1"},
		"bad label":      {func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: db.Int(1), Label: "\xff"}) }, db.ErrInput, "UTF-8"},
		"neighbours": {func(tx *db.Tx) error {
			for _, err := range tx.Neighbors(9) {
				return err
			}
			return nil
		}, db.ErrNotFound, "node 9"},
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(tx.PutEdge(1, 2), tx.SetFeatures(1, []float32{1, 2, 3}),
			tx.PutNode(db.Node{Key: db.Str("i"), Label: "item", Features: []float32{1}}))
	})
	for what, c := range badInputs() {
		err := g.Update(ctx, c.f)
		wantError(t, what, err, c.want)
		if err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v does not say %q", what, err, c.text)
		}
	}
	for what, f := range map[string]func(tx *db.Tx) error{
		"edge":     func(tx *db.Tx) error { return tx.PutEdge(1, 2) },
		"node":     func(tx *db.Tx) error { return tx.AddNode(db.Node{Key: db.Int(3)}) },
		"delete":   func(tx *db.Tx) error { return tx.DeleteNode(1) },
		"cut":      func(tx *db.Tx) error { return tx.DeleteEdge(1, 2) },
		"features": func(tx *db.Tx) error { return tx.SetFeatures(1, nil) },
		"observe":  func(tx *db.Tx) error { return tx.Observe(ctx, db.ObserveOptions{Source: 1, Target: 2}) },
	} {
		wantError(t, what+" in a view", g.View(ctx, f), db.ErrReadOnly)
	}
	if got := edges(t, g); !slices.Equal(got, []string{"1-2:1@0"}) {
		t.Errorf("afterwards %v", got)
	}
}
