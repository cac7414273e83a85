package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"kith/db"
	"kith/db/words"
)

// lookRoutes returns the routes that the page uses, and other programs may use.
func lookRoutes() []route {
	text := schema{"type": "string"}
	node := func(name, is string) parameter {
		return parameter{name, is + ": an integer, or a string, which needs single quotes if it is of digits", true, text}
	}
	model := parameter{"model", "the model that scores; otherwise the one that answers", false, text}
	relation := parameter{"relation", "the relation of the links; otherwise all together", false, text}
	via := parameter{"via", "a relation whose edges are drawn, or several; otherwise all", false, schema{"type": "array", "items": text}}
	where := parameter{"where", "a condition, as after WHERE, that predicted targets satisfy; other nodes are faint", false, text}
	bare := parameter{"bare", "true leaves out labels and legend, and gives nodes and edges the attributes to make them", false, schema{"type": "boolean"}}
	width := parameter{"width", "width of the picture, about pixels", false, schema{"type": "integer"}}
	picture := content{"image/svg+xml", text}
	busy := []int{http.StatusBadRequest, http.StatusServiceUnavailable}
	errors := append([]int{http.StatusNotFound}, busy...)
	return []route{
		{
			method: http.MethodGet, path: "/complete", does: "Complete a statement.",
			parameters: []parameter{{"text", "the statement up to the cursor", true, text}},
			answer:     content{"application/json", schemaOf[completion]()}, errors: []int{http.StatusBadRequest},
			serve: (*handler).complete,
		},
		{
			method: http.MethodGet, path: "/why", does: "Explain the score of a link in sentences.",
			parameters: []parameter{
				node("source", "the node where the link begins"), node("target", "the node where it ends"), relation, model,
			},
			answer: content{"application/json", schemaOf[explanation]()}, errors: errors,
			serve: (*handler).why,
		},
		{
			method: http.MethodGet, path: "/neighborhood", does: "Draw a node, the nodes around it and its most likely links.",
			parameters: []parameter{node("node", "the node in the center"), relation, via, model, where, bare, width},
			answer:     picture, errors: append(slices.Clone(errors), http.StatusUnprocessableEntity),
			serve: (*handler).neighborhood,
		},
		{
			method: http.MethodGet, path: "/chart/degrees", does: "Draw how many nodes have how many edges.",
			parameters: []parameter{width}, answer: picture, errors: busy,
			serve: (*handler).degrees,
		},
		{
			method: http.MethodGet, path: "/chart/rewards", does: "Draw the rewards of a model over time. Without any, the answer is empty.",
			parameters: []parameter{model, width}, answer: picture, errors: errors,
			serve: (*handler).rewards,
		},
		{
			method: http.MethodGet, path: "/chart/calibration", does: "Draw the rewards that a model predicted against those that were observed. Without any, the answer is empty.",
			parameters: []parameter{model, width}, answer: picture, errors: errors,
			serve: (*handler).calibration,
		},
	}
}

// inView runs f in a transaction that reads, when it is its turn and within the timeout of
// statements.
func inView[T any](ctx context.Context, h *handler, v visitor, f func(context.Context, *db.Tx) (T, error)) (answer T, err error) {
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	turn, err := v.looks.take(ctx, v.client)
	if err == nil {
		defer turn.end()
		err = h.g.View(ctx, func(tx *db.Tx) (err error) {
			answer, err = f(ctx, tx)
			return err
		})
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("the answer, with waiting for its turn, took longer than %v: %w", h.Timeout, ctx.Err())
	}
	return answer, err
}

// nodeOf returns the node that a parameter of a request names.
func nodeOf(r *http.Request, parameter string) (k db.Key, err error) {
	text := r.FormValue(parameter)
	if text == "" {
		return k, misunderstood{fmt.Errorf("the parameter %s is missing", parameter)}
	}
	if err := k.UnmarshalText([]byte(text)); err != nil {
		return k, misunderstood{fmt.Errorf("%s: %s", parameter, words.Plain(err))}
	}
	return k, nil
}

// write answers with a value as JSON, or with an error.
func (h *handler) write(w http.ResponseWriter, r *http.Request, v any, err error) {
	var b bytes.Buffer
	if err == nil {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		err = enc.Encode(v)
	}
	h.look(w, r, "application/json", b.Bytes(), err)
}

// look answers with a body of a media type, or with an error.
func (h *handler) look(w http.ResponseWriter, r *http.Request, kind string, body []byte, err error) {
	if err == nil {
		err = h.visitor(r).reply(w, kind, body)
	}
	if err != nil {
		h.fail(w, err)
	}
}
