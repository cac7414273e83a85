package parse

import "strings"

// foreign returns the query language that has statements beginning with word, or "".
func foreign(word string) string {
	return map[string]string{
		"SELECT": "SQL", "UPDATE": "SQL", "ALTER": "SQL", "TRUNCATE": "SQL", "UPSERT": "SQL", "REPLACE": "SQL", "VALUES": "SQL", "TABLE": "SQL",
		"MATCH": "Cypher", "OPTIONAL": "Cypher", "UNWIND": "Cypher", "RETURN": "Cypher", "CALL": "Cypher", "FOREACH": "Cypher",
		"WITH": "SQL or Cypher", "USE": "SQL or Cypher",
	}[strings.ToUpper(word)]
}
