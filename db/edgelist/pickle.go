package edgelist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// errPickle is the error for a pickle that cannot be read.
var errPickle = errors.New("edgelist: not a pickle of a kind that can be read")

// splitError is what the functions that read a split panic with. newSplit returns it.
type splitError struct{ error }

// fail ends the reading of a split with errPickle.
func fail(format string, args ...any) {
	panic(splitError{fmt.Errorf("%w: %w", errPickle, fmt.Errorf(format, args...))})
}

// check ends the reading of a split if there is an error.
func check(err error) {
	if err != nil {
		panic(splitError{fmt.Errorf("edgelist: split: %w", err)})
	}
}

// unpickler runs the few opcodes of Python's pickle machine (protocols 2 to 4) with which
// dictionaries of arrays and tensors are written. It has no classes: the name of a class is only a
// name, and call decides the result of calling it. Everything else is rejected, so a file can only
// describe values.
//
// Values are nil, bool, int64, string, []byte, []any (a tuple), *pickleList, map[string]any,
// global, *dtype, *tensor and *storage. Byte slices refer to the input and values are pushed by
// reference, so memory is a small multiple of the input.
type unpickler struct {
	in     []byte
	stack  []any
	marks  []int
	memo   map[uint32]any
	widths map[string]int // bytes of an element of each storage that a pickle named
}

// global is the name of a Python class or function, "module name".
type global string

// pickleList is a Python list.
type pickleList struct{ items []any }

// load runs the next pickle and returns its value.
func (u *unpickler) load() any {
	u.stack, u.marks, u.memo = nil, nil, make(map[uint32]any)
	for {
		op := u.take(1)[0]
		if op == '.' {
			return u.pop()
		}
		u.run(op)
	}
}

// run executes an opcode.
func (u *unpickler) run(op byte) {
	switch op {
	case 0x80: // PROTO
		u.take(1)
	case 0x95: // FRAME
		u.take(8)
	case 'N':
		u.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		u.push(op == 0x88)
	case 'K':
		u.push(int64(u.number(1)))
	case 'M':
		u.push(int64(u.number(2)))
	case 'J':
		u.push(int64(int32(u.number(4))))
	case 0x8a: // LONG1
		u.long()
	case 'X': // BINUNICODE
		u.text(4)
	case 0x8c: // SHORT_BINUNICODE
		u.text(1)
	case 'B': // BINBYTES
		u.push(u.counted(4))
	case 'C': // SHORT_BINBYTES
		u.push(u.counted(1))
	case 'q':
		u.memo[u.number(1)] = u.top()
	case 'r':
		u.memo[u.number(4)] = u.top()
	case 0x94: // MEMOIZE
		u.memo[uint32(len(u.memo))] = u.top()
	case 'h':
		u.recall(u.number(1))
	case 'j':
		u.recall(u.number(4))
	default:
		u.structure(op)
	}
}

// structure makes tuples, lists, dictionaries and objects.
func (u *unpickler) structure(op byte) {
	switch op {
	case '(':
		u.marks = append(u.marks, len(u.stack))
	case ')':
		u.push([]any{})
	case 0x85, 0x86, 0x87: // TUPLE1 to TUPLE3
		u.push(u.last(int(op) - 0x84))
	case 't':
		u.push(u.marked())
	case ']':
		u.push(&pickleList{})
	case 'a':
		u.extend(u.last(1))
	case 'e':
		u.extend(u.marked())
	case '}':
		u.push(map[string]any{})
	case 's':
		u.setItems(u.last(2))
	case 'u':
		u.setItems(u.marked())
	case 'c': // GLOBAL
		module := u.line()
		u.push(global(module + " " + u.line()))
	case 0x93: // STACK_GLOBAL
		names := u.last(2)
		u.push(global(fmt.Sprint(names[0], " ", names[1])))
	case 'R': // calls a class
		args, isTuple := u.pop().([]any)
		class, isClass := u.pop().(global)
		if !isClass || !isTuple {
			fail("a call of no class, or without arguments")
		}
		u.push(call(class, args))
	case 0x81: // NEWOBJ
		class, _ := u.last(2)[0].(global)
		failClass(class)
	case 'b': // sets the state of an object
		state := u.pop()
		build(u.top(), state)
	case 'Q': // resolves a persistent id
		u.push(u.open(u.pop()))
	default:
		fail("opcode %q", op)
	}
}

// long pushes an integer of up to 8 bytes as an int64, and a longer one as its bytes.
func (u *unpickler) long() {
	b := u.counted(1)
	if len(b) > 8 {
		u.push(b)
		return
	}
	var wide [8]byte
	if len(b) > 0 && b[len(b)-1] >= 0x80 {
		binary.LittleEndian.PutUint64(wide[:], math.MaxUint64)
	}
	copy(wide[:], b)
	u.push(int64(binary.LittleEndian.Uint64(wide[:])))
}

// text pushes a string that is preceded by its length, which has size bytes.
func (u *unpickler) text(size int) {
	b := u.counted(size)
	if !utf8.Valid(b) {
		fail("a string is not UTF-8")
	}
	u.push(string(b))
}

func (u *unpickler) extend(items []any) {
	l, ok := u.top().(*pickleList)
	if !ok {
		fail("an item of no list")
	}
	l.items = append(l.items, items...)
}

func (u *unpickler) setItems(items []any) {
	d, ok := u.top().(map[string]any)
	if !ok || len(items)%2 != 0 {
		fail("an item of no dictionary")
	}
	for i := 0; i < len(items); i += 2 {
		key, ok := items[i].(string)
		if !ok {
			fail("the key of an item is no string")
		}
		d[key] = items[i+1]
	}
}

// recall pushes a value of the memo.
func (u *unpickler) recall(key uint32) {
	value, ok := u.memo[key]
	if !ok {
		fail("memo %d is empty", key)
	}
	u.push(value)
}

func (u *unpickler) push(v any) { u.stack = append(u.stack, v) }

func (u *unpickler) top() any {
	if len(u.stack) == 0 {
		return nil
	}
	return u.stack[len(u.stack)-1]
}

func (u *unpickler) pop() any { return u.last(1)[0] }

// last pops n values.
func (u *unpickler) last(n int) []any {
	at := len(u.stack) - n
	if at < 0 || len(u.marks) > 0 && at < u.marks[len(u.marks)-1] {
		fail("the stack is empty")
	}
	items := slices.Clone(u.stack[at:])
	u.stack = u.stack[:at]
	return items
}

// marked pops all values above the last mark, and the mark.
func (u *unpickler) marked() []any {
	if len(u.marks) == 0 {
		fail("no mark")
	}
	n := len(u.stack) - u.marks[len(u.marks)-1]
	u.marks = u.marks[:len(u.marks)-1]
	return u.last(n)
}

// take reads n bytes.
func (u *unpickler) take(n int) []byte {
	if n < 0 || n > len(u.in) {
		fail("it ends before its time")
	}
	b := u.in[:n:n]
	u.in = u.in[n:]
	return b
}

// number reads an unsigned integer of up to 4 bytes.
func (u *unpickler) number(size int) uint32 {
	var wide [4]byte
	copy(wide[:], u.take(size))
	return binary.LittleEndian.Uint32(wide[:])
}

// counted reads bytes that are preceded by their number, which has size bytes.
func (u *unpickler) counted(size int) []byte { return u.take(int(u.number(size))) }

func (u *unpickler) line() string {
	at := bytes.IndexByte(u.in, '\n')
	if at < 0 || at > 200 {
		fail("a name without an end")
	}
	return string(u.take(at + 1)[:at])
}
