package index

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"kith/index/internal/block"
)

// Event is the addition of an edge, or of weight to an edge, at a time. U is the endpoint that the
// edge was added from, as far as that is known for an undirected edge.
type Event struct {
	Edge           // the edge after the event; Time is never 0
	Before float32 // weight before the event; 0 if there was no edge
	Last   int64   // time of the edge before the event
}

// eventList holds the newest events of a graph in the order in which they became known. The events
// of a bulk load are ordered by time. It is a snapshot: the single writer appends after the end of
// every existing snapshot.
type eventList struct {
	list   []Event
	latest int64
}

// newEvents returns the events of a list. latest is the latest time of the events before index
// from.
func newEvents(list []Event, from int, latest int64) eventList {
	for i := from; i < len(list); i++ {
		latest = max(latest, list[i].Time)
	}
	return eventList{list, latest}
}

// maxEvents is the number of events that a graph keeps.
const maxEvents = 1 << 15

// all returns the events, at most maxEvents. The caller must not modify the slice.
func (e eventList) all() []Event { return e.list[max(0, len(e.list)-maxEvents):] }

// latestTime returns the latest time of the events; 0 if there are no events.
func (e eventList) latestTime() int64 { return e.latest }

// add returns the events followed by later ones.
func (e eventList) add(later ...Event) eventList {
	if len(e.list)+len(later) > 2*maxEvents {
		e.list = slices.Clone(e.all())
	}
	return newEvents(append(e.list, later...), max(len(e.list)-1, 0), e.latest)
}

// merge returns the events and the events of a bulk load, ordered by time.
func (e eventList) merge(loaded []Event) eventList {
	if len(loaded) == 0 {
		return e
	}
	all := slices.Concat(e.all(), loaded)
	slices.SortStableFunc(all, func(a, b Event) int { return cmp.Compare(a.Time, b.Time) })
	return newEvents(all[max(0, len(all)-maxEvents):], 0, 0)
}

// event returns the event of a change, and whether the change is an event: the edge has a new time,
// or more weight at the same time.
func (c *edgeChange) event() (Event, bool) {
	e := Event{Edge: c.Edge, Before: c.Old, Last: c.last}
	return e, c.Weight > 0 && c.Time != 0 && (c.Time != c.last || c.Weight > c.Old)
}

// eventsOf returns the events among changes.
func eventsOf(changes []edgeChange) (all []Event) {
	for i := range changes {
		if e, is := changes[i].event(); is {
			all = append(all, e)
		}
	}
	return all
}

// eventBlock is the number of events in a block.
const eventBlock = 1024

// writeEvents writes the blocks of the events.
func writeEvents(events []Event, put func(kind byte, no uint32, block []byte) error) error {
	no := uint32(0)
	for part := range slices.Chunk(events, eventBlock) {
		var b []byte
		for i := range part {
			b = part[i].append(b)
		}
		if err := put(prefixEvent, no, block.WithChecksum(b)); err != nil {
			return err
		}
		no++
	}
	return nil
}

func (e *Event) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(e.U))
	b = binary.AppendUvarint(b, uint64(e.V))
	b = binary.AppendUvarint(b, uint64(e.Relation))
	b = binary.AppendVarint(b, e.Time)
	b = binary.AppendVarint(b, e.Last)
	return block.AppendFloat32(block.AppendFloat32(b, e.Weight), e.Before)
}

func decodeEvent(d *block.Decoder) Event {
	e := Event{Edge: Edge{Ends: Ends{U: d.ID(), V: d.ID()}, Relation: d.Relation()}}
	e.Time, e.Last = d.Varint(), d.Varint()
	e.Weight, e.Before = d.Float32(), d.Float32()
	if d.Err == nil && (!ValidWeight(e.Weight) || e.Before != 0 && !ValidWeight(e.Before) || e.Time == 0) {
		d.Fail("an event")
	}
	return e
}

// decodeEvents decodes a block of events of a graph with the given numbers of nodes and relations.
func decodeEvents(d *block.Decoder, nodes int64, relations int) (all []Event, err error) {
	for len(d.B) > 0 && d.Err == nil {
		e := decodeEvent(d)
		if d.Err == nil && int64(max(e.U, e.V)) >= nodes {
			d.Err = fmt.Errorf("%w: an event of node %d of %d", ErrCorrupt, max(e.U, e.V), nodes)
		}
		if d.Err == nil && int(e.Relation) >= relations {
			d.Err = fmt.Errorf("%w: an event of relation %d of %d", ErrCorrupt, e.Relation, relations)
		}
		all = append(all, e)
	}
	if d.Err != nil {
		return nil, d.Err
	}
	return all, nil
}

// Moment holds the events at a time and the graph before them.
type Moment struct {
	Graph  *Graph
	Time   int64
	Events []Event
}

// Moments replays the newest events, earliest first; most is the maximum number of events. Each
// moment has the graph as it was before its events. Events of edges that the graph no longer has,
// or has only with an earlier time, are left out, because hidden edges must not become known.
func (s *Snapshot) Moments(most int) iter.Seq[Moment] {
	return func(yield func(Moment) bool) {
		events := s.presentEvents(most)
		e := s.Graph.Edit()
		for _, v := range slices.Backward(events) {
			e.Set(Edge{Ends: Ends{U: v.U, V: v.V}, Relation: v.Relation, Weight: v.Before, Time: v.Last})
		}
		g := e.Graph()
		for len(events) > 0 {
			n := 1
			for n < len(events) && events[n].Time == events[0].Time {
				n++
			}
			if !yield(Moment{g, events[0].Time, events[:n]}) {
				return
			}
			e := g.Edit()
			for _, v := range events[:n] {
				e.Set(v.Edge)
			}
			g, events = e.Graph(), events[n:]
		}
	}
}

// presentEvents returns the newest events whose edges the graph has; most is the maximum number.
func (s *Snapshot) presentEvents(most int) (events []Event) {
	for _, v := range slices.Backward(s.events.all()) {
		if len(events) == most {
			break
		}
		if now, ok := s.Graph.EdgeOf(v.Edge); ok && now.Time >= v.Time {
			events = append(events, v)
		}
	}
	slices.Reverse(events)
	return events
}
