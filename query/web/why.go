package web

import (
	"context"
	"net/http"

	"kith/db"
)

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
		p := db.PredictOptions{For: source, Model: r.FormValue("model"), Relation: r.FormValue("relation")}
		return explained(ctx, tx, p, target)
	})
	h.write(w, r, e, err)
}
