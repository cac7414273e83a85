package main

import (
	"context"
	"strings"

	"kith/db"
	"kith/query"
)

// maxScanned bounds how many nodes are looked at for keys to offer.
const maxScanned = 50_000

// own finds the names in a database that the process has open. What cannot be read is empty, as
// nobody asked for it.
type own struct{ *db.DB }

func (o own) models() (all []string) {
	_ = o.View(context.Background(), func(tx *db.Tx) error {
		for _, m := range tx.Models() {
			all = append(all, query.Name{Value: m.Name}.String())
		}
		return nil
	})
	return all
}

func (o own) labels() (all []string) {
	_ = o.View(context.Background(), func(tx *db.Tx) error {
		for _, l := range tx.Labels() {
			all = append(all, query.Name{Value: l}.String())
		}
		return nil
	})
	return all
}

func (o own) nodes(prefix string) (all []string) {
	_ = o.View(context.Background(), func(tx *db.Tx) error {
		scanned := 0
		for n, err := range tx.Nodes() {
			if scanned++; err != nil || scanned > maxScanned || len(all) == maxOffered {
				return err
			}
			if key := n.Key.String(); strings.HasPrefix(key, prefix) {
				all = append(all, key)
			}
		}
		return nil
	})
	return all
}
