package query

import (
	"encoding"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"kith/db"
	"kith/db/edgelist"
	"kith/db/words"
	"kith/model"
	"kith/query/internal/parse"
)

// option is an option of a WITH clause, or a setting. One list of options serves execution,
// completion, HELP and error messages.
type option struct {
	name    string
	accepts string // the accepted values; if they are words, all of them: "on or off"
	meaning string
	set     func(r *run, o parse.Option)
}

// setOptions sets the options that a clause gives.
func (r *run) setOptions(given []parse.Option, options []option) { r.setAll("option", given, options) }

// setAll sets options or settings; the word for a single one is what.
func (r *run) setAll(what string, given []parse.Option, options []option) {
	names := optionNames(options)
	for _, o := range given {
		i := slices.Index(names, o.Name)
		if i < 0 {
			r.fail(unknown(what, parse.Name{Pos: o.Pos, Value: o.Name}, names))
		} else if _, pairs := o.Value.(parse.Pairs); pairs && options[i].accepts != acceptsWeights {
			r.refuse(o.Value, "%s = %v (accepted: %s)", o.Name, o.Value, options[i].accepts)
		} else if r.err == nil {
			options[i].set(r, o)
			r.err = r.withPosition(o, r.err)
		}
	}
}

func optionNames(options []option) []string {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.name
	}
	return names
}

// unknown returns the error for a name that is not accepted. what says what it names.
func unknown(what string, name parse.Name, accepted []string) error {
	return &Error{
		Pos: name.Pos, Msg: fmt.Sprintf("unknown %s %v (accepted: %s)", what, name, strings.Join(accepted, ", ")),
		DidYouMean: words.Closest(name.Value, accepted), Err: db.ErrInput,
	}
}

// words returns the values of an option that accepts only words, or nil.
func (o *option) words() []string {
	words := strings.Split(strings.Replace(o.accepts, " or ", ", ", 1), ", ")
	if len(words) == 1 || strings.ContainsAny(strings.Join(words, ""), " '") {
		return nil
	}
	return words
}

// wordOption returns an option that accepts some words.
func wordOption(name, meaning string, set func(word string), words ...string) option {
	accepts := parse.Join(words, "or")
	return option{name, accepts, meaning, func(r *run, o parse.Option) {
		v := r.single(o, accepts)
		word, _ := v.(string)
		if !slices.Contains(words, word) {
			r.refuse(o, "%s = %v (accepted: %s)", name, v, accepts)
		}
		set(word)
	}}
}

// single returns the value of an option, which is neither null nor a list.
func (r *run) single(o parse.Option, accepts string) any {
	x := r.value(o.Value)
	if _, isList := x.([]any); isList || x == nil {
		r.refuse(o.Value, "%s = %s (accepted: %s)", o.Name, words.Value(x), accepts)
	}
	return x
}

// onOff returns an option that is on or off.
func onOff(name, meaning string, set func(on bool)) option {
	return wordOption(name, meaning, func(word string) { set(word == "on") }, "on", "off")
}

// integerOption returns an option that accepts an integer from low to most.
func integerOption[T int | uint64](name, meaning string, low, most int64, to *T) option {
	accepts := fmt.Sprintf("an integer of at least %d", low)
	if most < math.MaxInt64 {
		accepts = fmt.Sprintf("an integer from %d to %d", low, most)
	}
	return option{name, accepts, meaning, func(r *run, o parse.Option) { *to = T(r.integerBetween(o.Value, low, most, 0)) }}
}

// numberOption returns an option that accepts the finite numbers that valid allows.
func numberOption(name, accepts, meaning string, valid func(float64) bool, to *float64) option {
	return option{name, accepts, meaning, func(r *run, o parse.Option) {
		if *to = r.number(o.Value); !valid(*to) {
			r.refuse(o.Value, "%s = %v (accepted: %s)", name, *to, accepts)
		}
	}}
}

// durationOption returns an option that accepts a duration above 0.
func durationOption(name, meaning string, to *time.Duration) option {
	return option{name, "a duration, such as '5s'", meaning, func(r *run, o parse.Option) { *to = r.duration(o.Value) }}
}

// textOption returns an option that accepts any string or name.
func textOption(name, accepts, meaning string, to *string) option {
	return option{name, accepts, meaning, func(r *run, o parse.Option) { *to = r.text(o.Value) }}
}

// acceptsWeights is what relation_weights accepts.
const acceptsWeights = "(relation = number, ...)"

// weightsOption returns the option that weighs the edges of relations.
func weightsOption(to *map[string]float64) option {
	return option{"relation_weights", acceptsWeights, "factors of the weights of edges in walks, by relation; 1 by default", func(r *run, o parse.Option) {
		list, ok := o.Value.(parse.Pairs)
		if !ok {
			r.refuse(o.Value, "%s = %s (accepted: %s)", o.Name, words.Value(r.value(o.Value)), acceptsWeights)
		}
		*to = map[string]float64{}
		for _, p := range list.Pairs {
			name := r.relation(parse.Name{Pos: p.Pos, Value: p.Name})
			if _, twice := (*to)[name]; twice {
				r.refuse(p, "relation %v is given twice", Name(name))
			}
			(*to)[name] = r.weight(p.Value)
		}
	}}
}

// parsedOption returns an option that accepts a string or a name, which to parses.
func parsedOption(name, accepts, meaning string, to encoding.TextUnmarshaler) option {
	return option{name, accepts, meaning, func(r *run, o parse.Option) { r.unmarshal(o, r.text(o.Value), to) }}
}

// unmarshal parses a text. at is its place in the statement.
func (r *run) unmarshal(at place, text string, to encoding.TextUnmarshaler) {
	if err := to.UnmarshalText([]byte(text)); err != nil {
		r.refuse(at, "%s", words.Plain(err))
	}
}

// wordsOf returns the words of the language that match expected, what the grammar expects after
// text: policies, columns, options, their values and so on. models are the names of the models of
// the database, if they are known: the options of an evaluation depend on whether USING names a
// model.
func wordsOf(expected, text string, models []string) []string {
	stmt, name := parse.Begun(text)
	switch expected {
	case parse.APolicy:
		return model.Policies()
	case parse.AnExplorer:
		return model.Explorers()
	case parse.AnEstimator:
		return model.Estimators()
	case parse.AFormat:
		return edgelist.Formats()
	}
	if stmt == nil {
		return nil
	}
	k := actionOf(stmt)
	if expected == parse.AColumn {
		return columnNames(slices.Concat(k.columns, k.more))
	}
	if k.options == nil {
		return nil
	}
	options := k.options(stmt, func(model string) bool { return slices.Contains(models, model) })
	if expected == parse.AnOption || expected == parse.ASetting {
		return optionNames(options)
	}
	if i := slices.Index(optionNames(options), name); expected == parse.AValue && i >= 0 {
		return options[i].words()
	}
	return nil
}
