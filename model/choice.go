package model

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/nn"
)

// choice is a link of a source together with candidates that are not links. A ranker learns from
// choices.
type choice struct {
	x                 *blas32.General // one row for each pair that was read: its scaled columns
	added             [][]float64     // scores of the rows that are added to the network's output; nil: none
	link              int             // row of the link
	from, to          int             // rows of the candidates that are no links: from, from+1, ..., to-1
	standsFor         []float64       // logarithm of the number of candidates that each row stands for; nil: 0
	pairsPerCandidate float64         // number of pairs of the graph that one candidate represents, for each missing link; 0: unknown
	poolWeight        float64         // weight of one candidate in the pool of the candidates of all sources; 0: not in the pool
}

// choiceLearner fits a network to choices with AdamW on the mean loss of a batch. The loss of a
// choice is -log of the probability of the link in a conditional logit (McFadden, 1974) with the
// network's outputs as utilities. It is taken among the candidates of the choice and again,
// weighted by poolShare, among the candidates of all sources in the batch. The first term ranks the
// candidates of a source, the second makes scores of different sources comparable.
type choiceLearner struct {
	net   *nn.Network
	scale *columnScale // scale of the columns that the network reads; nil: unscaled
	guide *guide       // nil: only links are learned
	decay float64      // weight decay
	opt   nn.Optimizer
	parts [nn.Shards]choiceShard
}

const (
	choiceBatch = 128
	choiceDecay = 1e-4
	poolShare   = 0.3
)

// choiceShard is the working memory of a part of a batch.
type choiceShard struct {
	tape    nn.Tape
	x       blas32.General // rows of its choices: for each the link, then the candidates that are no links
	score   []float64      // the network's output for each row
	slope   []float64      // derivative of the loss with respect to score
	slope32 []float32
	grad    []float32
	lists   []choiceList
	advice  advice
}

// choiceList locates the rows of a choice: row link is the link, rows link+1, ..., end-1 are the
// candidates that are no links.
type choiceList struct {
	link, end  int
	poolWeight float64
}

// learn makes one step.
func (l *choiceLearner) learn(ctx context.Context, all []choice, batch []int) error {
	err := nn.Parallel(ctx, nn.Shards, func(i int) {
		l.parts[i].forward(l.net, l.scale, all, batch[i*len(batch)/nn.Shards:(i+1)*len(batch)/nn.Shards])
		l.parts[i].advice.read(l.guide, l.parts[i].x)
	})
	if err != nil {
		return err
	}
	choiceLoss(l.parts[:])
	if err := nn.Parallel(ctx, nn.Shards, func(i int) { l.parts[i].backward(l.net, len(batch)) }); err != nil {
		return err
	}
	clear(l.opt.Grad)
	for i := range l.parts {
		nn.AddTo(l.opt.Grad, l.parts[i].grad)
	}
	l.opt.Decoupled(l.net.Theta, l.decay)
	return nil
}

// forward computes the scores of choices.
func (p *choiceShard) forward(n *nn.Network, scale *columnScale, all []choice, part []int) {
	p.lists, p.score, p.slope = p.lists[:0], p.score[:0], p.slope[:0]
	rows := 0
	for _, k := range part {
		rows += 1 + all[k].to - all[k].from
	}
	cols := n.Shape.In
	p.x = nn.Resize(p.x, rows, cols)
	at := 0
	for _, k := range part {
		c := &all[k]
		end := at + 1 + c.to - c.from
		scale.read(nn.Rows(p.x, at, at+1), nn.Row(*c.x, c.link))
		scale.read(nn.Rows(p.x, at+1, end), c.x.Data[c.from*cols:c.to*cols])
		p.lists = append(p.lists, choiceList{at, end, c.poolWeight})
		at = end
	}
	if rows == 0 {
		return
	}
	for _, f := range n.Forward(&p.tape, p.x) {
		p.score = append(p.score, float64(f))
	}
	for i, k := range part {
		for j, v := range all[k].standsFor {
			p.score[p.lists[i].link+1+j] += v
		}
	}
	p.slope = slices.Grow(p.slope, rows)[:rows]
}

// backward computes the gradient of the loss for a batch with the given number of choices.
func (p *choiceShard) backward(n *nn.Network, choices int) {
	p.slope32 = p.slope32[:0]
	for _, v := range p.slope {
		p.slope32 = append(p.slope32, float32(v/float64(choices)))
	}
	p.grad = n.Gradient(&p.tape, p.slope32, p.grad)
}

