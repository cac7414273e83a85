package model

// phase trains every Every rounds up to and including round Until. The last phase of a schedule has Until 0, which
// means no end.
type phase struct {
	Until, Every int
}

// schedule lists the rounds after which a model trains.
type schedule []phase

// due reports whether the model trains after its round t, counted from 1.
func (s schedule) due(t int) bool {
	for _, p := range s {
		if p.Until == 0 || t <= p.Until {
			return t%p.Every == 0
		}
	}
	return false
}

func (s schedule) valid() bool {
	for i, p := range s {
		last := i == len(s)-1
		if p.Every < 1 || p.Until < 0 || (p.Until == 0) != last {
			return false
		}
	}
	return len(s) > 0
}
