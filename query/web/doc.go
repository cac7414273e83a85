// Package web serves a database over HTTP. [Handler] answers statements that only read; with a
// token, [Options.Handler] also answers statements that write. A [Client] sends statements to it,
// and returns the same rows and errors as [query.Run]. A request is
//
//	POST /query HTTP/1.1
//	Content-Type: application/json
//
//	{"statement": "PREDICT LINKS FOR ? TOP 1", "parameters": ["ann"]}
//
// and its answer is lines of JSON: the columns, the columns that hold nodes, a line for each row
// and each note, and the number of rows. An answer that lacks the last line, or ends with an error
// line instead, is incomplete.
//
//	{"columns":["source","target","rank",...],"keys":["source","target"]}
//	{"row":["ann","cid",1,...]}
//	{"note":"answered by the built-in model: the database has no model"}
//	{"rows":1}
//
// A request with "progress": true gets lines of progress before the columns, while a statement such
// as TRAIN works. After such a line the status is 200, so that a failure is only the last line.
//
// # Requests without the language
//
// POST /predict, /choose, /reward, /observe, /why, /nodes and /edges take their operands as members
// of a JSON object, and answer with one. Each is one transaction, and has the limits and rights
// that a statement has. A member has the same name and meaning in all:
//
//	source, target   nodes
//	relation         of the link; inverse ranks the nodes where its links begin
//	candidates       a list of nodes, or an object such as {"label": "post"}, {"neighbors": 2},
//	                 {"ppr": 100} or {"all": true}; via, a list of relations, goes with neighbors
//	                 and ppr, and within, such as "7d", with neighbors
//	except           nodes that are no candidates, in the same way
//	where            conditions on candidates, such as [{"of": "price", "op": "<", "value": 20}]
//	model            a model or, to predict, a heuristic
//	time             such as "2026-11-01" or "2026-11-01T10:00:00Z"
//	reward           of an outcome; insert adds the link of a reward of 1
//	keys             "text" writes nodes as strings, in the request and in the answer
//
// For example
//
//	POST /choose   {"source": "ann", "candidates": {"label": "post"}, "places": 10}
//	               {"decision": 17, "places": [{"place": 1, "target": "p7", ...}, ...], ...}
//	POST /reward   {"decision": 17, "place": 3, "reward": 1, "examined": "above"}
//	               {"decision": 17, "places": [{"place": 3, "target": "p2", "new": true, ...}], ...}
//	POST /observe  {"source": "ann", "target": "p9", "reward": 1, "id": "click 18"}
//	               {"new": true, "model": "default", "edge_added": false}
//	POST /nodes    {"nodes": [{"node": "p7", "label": "post", "properties": {"tags": ["red"]}}]}
//	               {"nodes_added": 1, "edges_added": 0, "changed": 0}
//	POST /edges    {"edges": [{"source": "ann", "target": "p7", "relation": "likes"}], "create": true}
//	               {"nodes_added": 0, "edges_added": 1, "changed": 0}
//
// A value of a property is true, false, a number, a string, a list of strings, or an object that
// names its type, because 12 and 12.0 are one number to many programs. With "create": true a node
// or an edge that exists is an error; otherwise it is changed.
//
// # Errors
//
// An answer whose status is not 200 is a JSON object {"error": {"kind": ..., "text": ..., ...}}.
// The statuses are those of all requests, of statements too:
//
//	400  a request that is not understood: no JSON, a member that is missing, unknown or of a wrong type
//	401  a request that needs the token
//	403  a request that may not be made here: from elsewhere, to a server that only reads, to a file
//	404  a node, an edge, a relation, a label, a property, a model or a decision that does not exist
//	405  another method; 404 another path
//	408  a body that arrives too slowly; 413 one that is too large; 415 one that is no JSON by its type
//	409  a node, an edge or a model that exists already, and another reward for a place that has one
//	410  a decision that has expired, and changes that are forgotten
//	422  a request that cannot be carried out: a statement with a fault, a value that is not accepted
//	500  a fault of the disk or of kith
//	503  too many requests, or a closed database; it may be sent again
//	504  a request that took too long
//
// The same reward again, and an observation whose id is known, are no errors: the answer says that
// they are not new, and nothing has changed.
//
// # Parameters and nodes
//
// Parameters are a list for ? or an object for $name. A parameter is a number, a string, true,
// false, null, a list of such values, or {"key": node}. A request that has other members, a member
// twice, or half of a surrogate pair in a string is refused.
//
// A node is an integer or a string of JSON, and 7 and "7" are two nodes. JavaScript, among others,
// reads integers above 2^53 with other digits; a request with "keys": "text" gets nodes as strings,
// and writes them so in {"key": node}: 7 is the integer, ann the string, and '7', in single quotes,
// the string 7. See [db.Key.MarshalText].
//
// A numerical error that is not known is null, as every value is that is absent.
//
// GET / is a page for people. It opens on a node, which GET /start chooses, with a picture of the
// nodes around it, its likely links and the reasons for them; the legend of the picture switches
// relations off and on, and a filter leaves only targets with some properties. It runs statements,
// saves them in the browser, and gives their answers as CSV. It shows models, what was shown and
// clicked by day, and the database; with the token it creates models and trains them. Its files are
// in the folder page; it needs nothing from other servers. Keys are text there, whatever they hold,
// and the Content-Security-Policy of every answer allows no other script. GET /events sends the
// figures each second.
//
// GET /openapi.json describes the routes that other programs may use. It is derived from the table
// of routes, as the multiplexer is. With ?keys=text it describes requests with "keys": "text", in
// which a node has one type, a string: make clients of typed languages from that. The folder
// examples has a client in Python and one in JavaScript, which run the loop choose, reward,
// predict.
//
// # Changes
//
// GET /changes?since=V answers with the changes after version V as they become durable, a line of
// JSON each, for as long as the client reads; see [db.DB.Changes], whose errors it has: status 422
// if the database keeps no changes, 410 for a version that is forgotten, 409 for one to come.
// Without since it begins with the oldest change that is kept, with until=V it ends with the change
// of version V, and with keys=text the nodes are strings as in answers of POST /query. An empty
// line at least every 10 seconds means that the server is there. A last line that is an error says
// why the feed ended. There are at most 16 feeds at a time; a new client gets the place of a client
// that has several. A client that takes longer than [Options.Timeout] to read a line is
// disconnected. [Client.Changes] reads a feed.
//
// # Writing
//
// A request that has the token of [Options.Token], as Authorization: Bearer TOKEN, may change nodes
// and edges, choose, reward, observe, and create, train, deploy and drop models. A session for
// these is Confined; see [query.Session]. No request accesses a file, because a file belongs to the
// machine and not to the database: LOAD, EXPORT, IMPORT, BACKUP and EVALUATE of files are refused.
// So are BEGIN and SET, because a request is one statement, whose session ends with it: a
// transaction left open would block all writers.
//
// An answer with status 200 means that the change is durable. An answer with an error means that
// the statement has changed nothing, also if its time was over. The exceptions are status 500, a
// fault of the disk or of kith, and an error of kind closed. If there is no answer, because the
// connection broke, the change may have been made. Then a client may send MERGE and REWARD, and
// POST /nodes, /edges and /reward, again: they have the same effect twice, and the answer to a
// reward says that it is not new. DELETE and INSERT, and POST /nodes and /edges with create, fail
// the second time, CHOOSE makes another decision, which expires, and OBSERVE teaches twice unless
// it has an id. So a program that must be able to repeat a lesson gives it an id, or uses CHOOSE
// and REWARD.
//
// A program that serves a handler at a Unix socket decides by the mode of the file who may connect;
// a peer there counts as this machine. kith serve adds the token to requests at its socket.
//
// # Limits
//
// Anyone on this machine may read, unless [Options.TokenForReads] is set. Pages of other origins
// may not: requests with a foreign Host, Origin or Sec-Fetch-Site are refused, whatever their
// content. Only pages of [Options.Origins] are granted access, by CORS: they may read, and write if
// they send the token. [Options] bound the time, the size and the number of
// requests, and the memory of what has arrived and of what has not been read. A request beyond them
// has status 503 and has changed nothing. GET /stats and GET /metrics wait for no statement. The
// program that serves the handler bounds the time of headers and the number of connections, as kith
// serve does.
//
// Requests with the token and requests without it have separate places, so that neither waits for
// the other kind. Among each, clients take turns. A client is an address, or a network of 64 bits
// of IPv6. Behind a proxy all clients have the address of the proxy: there, only the token tells
// them apart, and the proxy must limit each client. Small statements do not wait for large ones:
// statements that evaluate or predict the links of many nodes are large, and so are others once
// their like have run for longer than a quarter of a second. The body of a request must arrive
// within [Options.BodyTimeout].
//
// The token, like everything else, is sent in clear text: for other machines, put a proxy with
// encryption in front.
//
// # Coming from Gorse
//
// kith load --format gorse reads what Gorse (github.com/gorse-io/gorse) exports. The user 7 is the
// node 'user:7', the item 7 is 'item:7', a type of feedback is a relation. These requests do what
// its REST interface does:
//
//	Gorse                                     kith
//	POST /api/users, /api/items               POST /nodes, with the label user or item and properties
//	PATCH /api/item/7                         POST /nodes, which leaves other properties as they are
//	GET /api/item/7                           POST /query, DESCRIBE NODE 'item:7'
//	POST, PUT /api/feedback                   POST /edges; for what becomes of an answer, /observe
//	DELETE /api/feedback/like/7/8             POST /query, DELETE EDGES 'user:7' -[like]-> 'item:8'
//	GET /api/user/7/feedback/like             POST /query, NEIGHBORS OF 'user:7' VIA like
//	GET /api/recommend/7?n=10                 POST /predict, {"source": "user:7", "relation": "like",
//	                                          "candidates": {"label": "item"}, "top": 10}
//	GET /api/recommend/7/food                 the same, where [{"of": "tags", "op": "IN", "value": "food"}]
//	    &write-back-type=read                 POST /choose, and POST /reward for what was clicked
//	GET /api/item/7/neighbors                 POST /predict from "item:7" among the label item
//	POST /api/session/recommend               POST /query, PREDICT LINKS FOR ('item:7', 'item:8')
//	GET /api/popular                          POST /predict, with the model preferential_attachment
//	DELETE /api/user/7                        POST /query, ERASE NODE 'user:7'
//
// Positive feedback is a relation that is predicted, and read feedback one that is left out, as in
// EXCEPT NEIGHBORS VIA read WITHIN '30d'. Gorse recomputes its recommendations from time to time;
// here an edge counts in the next answer.
package web
