package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"kith/cmd/prbench/internal/ogb"
	"kith/cmd/prbench/internal/trial"
	"kith/db/edgelist"
)

// dataset is a data set to play on.
type dataset struct {
	name       string // name of its folder
	sum        string // checksum of its files
	data       *trial.Data
	featureLen int
	classes    []trial.ID // nodes that represent classes; nil means that links are predicted
}

// readData reads the folder of a data set. read is readLinks or readClasses, which also returns the
// names of its files.
func readData(folder string, read func(root fs.FS) (*dataset, []string, error)) (*dataset, error) {
	root := os.DirFS(folder)
	s, files, err := read(root)
	if err == nil {
		var parts []edgelist.Part
		for _, name := range files {
			parts = append(parts, edgelist.Part{Name: name})
		}
		s.name, s.featureLen = filepath.Base(filepath.Clean(folder)), len(s.data.Features[0])
		s.sum, err = sumFiles(root, parts...)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	return s, nil
}

// sumFiles returns a checksum of the content of files.
func sumFiles(root fs.FS, parts ...edgelist.Part) (string, error) {
	sum := sha256.New()
	for _, p := range parts {
		f, err := p.Open(root)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(sum, f)
		f.Close()
		if err != nil {
			return "", fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// sumFile returns a checksum of the content of a file.
func sumFile(name string) (string, error) {
	return sumFiles(os.DirFS(filepath.Dir(name)), edgelist.Part{Name: filepath.Base(name)})
}

// readLinks reads a folder in the format that the authors of the PRB paper publish: entry.npy with
// rows (node, node, 1 or -1) for pairs that are linked or not, and features.npy; or, if the rows
// are (user, item, 1 or -1), user_features.npy and item_features.npy. Items are numbered after the
// users. A folder with u.data is MovieLens 100K.
func readLinks(root fs.FS) (*dataset, []string, error) {
	if _, err := fs.Stat(root, ratingsFile); err == nil {
		d, err := readRatings(root)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", ratingsFile, err)
		}
		return &dataset{data: d}, []string{ratingsFile}, nil
	}
	files := []string{"features.npy"}
	if _, err := fs.Stat(root, files[0]); errors.Is(err, fs.ErrNotExist) {
		files = []string{"user_features.npy", "item_features.npy"}
	}
	var features [][]float32
	users := 0 // 0 means that all nodes are of the same kind
	for i, name := range files {
		rows, err := readMatrix(root, name)
		switch {
		case err != nil:
			return nil, nil, err
		case len(rows) == 0:
			return nil, nil, fmt.Errorf("%s: no nodes", name)
		case i > 0 && len(rows[0]) != len(features[0]):
			return nil, nil, fmt.Errorf("%s: vectors have length %d, those of users %d", name, len(rows[0]), len(features[0]))
		}
		users = len(features)
		features = append(features, rows...)
	}
	files = append(files, "entry.npy")
	rows, err := readMatrix(root, "entry.npy")
	if err != nil {
		return nil, nil, err
	}
	d, err := listed(rows, features, users)
	if err != nil {
		return nil, nil, fmt.Errorf("entry.npy: %w", err)
	}
	return &dataset{data: d}, files, nil
}

// readMatrix returns the rows of a .npy file.
func readMatrix(root fs.FS, name string) (rows [][]float32, err error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := edgelist.NewFeatures(f, edgelist.Options{Format: edgelist.NPY})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for n, err := range list.All() {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, n.Features)
	}
	return rows, nil
}

// listed returns the data of rows (node, node, mark), or (user, item, mark) if there are users.
// Loops are dropped.
func listed(rows [][]float32, features [][]float32, users int) (*trial.Data, error) {
	var links [][2]trial.ID
	var pairs [2][]trial.Pair // not linked, linked
	sources, targets := len(features), len(features)-users
	if users > 0 {
		sources = users
	}
	for i, row := range rows {
		if len(row) != 3 {
			return nil, fmt.Errorf("it must have 3 columns, got %d", len(row))
		}
		a, b, mark := row[0], row[1], row[2]
		if !below(a, sources) || !below(b, targets) || mark != 1 && mark != -1 {
			return nil, fmt.Errorf("row %d is %v, %v, %v (accepted: a node below %d, one below %d, and 1 or -1)", i, a, b, mark, sources, targets)
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

// readClasses reads the labels and features of nodes from a folder in the layout of the Open Graph
// Benchmark.
func readClasses(root fs.FS) (*dataset, []string, error) {
	g, err := ogb.Read(root)
	if err != nil {
		return nil, nil, err
	}
	if g.Labels == nil || g.Features == nil {
		return nil, nil, errors.New("nodes have no labels, or no features")
	}
	for u, l := range g.Labels {
		if l >= g.Nodes {
			return nil, nil, fmt.Errorf("node %d of %d has label %d", u, g.Nodes, l)
		}
	}
	classes := slices.Max(g.Labels) + 1
	if classes < 2 {
		return nil, nil, fmt.Errorf("nodes are of %d classes", classes)
	}
	d, err := trial.Classes(g.Labels, classes, g.Features)
	if err != nil {
		return nil, nil, err
	}
	return &dataset{data: d, classes: d.Offered}, []string{"raw/node-label.csv.gz", "raw/node-feat.csv.gz"}, nil
}
