package cli

import "kith/db/words"

// DidYouMean returns a question with the one of names that name probably means, to be appended to an error. It returns
// "" if no name is close.
func DidYouMean(name string, names []string) string {
	if meant := words.Closest(name, names); meant != "" {
		return "; did you mean " + meant + "?"
	}
	return ""
}
