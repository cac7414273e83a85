package index

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"kith/index/internal/word"
)

// described returns a graph of n nodes with a kind and a size each.
func described(t testing.TB, n int) *Snapshot {
	t.Helper()
	b := New(soundMeta()).Begin()
	for i := range n {
		id, _, err := b.AddNode(Int(int64(i)))
		must(t, err, describe(b, id, i))
	}
	return b.Snapshot()
}

func describe(b *Batch, id ID, i int) error {
	return errors.Join(
		b.SetProperty(id, "kind", mustValue(fmt.Sprint("k", i%97))),
		b.SetProperty(id, "size", sizeAs(b, i)),
	)
}

// sizeAs returns a size of the present type of sizes.
func sizeAs(b *Batch, i int) Value {
	if n, known := b.now.Meta.PropertyNumber("size"); known && b.now.Meta.Properties[n].Kind == FloatKind {
		return mustValue(float64(i))
	}
	return mustValue(int64(i))
}

func mustValue(x any) Value {
	v, ok := ValueOf(x)
	if !ok {
		panic(fmt.Sprint("no value: ", x))
	}
	return v
}

// allWords returns the words of all properties of a version, as the version keeps them, or learned
// from its values alone.
func allWords(s *Snapshot, fresh bool) (all []*word.Property) {
	p := s.properties
	if fresh {
		p.words = nil
	}
	for i := range s.Meta.Properties {
		all = append(all, p.wordsOf(uint16(i), &s.Meta))
	}
	return all
}

// The words that a version keeps are those that its values alone have, whatever was set, removed or
// undone before and asked meanwhile. Most changes of many values keep the words, and a change of a
// property keeps the words of the others.
func TestWordsAreKept(t *testing.T) {
	t.Parallel()
	const nodes = 4*sampledValues - 2 // the size of the sample changes on the way
	rng := rand.New(rand.NewPCG(4, 4))
	s := described(t, nodes)
	before := allWords(s, false)
	kept, others := 0, 0
	errUndone := errors.New("undone")
	steps := 0
	check := func(s *Snapshot, changed int) {
		t.Helper()
		now := allWords(s, false)
		if want := allWords(s, true); !reflect.DeepEqual(now, want) {
			t.Fatalf("step %d: the words are not those of the values", steps)
		}
		for i, of := range now {
			switch {
			case i >= len(before) || of != before[i]:
			case i == changed:
				kept++
			default:
				others++
			}
		}
		before = now
	}
	random := func(b *Batch) (changed int) {
		id := ID(rng.IntN(nodes))
		switch rng.IntN(5) {
		case 0:
			must(t, b.SetProperty(id, "size", Value{}))
		case 1:
			must(t, b.SetProperty(id, "size", sizeAs(b, rng.IntN(1e6))))
		case 2:
			must(t, b.SetProperty(id, "kind", mustValue(fmt.Sprint("k", rng.IntN(200)))))
			return 0
		case 3:
			must(t, b.SetProperty(id, "size", mustValue(rng.Float64()))) // numbers become floats
		case 4:
			if n := b.now.Meta.Nodes; n < nodes+40 {
				id, _, err := b.AddNode(Int(n))
				must(t, err, describe(b, id, int(n)))
			}
			return -1
		}
		return 1
	}
	for steps = range 60 {
		b := s.Begin()
		if rng.IntN(3) == 0 {
			err := b.Savepoint(func() error {
				random(b)
				check(b.View(), -1)
				random(b)
				return errUndone
			})
			if !errors.Is(err, errUndone) {
				t.Fatal(err)
			}
			check(b.View(), -1)
		}
		changed := random(b)
		check(b.View(), changed)
		old := allWords(s, true)
		if now := allWords(s, false); !reflect.DeepEqual(now, old) {
			t.Fatalf("step %d: the words of an earlier version have changed", steps)
		}
		s = b.Snapshot()
	}
	if kept < 10 || others < 40 {
		t.Errorf("the words were kept after %d changes of the property and %d of others", kept, others)
	}
}

// The time to learn the words again after a value was set, where there are many values.
func BenchmarkWordsAfterSet(b *testing.B) {
	s := described(b, 200_000)
	rng := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		batch := s.Begin()
		must(b, batch.SetProperty(ID(rng.IntN(200_000)), "size", mustValue(int64(rng.IntN(1000)))))
		s = batch.Snapshot()
		if !s.HasWords() || len(s.Words(7, 1<<14, nil)) == 0 {
			b.Fatal("no words")
		}
	}
}

// A value of a node that no sample has changes the words where it makes the sample smaller.
func TestWordsOfSmallerSample(t *testing.T) {
	t.Parallel()
	const values = 4*sampledValues - 1
	if sampleShift(values) == sampleShift(values+1) {
		t.Fatal("one more value does not make the sample smaller")
	}
	s := described(t, values)
	allWords(s, false)
	b := s.Begin()
	var last ID
	for i := 0; ; i++ {
		id, _, err := b.AddNode(Int(int64(values + i)))
		must(t, err)
		if last = id; !sampled(id, sampleShift(values)) {
			break
		}
	}
	must(t, b.SetProperty(last, "size", mustValue(int64(1e6))))
	if s = b.Snapshot(); !reflect.DeepEqual(allWords(s, false), allWords(s, true)) {
		t.Error("the words are not those of the values")
	}
}
