package web

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"kith/db"
)

// schema is a JSON schema.
type schema map[string]any

// schemaOf returns the schema of the JSON of a type, which has no cycles.
func schemaOf[T any]() schema { return schemaFor(reflect.TypeFor[T]()) }

func schemaFor(t reflect.Type) schema {
	switch t {
	case reflect.TypeFor[jsonValue]():
		return valueSchema()
	case reflect.TypeFor[parameters]():
		return schema{"type": []string{"array", "object", "null"}, "description": "a list for ? or an object for $name. A string is a string, " +
			"so that 7 and \"7\" are different nodes; {\"key\": node} is a node in the form that keys selects"}
	case reflect.TypeFor[operand]():
		return schema{"description": "a number, a string, true, false, null, a list of such values, or {\"key\": node}"}
	case reflect.TypeFor[keyForm]():
		return schema{"$ref": "#/components/schemas/keys"}
	case reflect.TypeFor[db.Key](), reflect.TypeFor[nodeValue]():
		return schema{"$ref": "#/components/schemas/node"}
	case reflect.TypeFor[set]():
		return schema{"anyOf": []schema{schemaOf[[]db.Key](), schemaOf[setMembers]()}}
	case reflect.TypeFor[property]():
		return schema{"anyOf": []schema{
			{"type": []string{"boolean", "number", "string", "null"}}, schemaOf[[]string](), schemaOf[propertyTypes](),
		}}
	case reflect.TypeFor[duration]():
		return schema{"type": "string"}
	case reflect.TypeFor[instant](), reflect.TypeFor[time.Time]():
		return schema{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.Interface:
		return schema{}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return schema{"type": []string{"number", "null"}} // null: NaN or an infinity
	case reflect.Pointer:
		return schemaFor(t.Elem())
	case reflect.Slice:
		return schema{"type": []string{"array", "null"}, "items": schemaFor(t.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": schemaFor(t.Elem())}
	case reflect.Struct:
		properties, required := schema{}, []string{}
		addFields(t, properties, &required)
		return schema{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	return schema{"type": "integer"}
}

// withoutNull changes a schema so that its lists and numbers are never null, and returns it.
func (s schema) withoutNull() schema {
	for keyword, operand := range s {
		switch v := operand.(type) {
		case schema:
			v.withoutNull()
		case []schema:
			for _, choice := range v {
				choice.withoutNull()
			}
		case []string:
			if keyword == "type" && (slices.Equal(v, []string{"array", "null"}) || slices.Equal(v, []string{"number", "null"})) {
				s[keyword] = v[0]
			}
		}
	}
	return s
}

// addFields adds the fields of a struct and of the structs that it embeds.
func addFields(t reflect.Type, properties schema, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			addFields(f.Type, properties, required)
		default:
			if name == "" {
				name = f.Name
			}
			is := schemaFor(f.Type)
			if meaning := f.Tag.Get("means"); meaning != "" {
				is["description"] = meaning
			}
			properties[name] = is
			if options == "" {
				*required = append(*required, name)
			}
		}
	}
}

// nodeSchema returns the schema of a node in a form, and keysSchema that of the member keys of a
// request for it. The form "" stands for either.
func nodeSchema(form keyForm) schema {
	if form == keysText {
		return schema{"type": "string", "description": "a node: 7 is the integer, ann the string, and '7', in single quotes, the string 7"}
	}
	return schema{"type": []string{"string", "integer"}, "description": "a node"}
}

func keysSchema(form keyForm) schema {
	if form == keysText {
		return schema{"type": "string", "enum": []any{keysText}, "default": keysText, "description": "nodes are strings in this description"}
	}
	return schema{"type": []string{"string", "null"}, "enum": []any{keysJSON, keysText, nil}, "description": "how nodes are written: by json, the default, as an " +
		"integer or a string; by text as a string, which is 7 for the integer, ann for the string and '7', in single quotes, for a string " +
		"that would be read as another node. Text is for programs whose numbers lose digits of integers above 2^53, as those of JavaScript do"}
}

// valueSchema returns the schema of a value of a row; see [jsonValue].
func valueSchema() schema {
	return schema{
		"description": "a number with a point or an exponent is a float, any other an integer; {key} is a node among other values; null is " +
			"absent or, for a numerical error, unknown",
		"anyOf": []schema{{"type": []string{"number", "string", "boolean", "array", "null"}}, schemaOf[nodeObject]()},
	}
}

// lineSchema returns the schema of a line of an answer.
func lineSchema() schema {
	return schema{
		"description": "one line of the answer: progress, if the request asks for it; the columns, and which of them hold nodes; then the rows, the notes, and last " +
			"the number of rows. An answer without the last line is incomplete.",
		"anyOf": []schema{schemaOf[progressLine](), schemaOf[headLine](), schemaOf[rowLine](), schemaOf[noteLine](), schemaOf[endLine]()},
	}
}
