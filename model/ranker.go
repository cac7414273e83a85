package model

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/nn"
)

// ranker is the part of the default that learns from edges: a network with one hidden layer that
// scores a pair by the columns of the graph and of the feature vectors. It is trained to rank links
// above other candidates of the same source. A level then converts its outputs to log-odds. A
// ranker is immutable.
type ranker struct {
	net   *nn.Network // reads scaled columns
	level level
}

// level converts a score to the log-odds of a link: slope·score + degree·log1p(neighbours out of
// the source) + shift.
type level struct{ Slope, Degree, Shift float64 }

func (l level) of(score, source float64) float64 { return l.Slope*score + l.Degree*source + l.Shift }

// levelLen is the number of numbers of a level.
const levelLen = 3

// numbers returns the numbers of the level, as levelFrom reads them.
func (l level) numbers() []float32 { return nn.Narrow([]float64{l.Slope, l.Degree, l.Shift}) }

func levelFrom(all []float32) level {
	return level{float64(all[0]), float64(all[1]), float64(all[2])}
}

// A trained ranker is the mean of rankerMembers networks with rankerWidth hidden units each. The
// start is one such network.
const (
	rankerWidth   = 48
	rankerMembers = 3
)

// rankerShape returns the shape of the mean of the given number of networks.
func (c *config) rankerShape(members int) nn.Shape {
	return nn.Shape{In: c.rankLen(), Hidden: []int{members * rankerWidth}, Bias: true}
}

// logOdds computes the log-odds of the rows of z, which are scaled columns of pairs.
func (r *ranker) logOdds(t *nn.Tape, z blas32.General, odds []float64) {
	source := z.Cols - column.StructuralLen + column.ColSource
	for i, f := range r.net.Forward(t, z) {
		odds[i] = r.level.of(float64(f), float64(nn.Row(z, i)[source]))
	}
}

// slopes returns the derivatives of the log-odds of a row with respect to its columns.
func (r *ranker) slopes(t *nn.Tape, z blas32.General) []float64 {
	r.net.Forward(t, z)
	r.net.Backward(t, t.RepeatOne(1))
	dx := r.net.InputGradient(t, blas32.General{})
	slopes := make([]float64, z.Cols)
	for i, v := range dx.Data {
		slopes[i] = r.level.Slope * float64(v)
	}
	slopes[z.Cols-column.StructuralLen+column.ColSource] += r.level.Degree
	return slopes
}

// rounded returns v rounded to float32, as the text of a learned start stores it.
func rounded(v float64) float64 { return float64(float32(v)) }

// StartWeights are the weights of a model of policy default before its first outcome or training:
// the weights of a network that was trained on other graphs.
type StartWeights struct{ ranker *ranker } // reads all columns except vectors

// learnedStart holds the weights that parseStart reads, after comments that say how they were
// learned.
//
//go:embed start_weights.txt
var learnedStart string

// startColumns is the version of the columns that a ranker reads. It changes with their meaning,
// scale or order.
const startColumns = 2

// startShape is the shape of a network that reads all columns except the columns of vectors, which
// do not exist before a training.
func startShape() nn.Shape {
	return nn.Shape{In: column.SimilarityLen + column.TopologyLen + column.StructuralLen, Hidden: []int{rankerWidth}, Bias: true}
}

// parseStart decodes the result of StartWeights.String, which may follow comments, lines that begin
// with #. It returns an error for weights of a different version of the columns.
func parseStart(text string) (*StartWeights, error) {
	s := startShape()
	all, err := unpackStart(text, startColumns, s.Params()+levelLen)
	if err != nil {
		return nil, err
	}
	return &StartWeights{&ranker{nn.NewNetwork(s, all[:s.Params()]), levelFrom(all[s.Params():])}}, nil
}

// String returns the weights in base64.
func (s *StartWeights) String() string {
	return packStart(startColumns, s.ranker.net.Theta, s.ranker.level.numbers())
}

// packStart returns the weights of a start in base64, after the version of the columns that they
// are for.
func packStart(version float32, parts ...[]float32) string {
	all := append([]float32{version}, slices.Concat(parts...)...)
	return base64.StdEncoding.EncodeToString(nn.PackFloats(all))
}

// unpackStart returns the n weights that packStart was called with, from text in which comments,
// lines that begin with #, may come first. It returns an error for weights of a different version
// of the columns.
func unpackStart(text string, version float32, n int) ([]float32, error) {
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("a start: %w", err)
	}
	all := make([]float32, 1+n)
	if len(packed) != 4*len(all) || !nn.UnpackFloats(all, packed) || all[0] != version {
		return nil, fmt.Errorf("a start of %d bytes: want %d bytes for version %v of the columns", len(packed), 4*len(all), version)
	}
	return all[1:], nil
}

// startRanker returns the ranker of an untrained model.
func startRanker(c *config) *ranker {
	s := c.rankerShape(1)
	start, err := parseStart(learnedStart)
	if err != nil {
		return blankRanker(s)
	}
	// The columns of the start are the last ones of the model. The columns of vectors precede them
	// and keep weight 0. The weights of similarities are left out for short vectors, because they
	// were learned on words.
	theta, own := start.ranker.net.Theta, nn.NewNetwork(s, nil)
	rest := min(len(theta), len(own.Theta)-c.vectorsLen()*rankerWidth)
	if !c.Words && c.FeatureLen > 0 && c.FeatureLen <= perEntry {
		rest = min(rest, len(theta)-column.SimilarityLen*rankerWidth)
	}
	copy(own.Theta[len(own.Theta)-rest:], theta[len(theta)-rest:])
	return &ranker{own, start.ranker.level}
}

// blankRanker returns a ranker with random weights.
func blankRanker(s nn.Shape) *ranker {
	n := nn.NewNetwork(s, nil)
	n.InitUniform(rand.New(rand.NewPCG(1, 1)))
	return &ranker{n, level{Slope: 1}}
}
