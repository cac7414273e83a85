package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"kith/db"
)

// verb is a route of requests whose body is a B, an object with a member for each operand, and
// whose answer is an A, which is JSON. It runs in one transaction.
type verb[B asking, A any] struct {
	path, does string
	name       string // of the operation, if the path has another one
	writes     bool
	errors     []int // statuses of errors, in addition to the errors of every verb
	run        func(context.Context, *db.Tx, *B) (A, error)
}

// asking is the body of a verb.
type asking interface {
	form() keyForm // how its nodes, and the nodes of the answer, are written
	shape() string // what tells how long it takes
	rows() int     // number of links that it asks for
}

// body is the part that the bodies of all verbs have.
type body struct {
	Keys keyForm `json:"keys,omitempty"`
}

func (b body) form() keyForm { return b.Keys }
func (body) shape() string   { return "" }
func (body) rows() int       { return 0 }

// verbRoutes returns the routes of the verbs.
func verbRoutes() []route {
	return []route{
		verb[predictBody, predicted]{
			path: "/predict", does: "Rank the links that may come next from a node.", errors: []int{http.StatusNotFound}, run: predict,
		}.route(),
		verb[chooseBody, chosen]{
			path: "/choose", does: "Draw one candidate or more at random for a node, and keep the decision.", writes: true,
			errors: []int{http.StatusNotFound}, run: choose,
		}.route(),
		verb[rewardBody, rewarded]{
			path: "/reward", does: "Report the outcome of a decision. The same reward again changes nothing; another one is a conflict.", writes: true,
			errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusGone}, run: reward,
		}.route(),
		verb[observeBody, observed]{
			path: "/observe", does: "Tell a model what became of a link. The same id again changes nothing.", writes: true,
			errors: []int{http.StatusNotFound}, run: observe,
		}.route(),
		verb[whyBody, explanation]{
			path: "/why", does: "Explain the score of a link.", name: "explain", errors: []int{http.StatusNotFound}, run: explain,
		}.route(),
		verb[nodesBody, put]{
			path: "/nodes", does: "Put nodes into the graph: all or, after an error, none.", writes: true,
			errors: []int{http.StatusConflict}, run: putNodes,
		}.route(),
		verb[edgesBody, put]{
			path: "/edges", does: "Put edges into the graph: all or, after an error, none. Nodes and relations that they lack are made.", writes: true,
			errors: []int{http.StatusConflict}, run: putEdges,
		}.route(),
	}
}

// route returns the row of the verb in the table of routes.
func (v verb[B, A]) route() route {
	return route{
		method: http.MethodPost, path: v.path, does: v.does, name: v.name, request: schemaOf[B]().withoutNull(),
		answer: content{"application/json", schemaOf[A]().withoutNull()},
		errors: append(v.errors,
			http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
			http.StatusUnprocessableEntity, http.StatusServiceUnavailable),
		serve: func(h *handler, w http.ResponseWriter, r *http.Request) {
			h.post(w, r, "application/json", func(text []byte) (*task, error) { return v.task(h, text) })
		},
	}
}

// task returns the task that a request asks for.
func (v verb[B, A]) task(h *handler, text []byte) (*task, error) {
	b, err := decodeBody[B](text)
	switch {
	case err != nil:
		return nil, err
	case b.rows() > h.MaxRows:
		return nil, fmt.Errorf("%w: an answer has at most %d links, and %d are asked for", db.ErrTooLarge, h.MaxRows, b.rows())
	}
	run := func(ctx context.Context, may allowed) (answer []byte, err error) {
		begin := h.g.View
		if v.writes {
			if begin = h.g.Update; !may.write {
				return nil, fmt.Errorf("%w: POST %s is refused here, where requests only look at the database", db.ErrReadOnly, v.path)
			}
		}
		err = begin(ctx, func(tx *db.Tx) error {
			a, err := v.run(ctx, tx, &b)
			if err == nil {
				answer, err = marshal(a, b.form())
			}
			may.end() // others run while the commit is synced
			return err
		})
		return answer, err
	}
	return &task{shape: v.path + " " + b.shape(), writes: v.writes, run: run}, nil
}

// marshal returns a value as JSON, with nodes in a form.
func marshal(v any, form keyForm) ([]byte, error) {
	spelled, err := form.spell(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err = enc.Encode(spelled)
	return b.Bytes(), err
}
