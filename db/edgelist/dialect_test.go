package edgelist

import "testing"

func TestDialectText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Separator{
		"auto": "", "blank": " ", "tab": "\t", "comma": ",", ";": ";", "::": "::", `\t`: "\t", `\x01`: "\x01", "|": "|", " - ": " - ",
	} {
		var got Separator
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("separator %q: %q, %v", text, got, err)
		}
		text, _ := want.MarshalText()
		if err := got.UnmarshalText(text); err != nil || got != want {
			t.Errorf("separator %q is written as %q and read as %q, %v", want, text, got, err)
		}
	}
	for _, bad := range []string{"", "x", "1", `"`, "\n", `\n`, "---------"} {
		if err := new(Separator).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("separator %q is accepted", bad)
		}
	}
	for text, want := range map[string]Switch{"auto": Detect, "on": On, "yes": On, "off": Off, "no": Off} {
		var got Switch
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("switch %q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]Quotes{"auto": AnyQuotes, "on": DoubledQuotes, "yes": DoubledQuotes, "no": NoQuotes, "off": NoQuotes, "backslash": BackslashedQuotes} {
		var got Quotes
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("quotes %q: %v, %v", text, got, err)
		}
	}
	if new(Switch).UnmarshalText([]byte("maybe")) == nil || new(Quotes).UnmarshalText([]byte("maybe")) == nil {
		t.Error("maybe is accepted")
	}
}

// The number of shared integers is exact while all fit into the sample, and near the truth when
// they do not.
func TestOverlap(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, 10, maxOverlap / 2, 4 * maxOverlap} {
		o := newOverlap()
		for i := range n { // the integers from n/2 to n are on both sides
			o.edge(&Edge{Src: Token{Int: i, IsInt: true}, Dst: Token{Int: i + n/2, IsInt: true}})
		}
		got, exact := o.shared()
		want := float64(n - n/2)
		if exact != (n < maxOverlap) || got < 0.9*want || got > 1.1*want || exact && got != want {
			t.Errorf("%d edges: %v shared, exact %v; want %v", n, got, exact, want)
		}
		if len(o.ends) > maxOverlap {
			t.Errorf("%d keys in the sample", len(o.ends))
		}
	}
}
