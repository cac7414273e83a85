package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"kith/db"
)

func TestApplyOnFullDisk(t *testing.T) {
	t.Parallel()
	notShort(t)
	mounted(t, "apply")
}

// applyOnFullDisk applies changes of the graph and of models to a follower on a disk that is full
// at first. It has none of those that were refused, and all of those that were not.
func applyOnFullDisk(at string) error {
	if err := mount(at, 0, "size=96m"); err != nil {
		return err
	}
	ctx := context.Background()
	g, err := db.Open("", &db.Options{InMemory: true, Memory: 64 << 20, ChangeBytes: 1 << 20})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	path, rest, o := filepath.Join(at, "g"), filepath.Join(at, "rest"), db.Options{Memory: 64 << 20, Follower: true}
	_, err = g.WriteTo(ctx, &b)
	err = errors.Join(err, db.Restore(ctx, path, &o, &b), addDone(g, 0), g.Model("m").Create(ctx, db.ModelSpec{}), addDone(g, 1))
	if err != nil {
		return err
	}
	h, err := db.Open(path, &o)
	if err != nil {
		return err
	}
	for change, err := range g.Changes(ctx, 0) {
		if err == nil {
			err = fill(rest)
		}
		if err != nil {
			return err
		}
		if err := h.Apply(ctx, change); !errors.Is(err, db.ErrFull) || !errors.Is(err, syscall.ENOSPC) {
			return fmt.Errorf("change %d on a full disk: %w", change.Version, err)
		}
		s, err := h.Stats()
		if err := errors.Join(err, h.Check(ctx), os.Remove(rest), h.Apply(ctx, change)); err != nil || s.Version != change.Version-1 {
			return fmt.Errorf("change %d after a full disk, which left version %d: %w", change.Version, s.Version, err)
		}
		if change.Version == 3 {
			break
		}
	}
	return errors.Join(edgesOfDone(h, 2), h.Check(ctx), h.Close(), g.Close())
}
