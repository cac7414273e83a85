package cli

import "kith/db/words"

// DidYouMean returns a question with the one of names that name was probably meant for, to be appended to an error, or
// "" if there is none.
func DidYouMean(name string, names []string) string {
	if meant := words.Closest(name, names); meant != "" {
		return "; did you mean " + meant + "?"
	}
	return ""
}
