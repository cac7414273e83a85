package db

import (
	"context"
	"iter"
	"time"

	"kith/index"
	"kith/model"
)

// instant returns the time of a question about a source, in Unix seconds; 0 means none. See Prediction.At.
func (tx *Tx) instant(source index.ID, at time.Time) int64 {
	v := tx.view()
	newest := v.Events.Latest()
	switch {
	case !at.IsZero():
		return at.Unix()
	case newest == 0 || !v.Graph.HasEdges(source):
		return 0
	}
	return min(tx.db.opts.Now().Unix(), newest+1)
}

// trainedEvents is the number of the newest events that a training learns.
const trainedEvents = 8192

// moments yields the newest events of the graph, the earliest first, each with the world before it.
func (tx *Tx) moments(ctx context.Context) iter.Seq2[model.Moment, error] {
	return func(yield func(model.Moment, error) bool) {
		for m := range tx.snap.Moments(trainedEvents) {
			now := model.Moment{World: model.World{Graph: m.Graph, Now: m.Time}}
			for _, e := range m.Events {
				now.Links = append(now.Links, model.Pair{Source: e.U, Target: e.V})
			}
			if !yield(now, ctx.Err()) {
				return
			}
		}
	}
}

// follow trains a model on the newest events if the model uses times.
func (tx *Tx) follow(ctx context.Context, m *model.Model) error {
	if !m.Forecasts() {
		return nil
	}
	return tx.named(m.TrainEvents(ctx, tx.moments(ctx)))
}

var _ model.Timed = (*index.Graph)(nil)
