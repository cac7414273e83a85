// Package draw draws the surroundings of a node and the charts of kith as SVG.
//
//	err := draw.Neighborhood(w, n, draw.Options{Standalone: true})
//
// A [Picture] is a list of shapes in a box. Each drawing function makes one and writes it as SVG.
// This package links no rasterizer and no plotting library.
//
// # SVG
//
// Without [Options.Standalone] the output is an element to put into a page under the policy
// default-src 'self': it has no style element, no style attribute and no script, only classes and
// presentation attributes, which every rule of a page's style sheet overrides. Lines and texts have
// the color of the text around them, so the element fits light and dark pages. These are the
// classes, with the attributes that [Options.Bare] adds:
//
//	picture    the svg element
//	node       a link around the circle of a node, with its key as JSON in data-key; the href is # and the escaped JSON;
//	           data-name is a short text, data-number its place in the neighborhood, and data-label its label if there are several
//	center     with node: the center
//	target     with node: the end of a predicted link
//	faint      with node: a node that Options.Fades
//	edge       a line, and the head of its arrow; data-ends are the numbers of its nodes, data-relation is its relation
//	predicted  a dashed line, with data-ends
//	label      a text next to a node
//	legend, axis, grid, tick, series, band, diagonal   parts of legends and charts
//
// With Standalone the output is a file of its own: it has a style element that follows the color
// scheme of the reader.
//
// # Layout
//
// Positions minimize the stress of the drawing, the weighted squared difference between distances
// on paper and in the graph, by majorization (Gansner, Koren, North: Graph Drawing by Stress
// Majorization, 2004, section 2.3), from rings around the center. Edges between nodes with common
// neighbors are shorter, and paths through the center count as longer than they are, because
// otherwise every pair is at most two steps apart and no group shows. The layout of package
// gonum.org/v1/gonum/graph/layout, EadesR2, is not used: it begins at random places, its
// logarithmic springs draw dense groups and the leaves of a hub on top of each other, and it reads
// the nodes in the order of the graph's map. Stress and crossings of edges, by TestLayoutQuality
// (of EadesR2 with the best of three rates):
//
//	               this package    EadesR2         random places
//	star           0.18      0     0.29       0    0.21       0
//	tree           0.06      3     0.24      41    0.59    1673
//	dense groups   0.14   1533     0.40   15976    0.56   31515
//	random graph   0.15   3554     0.21    5312    0.32   19255
//
// A second step moves circles that overlap apart.
//
// A picture is a function of the data and the options: the same input has the same bytes.
package draw
