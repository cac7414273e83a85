package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"kith/db/words"
)

// field is an argument of a tool, a member of such an argument, or a column of an answer. Its JSON
// Schema, the check of an argument and the messages about it follow from it.
type field struct {
	name      string
	is        kind
	meaning   string
	required  bool
	byDefault any     // value of an argument that is absent; nil means none
	low, high float64 // of an integer, a number, or the length of a list; both 0 means no limit
	members   []field // of each element of a list of objects
}

// kind is the kind of value of a field.
type kind string

const (
	aNode kind = "an integer or a string"
	// nodeText is for answers, because integers above 2^53 would lose digits in many clients.
	nodeText   kind = "a node as a string"
	anInt      kind = "an integer"
	aNumber    kind = "a number"
	aText      kind = "a string"
	aFlag      kind = "true or false"
	aRecord    kind = "an object of properties"
	aValue     kind = "an integer, a number or a string"
	nodeList   kind = "a list of nodes, each an integer or a string"
	numberList kind = "a list of numbers"
	valueList  kind = "a list of integers, numbers, strings or lists of these"
	textList   kind = "a list of strings"
	objectList kind = "a list of objects"
	maxItems        = 1000 // length of a list without a limit of its own
)

// schema is a JSON Schema.
type schema = map[string]any

// objectSchema returns the schema of an object with these members and no others.
func objectSchema(members []field) schema {
	properties, required := schema{}, []string{}
	for _, f := range members {
		properties[f.name] = f.schema()
		if f.required {
			required = append(required, f.name)
		}
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func (f *field) schema() schema {
	s := f.is.schema()
	switch {
	case f.is.isList():
		if f.members != nil {
			s["items"] = objectSchema(f.members)
		}
		_, s["maxItems"] = f.limits()
	case f.low != 0 || f.high != 0:
		s["minimum"], s["maximum"] = f.low, f.high
	}
	if f.meaning != "" {
		s["description"] = f.meaning
	}
	if f.byDefault != nil {
		s["default"] = f.byDefault
	}
	return s
}

func (k kind) schema() schema {
	scalar := func(names ...string) (any []schema) {
		for _, name := range names {
			any = append(any, schema{"type": name})
		}
		return any
	}
	switch k {
	case aNode:
		return schema{"anyOf": scalar("integer", "string")}
	case aValue:
		return schema{"anyOf": scalar("number", "string")}
	case anInt:
		return schema{"type": "integer"}
	case aNumber:
		return schema{"type": "number"}
	case aFlag:
		return schema{"type": "boolean"}
	case aRecord:
		return schema{"type": "object"}
	case nodeList:
		return schema{"type": "array", "items": aNode.schema()}
	case numberList:
		return schema{"type": "array", "items": aNumber.schema()}
	case textList:
		return schema{"type": "array", "items": aText.schema()}
	case valueList:
		return schema{"type": "array", "items": schema{"anyOf": append(scalar("number", "string"), schema{"type": "array"})}}
	case objectList:
		return schema{"type": "array"}
	}
	return schema{"type": "string"}
}

func (k kind) isList() bool {
	return slices.Contains([]kind{nodeList, numberList, valueList, textList, objectList}, k)
}

// limits returns the least and the greatest value of a number, or length of a list.
func (f *field) limits() (low, high float64) {
	if f.is.isList() && f.high == 0 {
		return f.low, maxItems
	}
	return f.low, f.high
}

// accepts says what an argument may be.
func (f *field) accepts() string {
	low, high := f.limits()
	switch {
	case f.is.isList():
		return fmt.Sprintf("%s, at most %g", f.is, high)
	case low != 0 || high != 0:
		return fmt.Sprintf("%s from %g to %g", f.is, low, high)
	}
	return string(f.is)
}

// names returns the names of fields.
func names(of []field) (all []string) {
	for _, f := range of {
		all = append(all, f.name)
	}
	return all
}

// unknown returns the error for the name of no field.
func unknown(name string, of []field) error {
	if len(of) == 0 {
		return fmt.Errorf("unknown argument %q; this tool has no arguments", name)
	}
	meant := ""
	if c := words.Closest(name, names(of)); c != "" {
		meant = fmt.Sprintf("; did you mean %s?", c)
	}
	return fmt.Errorf("unknown argument %q%s (there are: %s)", name, meant, strings.Join(names(of), ", "))
}
