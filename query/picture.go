package query

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"kith/db"
	"kith/query/internal/draw"
	"kith/query/internal/parse"
)

// pictureActions returns the statements that draw.
func pictureActions() []action {
	return []action{{
		name: "DRAW", access: joins, run: viewing((*run).draw), options: always((*drawing).options),
		columns: []column{
			{name: "file"}, {name: "nodes"}, {name: "edges"}, {name: "predicted"},
			{"nodes_left", "reached by the walk and not drawn"},
			{"edges_left", "between drawn nodes"},
		},
	}}
}

func (r *run) draw(s *parse.Statement) {
	d := drawing{picture: draw.Options{Seed: r.seed, Standalone: true}}
	of := &d.of
	of.Depth, of.Top = int(r.integer(parse.Depth.Of(s), 1, 0)), int(r.integer(parse.Top.Of(s), 1, 0))
	of.Among, of.Model, of.Version = r.where(s, r.candidates(parse.Among.Of(s))), r.model(r.using(s)), r.version(parse.Version.Of(s))
	r.setOptions(parse.With.All(s), d.options())
	of.Of = r.node(parse.Drawn.Of(s))
	if file := r.text(parse.To.Of(s)); !strings.EqualFold(filepath.Ext(file), ".svg") {
		r.refuse(parse.To.Of(s), "a picture in %q: the name of its file must end in .svg", file)
	}
	if r.err != nil {
		return
	}
	var n *db.Neighborhood
	r.via(parse.Via.All(s), nil, func() {
		var err error
		n, err = r.tx.Neighborhood(r.ctx, *of)
		r.fail(err)
	})
	if r.err != nil {
		return
	}
	r.writeFile(parse.To.Of(s), func(file string, w io.Writer) error {
		r.rows.add(file, int64(len(n.Nodes)), int64(len(n.Edges)), int64(len(n.Predicted)), int64(n.NodesLeft), int64(n.EdgesLeft))
		return draw.Neighborhood(n, d.picture).Write(w)
	})
	r.rows.note("predicted links are answered by %s", n.AnsweredBy)
}

// drawing is what DRAW draws, and how.
type drawing struct {
	of      db.NeighborhoodOptions
	picture draw.Options
}

// options returns the options of DRAW.
func (d *drawing) options() []option {
	const side = 10_000
	return []option{
		integerOption("edges", "largest number of edges; three times that of nodes by default", 1, 100_000, &d.of.Edges),
		integerOption("height", "height of the picture; 640 by default", 100, side, &d.picture.Height),
		integerOption("nodes", fmt.Sprintf("largest number of nodes; %d by default", db.MaxNeighborhood), 2, db.MaxNeighborhood, &d.of.Most),
		integerOption("seed", "another seed may give another layout", 0, math.MaxInt64, &d.picture.Seed),
		integerOption("width", "width of the picture; 960 by default", 100, side, &d.picture.Width),
	}
}
