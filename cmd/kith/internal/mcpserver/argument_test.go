package mcpserver

import (
	"testing"

	"kith/db"
	"kith/query"
)

// FuzzDecode checks that the arguments that a tool accepts have the types that its function reads.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{}`, `null`, `[]`, `{"node":7,"top":3.0}`, `{"nodes":["a",9007199254740993]}`, `{"links":[{"source":1,"target":"b","weight":1e-9}]}`,
		`{"statement":"HELP","parameters":[1,1.5,"a",[1,[2]]]}`, `{"source":1,"target":2,"reward":0.5,"insert":true}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, tool := range tools() {
			a, err := decode(raw, tool.arguments)
			if err != nil {
				continue
			}
			checkTypes(t, a, tool.arguments)
		}
	})
}

// checkTypes checks the types of arguments.
func checkTypes(t *testing.T, a arguments, fields []field) {
	t.Helper()
	for _, f := range fields {
		v, given := a[f.name]
		if !given {
			if f.required {
				t.Errorf("%s is missing", f.name)
			}
			continue
		}
		ok := false
		switch f.is {
		case aNode:
			k, isKey := v.(db.Key)
			ok = isKey && k.Valid() == nil
		case anInt:
			_, ok = v.(int64)
		case aNumber:
			_, ok = v.(float64)
		case aText:
			_, ok = v.(string)
		case aFlag:
			_, ok = v.(bool)
		case aRecord:
			_, ok = v.(query.Object)
		default:
			_, ok = v.([]any)
		}
		if !ok {
			t.Errorf("%s is %T %v", f.name, v, v)
		}
		if f.is == objectList {
			for _, o := range a.objects(f.name) {
				checkTypes(t, o, f.members)
			}
		}
	}
}
