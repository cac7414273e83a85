package web

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// describe answers with the description of the interface.
func (h *handler) describe(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(h.openAPI()) // an error means that the client has gone
}

// openAPI returns the description of the routes by OpenAPI 3.1. It tells of the token if there is
// one.
func (h *handler) openAPI() schema {
	paths := map[string]schema{}
	for _, r := range routes() {
		if r.does == "" {
			continue
		}
		if paths[r.path] == nil {
			paths[r.path] = schema{}
		}
		paths[r.path][strings.ToLower(r.method)] = h.operation(r)
	}
	components := schema{"schemas": schema{"error": errorSchema()}}
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
func (h *handler) operation(r route) schema {
	name := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(r.path, "/"), ".json"), "/", "_")
	o := schema{"operationId": name, "summary": r.does}
	for _, p := range r.parameters {
		list, _ := o["parameters"].([]schema)
		o["parameters"] = append(list, schema{
			"name": p.name, "in": "query", "description": p.meaning, "required": p.required, "schema": p.schema,
		})
	}
	if r.request != nil {
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
	return schema{"description": meaning, "content": schema{lines: schema{"schema": schema{"$ref": "#/components/schemas/error"}}}}
}

// errorSchema returns the schema of an error, the only line of its answer.
func errorSchema() schema {
	s := schemaOf[errorLine]()
	s["description"] = "an error; line 0 means that it has no position in a statement"
	return s
}
