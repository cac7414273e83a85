package edgelist

import "fmt"

// storage names a block of numbers that lies outside the pickle.
type storage struct {
	key   string
	width int
}

// dtype is NumPy's type of an element.
type dtype struct{ width int }

// arrays returns an unpickler that understands NumPy arrays and tensors of integers, and nothing else.
func arrays() *unpickler {
	return &unpickler{call: makeArray, build: fillArray, persistent: openStorage}
}

// makeArray is the list of what may be called.
func makeArray(class global, args []any) (any, error) {
	switch class {
	case "_codecs encode": // how Python 2 protocols spell bytes
		return latin1(args)
	case "numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct":
		return &tensor{}, nil
	case "numpy dtype":
		return makeDtype(args)
	case "collections OrderedDict":
		return map[string]any{}, nil
	case "torch._utils _rebuild_tensor_v2":
		return makeTensor(args)
	}
	return nil, fmt.Errorf("%w: it calls %q", errPickle, string(class))
}

// latin1 returns the bytes that the characters of a string stand for.
func latin1(args []any) (any, error) {
	var text string
	if len(args) == 2 && args[1] == "latin1" {
		text, _ = args[0].(string)
	}
	b := make([]byte, 0, len(text)/2)
	for _, c := range text {
		if c > 0xff {
			return nil, fmt.Errorf("%w: a character above 255 in bytes", errPickle)
		}
		b = append(b, byte(c))
	}
	return b, nil
}

func makeDtype(args []any) (any, error) {
	if len(args) > 0 {
		switch args[0] {
		case "i8":
			return &dtype{8}, nil
		case "i4":
			return &dtype{4}, nil
		}
	}
	return nil, fmt.Errorf("%w: elements that are no integers of 32 or 64 bits", errPickle)
}

// fillArray sets the state of an array, (version, shape, dtype, column major, bytes), or the byte order of a dtype.
func fillArray(object, state any) error {
	s, _ := state.([]any)
	switch o := object.(type) {
	case *dtype:
		if len(s) < 2 || s[1] != "<" {
			return fmt.Errorf("%w: elements that are not little-endian", errPickle)
		}
		return nil
	case *tensor:
		return o.fill(s)
	}
	return fmt.Errorf("%w: a state of %T", errPickle, object)
}

func (a *tensor) fill(state []any) error {
	if len(state) != 5 {
		return fmt.Errorf("%w: an array's state of %d parts", errPickle, len(state))
	}
	var shape [2]int64
	kind, isType := state[2].(*dtype)
	column, isBool := state[3].(bool)
	data, isBytes := state[4].([]byte)
	if !integers(state[1], shape[:]) || !isType || !isBool || !isBytes {
		return fmt.Errorf("%w: an array that is not a matrix of integers", errPickle)
	}
	a.rows, a.cols, a.width, a.data = shape[0], shape[1], kind.width, data
	a.step, a.stride = a.cols, 1
	if column {
		a.step, a.stride = 1, a.rows
	}
	return nil
}

// makeTensor reads (storage, offset, size, stride, ...).
func makeTensor(args []any) (any, error) {
	if len(args) < 4 {
		return nil, fmt.Errorf("%w: a tensor of %d parts", errPickle, len(args))
	}
	s, isStorage := args[0].(*storage)
	var offset [1]int64
	var size, stride [2]int64
	if !isStorage || !integers(args[1:2], offset[:]) || !integers(args[2], size[:]) || !integers(args[3], stride[:]) {
		return nil, fmt.Errorf("%w: a tensor that is not a matrix", errPickle)
	}
	return &tensor{
		rows: size[0], cols: size[1], step: stride[0], stride: stride[1], offset: offset[0], width: s.width, key: s.key,
	}, nil
}

// openStorage reads ("storage", class, key, device, length, ...).
func openStorage(id any) (any, error) {
	parts, _ := id.([]any)
	if len(parts) < 3 || parts[0] != "storage" || parts[1] != global("torch LongStorage") {
		return nil, fmt.Errorf("%w: a storage that is not of 64-bit integers", errPickle)
	}
	key, ok := parts[2].(string)
	if !ok {
		return nil, fmt.Errorf("%w: a storage without a key", errPickle)
	}
	return &storage{key, 8}, nil
}

// integers reads a tuple of exactly len(into) integers.
func integers(tuple any, into []int64) bool {
	t, ok := tuple.([]any)
	if !ok || len(t) != len(into) {
		return false
	}
	for i, v := range t {
		n, ok := v.(int64)
		if !ok {
			return false
		}
		into[i] = n
	}
	return true
}
