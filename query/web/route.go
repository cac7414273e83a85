package web

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"time"

	"kith/db"
)

// route is a row of the table of routes. The multiplexer, the description of the interface and its
// test are derived from the table.
type route struct {
	method, path string // as in a pattern of http.ServeMux, without wildcards: a node is a parameter of the URL
	does         string // for the description: what the request does; "" leaves the route out
	name         string // of the operation, for the description; "" means as the path
	parameters   []parameter
	request      schema  // of the JSON body; nil: none
	answer       content // of status 200
	errors       []int   // statuses of errors, in addition to the errors of every route
	open         bool    // whether it tells nothing of the database, so that it never needs the token
	serve        func(*handler, http.ResponseWriter, *http.Request)
}

// parameter is a parameter of the URL: ?name=value.
type parameter struct {
	name, meaning string
	required      bool
	schema        schema
}

// content is the body of an answer.
type content struct {
	kind   string // its media type
	schema schema // of the body, or of a line of it if the kind is lines
}

// lines is the media type of an answer that is a JSON value a line.
const lines = "application/jsonl"

// routes returns the table of routes. It is a function because the description is a route that
// reads the table.
func routes() []route {
	return slices.Concat(pageRoutes(), lookRoutes(), verbRoutes(), []route{
		changesRoute(),
		{
			method: http.MethodPost, path: "/query", does: "Run a statement.",
			request: schemaOf[request](), answer: content{lines, lineSchema()},
			errors: []int{
				http.StatusBadRequest, http.StatusNotFound, http.StatusRequestTimeout, http.StatusConflict, http.StatusGone,
				http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
				http.StatusServiceUnavailable, http.StatusGatewayTimeout,
			},
			serve: (*handler).query,
		},
		{
			method: http.MethodGet, path: "/stats", does: "Return the figures of the database.",
			answer: content{"application/json", schemaOf[db.Stats]()}, errors: []int{http.StatusServiceUnavailable},
			serve: (*handler).stats,
		},
		{
			method: http.MethodGet, path: "/metrics", does: "Return the figures of the database for Prometheus.",
			answer: content{"text/plain; version=0.0.4; charset=utf-8", schema{"type": "string"}}, errors: []int{http.StatusServiceUnavailable},
			serve: (*handler).metrics,
		},
		{
			method: http.MethodGet, path: "/openapi.json", does: "Return this description.",
			parameters: []parameter{{"keys", "text describes requests whose nodes, and the nodes of their answers, are strings, so that a node has one type", false, schemaOf[keyForm]()}},
			answer:     content{"application/json", schema{"type": "object", "required": []string{"openapi", "info", "paths"}}}, errors: []int{http.StatusBadRequest},
			open: true, serve: (*handler).describe,
		},
	})
}

// multiplexer returns the handler of all routes. A path that is not clean, such as //query or
// /x/../query, is none.
func (h *handler) multiplexer() http.Handler {
	mux, table := http.NewServeMux(), map[string]*route{}
	for _, r := range routes() {
		pattern := r.method + " " + r.path
		table[pattern] = &r
		mux.HandleFunc(pattern, func(w http.ResponseWriter, q *http.Request) { r.serve(h, w, q) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wanted, preflight := r, h.isPreflight(r)
		if preflight {
			wanted = r.Clone(r.Context())
			wanted.Method = r.Header.Get("Access-Control-Request-Method")
		}
		refused, pattern := mux.Handler(wanted)
		to := table[pattern]
		if path.Clean(r.URL.Path) != r.URL.Path {
			to, refused = nil, http.NotFoundHandler()
		}
		harden(w.Header())
		h.share(w.Header(), r)
		control := http.NewResponseController(w)
		if deadline(control.SetWriteDeadline, time.Now().Add(2*h.Timeout)) != nil {
			return // the client has gone
		}
		if r.ContentLength != 0 { // no answer waits for a body, unless the route reads it
			w.Header().Set("Connection", "close")
			defer func() {
				if w.Header().Get("Connection") != "" {
					_ = deadline(control.SetReadDeadline, time.Now()) // fails if the client has gone
				}
			}()
		}
		switch status, err := h.admit(r, to); {
		case err != nil:
			fail(w, status, err)
		case to == nil:
			refused.ServeHTTP(&refusal{w}, r)
		case preflight:
			permit(w, to)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

var errNoRoute = errors.New("there is nothing at this path; GET /openapi.json lists what there is")

// refusal replaces the text of the multiplexer, for a path or a method that has no route, by an
// error in JSON.
type refusal struct{ http.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (r *refusal) WriteHeader(status int) {
	err := errNoRoute
	if status == http.StatusMethodNotAllowed {
		err = fmt.Errorf("the method must be %s", r.Header().Get("Allow"))
	}
	fail(r.ResponseWriter, status, err)
}

// Write implements http.ResponseWriter. It drops the text.
func (r *refusal) Write(b []byte) (int, error) { return len(b), nil }