// choiceLoss returns the loss of the choices of a batch and stores its slopes in the parts.
func choiceLoss(parts []choiceShard) (loss float64) {
	for i := range parts {
		p := &parts[i]
		for _, l := range p.lists {
			loss += softmaxLoss(p.score[l.link:l.end], p.slope[l.link:l.end])
			loss += p.advice.loss(p.score, p.slope, l)
		}
	}
	return loss + poolLoss(parts)
}

// softmaxLoss returns -log of the probability of the first score under a softmax, and stores the
// slopes.
func softmaxLoss(score, slope []float64) float64 {
	top, sum := slices.Max(score), 0.0
	for i, f := range score {
		slope[i] = math.Exp(f - top)
		sum += slope[i]
	}
	for i := range slope {
		slope[i] /= sum
	}
	loss := math.Log(sum) + top - score[0]
	slope[0]--
	return loss
}

// poolLoss returns the loss of the links among the candidates of all sources, and adds its slopes.
func poolLoss(parts []choiceShard) (loss float64) {
	top, sum := math.Inf(-1), 0.0
	eachPooled(parts, func(p *choiceShard, l choiceList) { top = max(top, slices.Max(p.score[l.link:l.end])) })
	eachPooled(parts, func(p *choiceShard, l choiceList) {
		for _, f := range p.score[l.link+1 : l.end] {
			sum += l.poolWeight * math.Exp(f-top)
		}
	})
	each := 0.0 // sum of 1 / (sum + e) over the links
	eachPooled(parts, func(p *choiceShard, l choiceList) {
		e := math.Exp(p.score[l.link] - top)
		loss += poolShare * (math.Log(sum+e) + top - p.score[l.link])
		each += 1 / (sum + e)
		p.slope[l.link] += poolShare * (e/(sum+e) - 1)
	})
	eachPooled(parts, func(p *choiceShard, l choiceList) {
		for i := l.link + 1; i < l.end; i++ {
			p.slope[i] += poolShare * l.poolWeight * math.Exp(p.score[i]-top) * each
		}
	})
	return loss
}

func eachPooled(parts []choiceShard, f func(*choiceShard, choiceList)) {
	for i := range parts {
		for _, l := range parts[i].lists {
			if l.poolWeight > 0 {
				f(&parts[i], l)
			}
		}
	}
}

// loss returns the mean loss of the choices.
func (l *choiceLearner) loss(ctx context.Context, all []choice) (mean float64, err error) {
	batches := slices.Collect(slices.Chunk(nn.Numbers(len(all)), choiceBatch))
	losses := make([]float64, len(batches))
	err = nn.Parallel(ctx, nn.Shards, func(i int) {
		part := l.parts[i : i+1]
		for b := i; b < len(batches); b += nn.Shards {
			part[0].forward(l.net, l.scale, all, batches[b])
			losses[b] = choiceLoss(part)
		}
	})
	for _, loss := range losses {
		mean += loss
	}
	return mean / float64(max(1, len(all))), err
}

// pace is the progress of one of several members, which are trained one after the other. The zero
// pace has no limit.
type pace struct {
	to              *Meter
	member, members int
}

// spent returns the share of the member's time that has passed.
func (p pace) spent() float64 { return p.to.Spent()*float64(p.members) - float64(p.member) }

// fitNetwork trains a copy of network from on the choices of train for the given number of passes,
// or for the time of the pace. It returns the state with the least loss on valid, measured before
// the first pass and after each pass. The columns that scale leaves out get weight 0.
func fitNetwork(
	ctx context.Context, rng *rand.Rand, from *nn.Network, scale *columnScale, train, valid []choice, passes int, rate float64, at pace,
) (*nn.Network, error) {
	if len(train) == 0 { // every node is linked to all others
		return from, nil
	}
	l := &choiceLearner{
		net: from.Clone(), scale: scale, decay: choiceDecay,
		opt: nn.NewOptimizer(nn.Fit{Adam: true, Rate: rate}, len(from.Theta)),
	}
	l.scale.enter(l.net)
	best := l.net.Clone()
	least, err := l.loss(ctx, valid)
	if err != nil {
		return nil, err
	}
	order := nn.Numbers(len(train))
	steps, total := 0, passes*((len(order)+choiceBatch-1)/choiceBatch)
	for ended := false; !ended; {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for batch := range slices.Chunk(order, choiceBatch) {
			steps++
			spent := min(at.spent(), 1)
			ended = steps == total || spent == 1
			turn := max(math.Pi*float64(steps)/float64(total), math.Pi*spent)
			l.opt.Rate = rate * (0.05 + 0.95*(1+math.Cos(turn))/2)
			if err := l.learn(ctx, train, batch); err != nil {
				return nil, err
			}
			if ended {
				break
			}
		}
		switch loss, err := l.loss(ctx, valid); {
		case err != nil:
			return nil, err
		case loss < least:
			best, least = l.net.Clone(), loss
		}
		at.to.Step(1)
	}
	l.scale.leave(best)
	if !nn.Finite(best.Theta...) {
		return nil, errors.New("a ranker is not finite")
	}
	return best, nil
}

