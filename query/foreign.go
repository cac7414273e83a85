package query

import "strings"

// foreign returns the language of which a statement begins with a word, or "".
func foreign(word string) string {
	return map[string]string{
		"SELECT": "SQL", "UPDATE": "SQL", "ALTER": "SQL", "TRUNCATE": "SQL", "UPSERT": "SQL", "REPLACE": "SQL", "VALUES": "SQL", "TABLE": "SQL",
		"MATCH": "Cypher", "OPTIONAL": "Cypher", "UNWIND": "Cypher", "RETURN": "Cypher", "CALL": "Cypher", "FOREACH": "Cypher",
		"WITH": "SQL or Cypher", "USE": "SQL or Cypher",
	}[strings.ToUpper(word)]
}
