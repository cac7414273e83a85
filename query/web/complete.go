package web

import (
	"context"
	"fmt"
	"net/http"

	"kith/db"
	"kith/query"
)

// completion is the answer of GET /complete.
type completion struct {
	Word   string   `json:"word"`   // the end of the text that each value replaces
	Values []string `json:"values"` // in the order of the grammar
}

// maxCompleted is the maximum length of a text to complete, in bytes.
const maxCompleted = 1 << 14

// complete answers with the values that complete a statement. Files are never among them.
func (h *handler) complete(w http.ResponseWriter, r *http.Request) {
	text := r.FormValue("text")
	if len(text) > maxCompleted {
		h.fail(w, misunderstood{fmt.Errorf("a text of %d bytes, want at most %d", len(text), maxCompleted)})
		return
	}
	v := h.visitor(r)
	names := query.Vocabulary{
		Run: func(ctx context.Context, statement string) (*query.Rows, error) {
			turn, err := v.looks.take(ctx, v.client)
			if err != nil {
				return nil, err
			}
			defer turn.end()
			return query.Run(ctx, h.g, statement)
		},
		Keys: func(ctx context.Context, text string, most int) ([]db.Key, error) {
			return inView(ctx, h, v, func(ctx context.Context, tx *db.Tx) ([]db.Key, error) {
				return query.KeysBeginning(ctx, tx, text, most)
			})
		},
	}
	c := completion{Values: []string{}}
	word, values := query.Complete(r.Context(), text, names)
	c.Word, c.Values = word, append(c.Values, values...)
	h.write(w, r, c, nil)
}
