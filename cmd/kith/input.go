package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"kith/db"
	"kith/db/edgelist"
	"kith/query"
)

// input is one file to load.
type input struct {
	name    string
	kind    edgelist.Kind
	keyless bool
	label   string          // label of the nodes of a list of nodes
	part    *edgelist.Part  // the part of a folder that the file is; nil for a file of its own
	notes   []edgelist.Note // files and arrays of the folder that are not read
	// open returns the file and its length, or 0 if the length is unknown.
	open func(context.Context) (io.ReadCloser, int64, error)
}

// inputs returns the files that an argument denotes: the file itself, standard input for -, the
// file at a URL, or the parts of a folder. It returns an error if a file does not exist.
func (l *load) inputs(arg string, kind edgelist.Kind) ([]input, error) {
	in := input{name: filepath.Base(arg), kind: kind, keyless: l.keyless}
	if kind != edgelist.Edges {
		in.label = l.nodeLabel
	}
	if arg == "-" {
		in.name = "stdin"
		in.open = func(ctx context.Context) (io.ReadCloser, int64, error) {
			return query.Pipe(ctx, l.stdin), 0, nil
		}
		return []input{in}, nil
	}
	if !isFile(arg) {
		u, err := url.Parse(arg)
		if err != nil {
			return nil, err
		}
		in.name = path.Base(u.Path)
		in.open = func(ctx context.Context) (io.ReadCloser, int64, error) { return l.download(ctx, arg) }
		return []input{in}, nil
	}
	info, err := os.Stat(arg)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir() && kind == edgelist.Edges:
		return l.folder(arg)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", arg)
	}
	in.open = func(ctx context.Context) (io.ReadCloser, int64, error) {
		return openSized(query.OpenFile(ctx, arg, os.O_RDONLY, 0))
	}
	return []input{in}, nil
}

// isFile reports whether an argument is not a URL.
func isFile(arg string) bool {
	return !strings.HasPrefix(arg, "http://") && !strings.HasPrefix(arg, "https://")
}

// folder returns the files of a graph in a folder.
func (l *load) folder(name string) (list []input, err error) {
	root := os.DirFS(name)
	parts, err := db.FolderParts(root, l.options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, p := range parts {
		list = append(list, input{name: p.Name, kind: p.Kind, keyless: p.Keyless, label: p.Label, part: &p, notes: p.Notes, open: func(ctx context.Context) (io.ReadCloser, int64, error) {
			return openSized(query.Await(ctx, func() (io.ReadCloser, error) { return p.Open(root) }))
		}})
	}
	return list, nil
}

// openSized returns an opened file with its length.
func openSized[F io.ReadCloser](f F, err error) (io.ReadCloser, int64, error) {
	if err != nil {
		return nil, 0, err
	}
	size := int64(0)
	if s, ok := any(f).(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := s.Stat(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
	}
	return f, size, nil
}