// columnScale scales columns to mean 0 and variance 1: (x - mean) factor. Factor 0 leaves a column
// out. Constant columns have it.
type columnScale struct{ mean, factor []float32 }

// read sets x to rows, scaled unless s is nil.
func (s *columnScale) read(x blas32.General, rows []float32) {
	if s == nil {
		copy(x.Data, rows)
		return
	}
	nn.Scaled(x, rows, s.mean, s.factor)
}

// scaleChoices is the number of choices from whose rows a scale is computed.
const scaleChoices = 1000

// scaleOf returns the scale of the rows of choices.
func scaleOf(all []choice) *columnScale {
	if len(all) == 0 {
		return new(columnScale)
	}
	rows := 0
	all = all[:min(len(all), scaleChoices)]
	for _, c := range all {
		rows += c.to - c.from
	}
	x := nn.Resize(blas32.General{}, rows, all[0].x.Cols)
	at := 0
	for _, c := range all {
		at += copy(x.Data[at:], c.x.Data[c.from*x.Cols:c.to*x.Cols])
	}
	mean, factor := nn.Standardise(x)
	return &columnScale{mean, factor}
}

// leaveOut leaves out the columns of a family.
func (s *columnScale) leaveOut(f column.Family, columns []column.Column) {
	for j := range s.factor {
		if columns[j].Family == f {
			s.factor[j] = 0
		}
	}
}

// enter changes a network that reads unscaled columns to one that reads scaled columns.
func (s *columnScale) enter(n *nn.Network) {
	d := n.Dense[0]
	for j, by := range s.factor {
		w := d.W[j*d.Out : (j+1)*d.Out]
		for k := range w {
			d.B[k] += s.mean[j] * w[k]
			if by != 0 {
				w[k] /= by
			}
		}
	}
}

// leave is the reverse of enter, except that columns with factor 0 get weight 0.
func (s *columnScale) leave(n *nn.Network) {
	d := n.Dense[0]
	for j, by := range s.factor {
		w := d.W[j*d.Out : (j+1)*d.Out]
		for k := range w {
			w[k] *= by
			d.B[k] -= s.mean[j] * w[k]
		}
	}
}

// guide is a second teacher of a network that learns choices. A share of the target distribution is
// the softmax of the guide's scores of the candidates, the rest is the link. A small share of a
// simple formula keeps the network near that formula where graphs differ (label smoothing: Szegedy
// et al., CVPR 2016). With a share of 1 the network learns only from the guide (distillation:
// Hinton, Vinyals and Dean, 2015).
type guide struct {
	share float64
	score func(t *nn.Tape, x blas32.General) []float32 // scores of the rows; a choice with equal scores gets no advice
}

// guideByResource scores candidates by a power of their resource allocation; the exponent suits
// most graphs.
func guideByResource(share float64) *guide {
	const power = 1.2
	column, by := column.SimilarityLen+column.TopResource, power/column.TopologyColumns()[column.TopResource].Scale
	return &guide{share, func(_ *nn.Tape, x blas32.General) []float32 {
		score := make([]float32, x.Rows)
		for i := range score {
			score[i] = by * nn.Row(x, i)[column]
		}
		return score
	}}
}

// guideByNetwork scores candidates by a network, with share 1.
func guideByNetwork(n *nn.Network) *guide { return &guide{1, n.Forward} }

// advice holds a guide's scores for the rows of a part of a batch.
type advice struct {
	share float64
	score []float32
	tape  nn.Tape
}

// read stores the guide's scores of the rows of x, which are unscaled columns.
func (a *advice) read(g *guide, x blas32.General) {
	if g != nil && x.Rows > 0 {
		a.share, a.score = g.share, g.score(&a.tape, x)
	}
}

// loss returns the change of the loss of a choice by the advice and adds its slopes.
func (a *advice) loss(score, slope []float64, l choiceList) (loss float64) {
	if a.share == 0 {
		return 0
	}
	from := a.score[l.link:l.end]
	top := slices.Max(from)
	if top == slices.Min(from) {
		return 0
	}
	sum := 0.0
	for _, v := range from {
		sum += math.Exp(float64(v - top))
	}
	for i, v := range from {
		q := a.share * math.Exp(float64(v-top)) / sum
		loss -= q * score[l.link+i]
		slope[l.link+i] -= q
	}
	slope[l.link] += a.share
	return loss + a.share*score[l.link]
}
