package web

import (
	"errors"
	"testing"
)

// FuzzBodies checks that no body makes the decoder panic, and that what it refuses is a request
// that is not understood.
func FuzzBodies(f *testing.F) {
	for _, text := range []string{
		`{"source": "ann", "candidates": {"near": {"vector": [1, 0.5], "nodes": 3}}, "except": [1], "where": [{"of": "x", "op": "IN", "value": [1, {"key": 2}]}]}`,
		`{"source": 7, "places": 3, "ttl": "1d", "epsilon": 0, "seed": 1, "time": "2026-11-01", "keys": "json"}`,
		`{"decision": 1, "rewards": [{"place": 1, "reward": 0.5}], "examined": "all", "insert": true}`,
		`{"source": "'7'", "target": "8", "reward": 1, "keys": "text", "candidates": {"neighbors": 2, "via": ["x"], "within": "7d"}}`,
		`{"nodes": [{"node": 1, "label": "x", "features": [1e9], "properties": {"a": {"float": 1}, "b": null, "c": {"list": ["d"]}}}], "create": true}`,
		`{"edges": [{"source": 1, "target": "b", "weight": 2, "time": "2026-11-01T10:00:00Z"}]}`, `{"statement": "CHECK", "parameters": {"a": [1]}}`, `[]`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, predict := decodeBody[predictBody](text)
		_, choose := decodeBody[chooseBody](text)
		_, reward := decodeBody[rewardBody](text)
		_, observe := decodeBody[observeBody](text)
		_, nodes := decodeBody[nodesBody](text)
		_, edges := decodeBody[edgesBody](text)
		_, statement := decodeBody[request](text)
		for _, err := range []error{predict, choose, reward, observe, nodes, edges, statement} {
			if err != nil && !errors.Is(err, errRequest) {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
