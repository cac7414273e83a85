package cli

import "runtime/debug"

// Revision returns the revision that a tool was built from, and whether it had changes, or "" if it
// is unknown.
func Revision(info *debug.BuildInfo) string {
	r := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			r = "revision " + s.Value[:min(12, len(s.Value))] + r
		case s.Key == "vcs.modified" && s.Value == "true":
			r += " with changes"
		}
	}
	return r
}
