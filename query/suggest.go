package query

import (
	"strings"

	"kith/db"
	"kith/db/words"
	"kith/query/parse"
)

// comparedNodes is the number of nodes that closestNode compares with a name, for each of two
// beginnings.
const comparedNodes = 5000

// closestNode returns the node of which a string key, spelled as in a statement, is probably a
// misspelling, or "". It compares the strings that begin with the first half of it and then those
// that come first in key order.
func (r *run) closestNode(name string) (meant string) {
	var k db.Key
	if k.UnmarshalText([]byte(name)) != nil {
		return ""
	}
	s, isString := k.Str()
	if !isString {
		return ""
	}
	letters := []rune(s)
	err := r.session.DB.View(r.ctx, func(tx *db.Tx) error {
		for _, beginning := range []string{string(letters[:len(letters)/2]), ""} {
			var names []string
			for k, err := range tx.NodesBeginning("'" + strings.ReplaceAll(beginning, "'", "''")) {
				if err != nil || len(names) == comparedNodes {
					break
				}
				n, _ := k.Str()
				names = append(names, n)
			}
			if closest := words.Closest(s, names); closest != "" {
				meant = parse.Suggest(parse.String{Value: closest})
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return "" // without a suggestion the error is whole too
	}
	return meant
}
