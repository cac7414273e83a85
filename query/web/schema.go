package web

import (
	"encoding/json"
	"reflect"
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
	case reflect.TypeFor[json.RawMessage]():
		return schema{"type": []string{"array", "object", "null"}, "description": "a list for ? or an object for $name"}
	case reflect.TypeFor[db.Key]():
		return schema{"type": []string{"string", "integer"}, "description": "a node"}
	case reflect.TypeFor[time.Time]():
		return schema{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
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
	case reflect.Struct:
		properties, required := schema{}, []string{}
		addFields(t, properties, &required)
		return schema{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	return schema{"type": "integer"}
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
			properties[name] = schemaFor(f.Type)
			if options == "" {
				*required = append(*required, name)
			}
		}
	}
}

// valueSchema returns the schema of a value of a row; see [jsonValue].
func valueSchema() schema {
	one := func(name string) schema {
		return schema{
			"type": "object", "properties": schema{name: schema{"type": []string{"string", "integer"}}},
			"required": []string{name}, "additionalProperties": false,
		}
	}
	return schema{
		"description": "a number with a point or an exponent is a float, any other an integer; {key} is a node among other values, " +
			"{number} one that JSON lacks: NaN, +Inf or -Inf",
		"anyOf": []schema{{"type": []string{"number", "string", "boolean", "array", "null"}}, one("key"), one("number")},
	}
}

// lineSchema returns the schema of a line of an answer.
func lineSchema() schema {
	return schema{
		"description": "one line of the answer: first the columns, and which of them hold nodes; then the rows, the notes, and last " +
			"the number of rows. An answer without the last line is incomplete.",
		"anyOf": []schema{schemaOf[headLine](), schemaOf[rowLine](), schemaOf[noteLine](), schemaOf[endLine]()},
	}
}
