package web

import (
	"context"
	"net/http"

	"kith/db"
	"kith/query/internal/why"
)

// explanation is the answer of GET /why.
type explanation struct {
	Sentences []string `json:"sentences"`
}

// why answers with sentences that say why a link has its score.
func (h *handler) why(w http.ResponseWriter, r *http.Request) {
	e, err := inView(r.Context(), h, h.visitor(r), func(ctx context.Context, tx *db.Tx) (e explanation, err error) {
		source, err := nodeOf(r, "source")
		if err != nil {
			return e, err
		}
		target, err := nodeOf(r, "target")
		if err != nil {
			return e, err
		}
		const paths = 3
		p := db.PredictOptions{For: source, Model: r.FormValue("model"), Relation: r.FormValue("relation")}
		reasons, err := tx.Why(ctx, p, target, paths)
		if err != nil {
			return e, err
		}
		return explanation{append(why.Sentences(reasons), "Answered by "+reasons.AnsweredBy+".")}, nil
	})
	h.write(w, r, e, err)
}
