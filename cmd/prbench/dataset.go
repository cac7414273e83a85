package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"kith/db/edgelist"
	"kith/model/trial"
)

// dataset is a data set to play on.
type dataset struct {
	name       string // name of its folder
	sum        string // checksum of its files
	data       *trial.Data
	featureLen int
	classes    []trial.ID // nodes that represent classes; nil means that links are predicted
}

// readLinks reads a folder in the format that the authors of the PRB paper publish: entry.npy with rows (node, node, 1
// or -1) for pairs that are linked or not, and features.npy; or, if the rows are (user, item, 1 or -1),
// user_features.npy and item_features.npy. Items are numbered after the users.
func readLinks(folder string) (*dataset, error) {
	s := dataset{name: filepath.Base(filepath.Clean(folder))}
	sum := sha256.New()
	features, users, err := readFeatures(folder, sum)
	if err != nil {
		return nil, err
	}
	rows, cols, entries, err := readMatrix(filepath.Join(folder, "entry.npy"), sum)
	if err != nil {
		return nil, err
	}
	if cols != 3 {
		return nil, fmt.Errorf("%s: entry.npy must have 3 columns, got %d", folder, cols)
	}
	s.featureLen = len(features[0])
	if s.data, err = listed(entries[:3*rows], features, users); err != nil {
		return nil, fmt.Errorf("%s: entry.npy: %w", folder, err)
	}
	s.sum = hex.EncodeToString(sum.Sum(nil)[:8])
	return &s, nil
}

// readFeatures returns the vectors of all nodes, users first. 0 users means that the nodes are of one kind.
func readFeatures(folder string, sum hash.Hash) (features [][]float32, users int, err error) {
	n, width, numbers, err := readMatrix(filepath.Join(folder, "features.npy"), sum)
	if errors.Is(err, fs.ErrNotExist) {
		n, users, width, numbers, err = readBipartite(folder, sum)
	}
	if err != nil {
		return nil, 0, err
	}
	if n == 0 {
		return nil, 0, fmt.Errorf("%s: no nodes", folder)
	}
	for i := range n {
		features = append(features, numbers[i*width:(i+1)*width])
	}
	return features, users, nil
}

// readBipartite reads the vectors of users followed by those of items, n in total.
func readBipartite(folder string, sum hash.Hash) (n, users, width int, numbers []float32, err error) {
	users, width, numbers, err = readMatrix(filepath.Join(folder, "user_features.npy"), sum)
	if err != nil {
		return 0, 0, 0, nil, err
	}
	items, itemWidth, more, err := readMatrix(filepath.Join(folder, "item_features.npy"), sum)
	if err != nil {
		return 0, 0, 0, nil, err
	}
	if itemWidth != width || users == 0 {
		return 0, 0, 0, nil, fmt.Errorf("%s: vectors of %d users have length %d, those of items %d", folder, users, width, itemWidth)
	}
	return users + items, users, width, append(numbers, more...), nil
}

// readMatrix reads a .npy file and adds its content to sum.
func readMatrix(name string, sum io.Writer) (rows, cols int, numbers []float32, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, nil, err
	}
	defer f.Close()
	in := io.TeeReader(f, sum)
	if rows, cols, numbers, err = edgelist.ReadMatrix(in); err != nil {
		return 0, 0, nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, cols, numbers, nil
}

// listed returns the data of rows (node, node, mark), or (user, item, mark) if there are users. Loops are dropped.
func listed(entries []float32, features [][]float32, users int) (*trial.Data, error) {
	var links [][2]trial.ID
	var pairs [2][]trial.Pair // not linked, linked
	sources, targets := len(features), len(features)
	if users > 0 {
		sources, targets = users, len(features)-users
	}
	for i := 0; i < len(entries); i += 3 {
		a, b, mark := entries[i], entries[i+1], entries[i+2]
		if !below(a, sources) || !below(b, targets) || mark != 1 && mark != -1 {
			return nil, fmt.Errorf("row %d is %v, %v, %v (accepted: a node below %d, one below %d, and 1 or -1)", i/3, a, b, mark, sources, targets)
		}
		p := trial.Pair{Source: trial.ID(a), Target: trial.ID(b) + trial.ID(users)}
		if p.Source == p.Target {
			continue
		}
		if mark == 1 {
			links = append(links, [2]trial.ID{p.Source, p.Target})
			pairs[1] = append(pairs[1], p)
		} else {
			pairs[0] = append(pairs[0], p)
		}
	}
	d, err := trial.NewData(context.Background(), len(features), links, features)
	if err != nil {
		return nil, err
	}
	if users > 0 {
		d.Bipartite(users)
	}
	d.Negatives, d.Positives = pairs[0], pairs[1]
	return d, nil
}

func below(v float32, n int) bool { return v >= 0 && v < float32(n) && v == float32(int(v)) }
