// Package web serves a database over HTTP for inspecting a running process. [Handler] answers statements that only
// read. A [Client] sends statements to it, and returns the same rows and errors as [query.Run]. A request is
//
//	POST /query HTTP/1.1
//	Content-Type: application/json
//
//	{"statement": "PREDICT LINKS FOR ? TOP 1", "parameters": ["ann"]}
//
// and its answer is lines of JSON: the columns and which of them hold nodes, a line for each row and each note, and
// the number of rows. An answer that lacks the last line, or ends with an error line instead, is incomplete.
//
//	{"columns":["source","target","rank",...],"keys":["source","target"]}
//	{"row":["ann","cid",1,...]}
//	{"note":"answered by the learned start: there is no model"}
//	{"rows":1}
//
// Parameters are a list for ? or an object for $name.
//
// GET /openapi.json describes all routes. It is derived from the table of routes, as the multiplexer is.
package web
