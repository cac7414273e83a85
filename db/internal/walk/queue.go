package walk

import "container/heap"

// queue is a priority queue. Its methods Len, Less, Swap, Push and Pop implement heap.Interface.
type queue[T any] struct {
	items  []T
	before func(a, b T) bool // whether a comes before b
}

func (q *queue[T]) push(x T) { heap.Push(q, x) }

// pop removes and returns the first item.
func (q *queue[T]) pop() T { return heap.Pop(q).(T) }

func (q *queue[T]) Len() int           { return len(q.items) }
func (q *queue[T]) Less(i, j int) bool { return q.before(q.items[i], q.items[j]) }
func (q *queue[T]) Swap(i, j int)      { q.items[i], q.items[j] = q.items[j], q.items[i] }
func (q *queue[T]) Push(x any)         { q.items = append(q.items, x.(T)) }

func (q *queue[T]) Pop() any {
	last := len(q.items) - 1
	x := q.items[last]
	q.items = q.items[:last]
	return x
}
