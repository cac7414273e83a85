package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// describe answers with the description of the interface.
func (h *handler) describe(w http.ResponseWriter, r *http.Request) {
	var form keyForm
	if text := r.FormValue("keys"); text != "" {
		if err := form.set(text); err != nil {
			h.fail(w, misunderstood{err})
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(h.openAPI(form)) // an error means that the client has gone
}

// openAPI returns the description of the routes by OpenAPI 3.1. It tells of the token if there is
// one. For keysText it describes requests that ask for this form only, so that a node has one type.
func (h *handler) openAPI(form keyForm) schema {
	paths := map[string]schema{}
	for _, r := range routes() {
		if r.does == "" {
			continue
		}
		if paths[r.path] == nil {
			paths[r.path] = schema{}
		}
		paths[r.path][strings.ToLower(r.method)] = h.operation(r, form)
	}
	components := schema{"schemas": schema{"error": errorSchema(), "node": nodeSchema(form), "keys": keysSchema(form)}}
	if h.Token != "" {
		components["securitySchemes"] = schema{"token": schema{"type": "http", "scheme": "bearer"}}
	}
	return schema{
		"openapi": "3.1.1",
		"info": schema{
			"title": "kith", "version": "1",
			"description": "Statements on a graph database that predicts links. The statement HELP lists the statements. A request that must wait " +
				"for too many others has status 503, has changed nothing and may be sent again; clients take turns, by their addresses. A body " +
				"must arrive within " + h.BodyTimeout.String() + ".",
		},
		"paths":      paths,
		"components": components,
	}
}

// operation returns the description of a route.
func (h *handler) operation(r route, form keyForm) schema {
	name := cmp.Or(r.name, strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(r.path, "/"), ".json"), "/", "_"))
	o := schema{"operationId": name, "summary": r.does}
	for _, p := range r.parameters {
		list, _ := o["parameters"].([]schema)
		o["parameters"] = append(list, schema{
			"name": p.name, "in": "query", "description": p.meaning, "required": p.required || p.name == "keys" && form == keysText, "schema": p.schema,
		})
	}
	if r.request != nil {
		if form == keysText {
			r.request["required"] = append(r.request["required"].([]string), "keys")
		}
		o["requestBody"] = schema{"required": true, "content": schema{"application/json": schema{"schema": r.request}}}
	}
	responses := schema{
		"200":     schema{"description": http.StatusText(http.StatusOK), "content": schema{r.answer.kind: schema{"schema": r.answer.schema}}},
		"default": errorResponse("another error"),
	}
	errors := append([]int{http.StatusForbidden}, r.errors...)
	if h.Token != "" && !r.open {
		errors = append(errors, http.StatusUnauthorized)
		o["security"] = []schema{{"token": []string{}}}
		if !h.TokenForReads {
			o["security"] = []schema{{}, {"token": []string{}}} // without one it only reads
		}
	}
	for _, status := range errors {
		responses[strconv.Itoa(status)] = errorResponse(http.StatusText(status))
	}
	o["responses"] = responses
	return o
}

// errorResponse returns the description of an answer that is an error.
func errorResponse(meaning string) schema {
	return schema{"description": meaning, "content": schema{"application/json": schema{"schema": schema{"$ref": "#/components/schemas/error"}}}}
}

// errorSchema returns the schema of an error, which is its answer or the last line of one.
func errorSchema() schema {
	s := schemaOf[errorLine]()
	s["description"] = "an error; line 0 means that it has no position in a statement"
	return s
}
