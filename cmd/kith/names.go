package main

import (
	"context"
	"strings"

	"kith/db"
	"kith/query/parse"
)

// maxScanned is the maximum number of nodes searched for keys to offer.
const maxScanned = 50_000

// own lists the names in a database that this process has open. A name that cannot be read is left out without an
// error, because the user has not asked for it.
type own struct{ *db.DB }

func (o own) models() (all []string) {
	_ = o.View(context.Background(), func(tx *db.Tx) error {
		for _, m := range tx.Models() {
			all = append(all, parse.Name{Value: m.Name}.String())
		}
		return nil
	})
	return all
}

func (o own) labels() (all []string) {
	_ = o.View(context.Background(), func(tx *db.Tx) error {
		for _, l := range tx.Labels() {
			all = append(all, parse.Name{Value: l}.String())
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
