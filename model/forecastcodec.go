package model

import (
	"errors"
	"fmt"

	"kith/model/nn"
)

// forecastDocument is the stored form of a forecast.
type forecastDocument struct {
	Columns         norms
	Pupil           pupilDocument
	Shift           float64
	Events, Waiting int
	Memory          eventMemoryDocument
}

// pupilDocument is the stored form of a pupil: float32 vectors.
type pupilDocument struct {
	Now, Mean, M, V, Grad []byte
	Steps                 int
}

// eventMemoryDocument is the stored form of an eventMemory.
type eventMemoryDocument struct {
	Newest, Targets, Sources []ID
	From, To                 []ID // sources and targets of the pairs
	Seen                     int
}

func (f *forecast) document() *forecastDocument {
	if f == nil || f.events == 0 {
		return nil
	}
	d := &forecastDocument{
		Columns: f.columns, Pupil: f.pupil.document(), Shift: f.shift, Events: f.events, Waiting: f.waiting,
		Memory: eventMemoryDocument{Newest: f.memory.newest, Targets: f.memory.targets, Sources: f.memory.sources, Seen: f.memory.seen},
	}
	for _, p := range f.memory.pairs {
		d.Memory.From, d.Memory.To = append(d.Memory.From, p.Source), append(d.Memory.To, p.Target)
	}
	return d
}

func (p *pupil) document() pupilDocument {
	o := &p.opt
	return pupilDocument{nn.PackFloats(p.now.theta), nn.PackFloats(p.mean.theta), nn.PackFloats(o.M), nn.PackFloats(o.V), nn.PackFloats(o.Grad), o.Steps}
}

// forecast decodes a document. It returns nil for a nil document.
func (d *forecastDocument) forecast(c *config) (*forecast, error) {
	switch {
	case d == nil:
		return nil, nil
	case c.timeLen() == 0:
		return nil, errors.New("a forecast does not fit the contexts")
	case d.Events < 1 || d.Waiting < 0 || d.Waiting >= listBatch || d.Memory.Seen < len(d.Memory.To) || len(d.Memory.To) != len(d.Memory.From):
		return nil, fmt.Errorf("a forecast of %d events, %d of them waiting", d.Events, d.Waiting)
	case !d.Columns.valid() || !nn.Finite(d.Shift):
		return nil, errors.New("the norms of a forecast are not finite")
	}
	f := newForecast(c)
	f.columns, f.shift, f.events, f.waiting = d.Columns, d.Shift, d.Events, d.Waiting
	f.memory = eventMemory{newest: d.Memory.Newest, roles: map[ID]role{}, seen: d.Memory.Seen}
	for _, u := range d.Memory.Targets {
		f.memory.targets = f.memory.enter(f.memory.targets, u, asTarget)
	}
	for _, u := range d.Memory.Sources {
		f.memory.sources = f.memory.enter(f.memory.sources, u, asSource)
	}
	for i, u := range d.Memory.From {
		f.memory.pairs = append(f.memory.pairs, Pair{Source: u, Target: d.Memory.To[i]})
	}
	return f, f.pupil.restore(&d.Pupil)
}

func (n *norms) valid() bool {
	return n.Rows >= 0 && nn.Finite(n.Rows) && nn.Finite(n.Sum[:]...) && nn.Finite(n.Square[:]...)
}

func (p *pupil) restore(d *pupilDocument) error {
	into := [][]float32{p.now.theta, p.mean.theta, p.opt.M, p.opt.V, p.opt.Grad}
	for i, b := range [][]byte{d.Now, d.Mean, d.M, d.V, d.Grad} {
		if len(b) != 4*len(into[i]) || !nn.UnpackFloats(into[i], b) {
			return fmt.Errorf("weights %d of a forecast: %d bytes, or not finite", i, len(b))
		}
	}
	if p.opt.Steps = d.Steps; d.Steps < 0 {
		return fmt.Errorf("a forecast of %d steps", d.Steps)
	}
	return nil
}

// renamed returns the forecast for a graph in which nodes have other ids. Nodes without an id there are dropped.
func (d *forecastDocument) renamed(to func(ID) (ID, bool)) *forecastDocument {
	if d == nil {
		return nil
	}
	r, m := *d, d.Memory
	r.Memory = eventMemoryDocument{Newest: renamedAll(m.Newest, to), Targets: renamedAll(m.Targets, to), Sources: renamedAll(m.Sources, to), Seen: m.Seen}
	for i, u := range m.From {
		source, ok := to(u)
		if target, also := to(m.To[i]); ok && also {
			r.Memory.From, r.Memory.To = append(r.Memory.From, source), append(r.Memory.To, target)
		}
	}
	return &r
}

func renamedAll(nodes []ID, to func(ID) (ID, bool)) (all []ID) {
	for _, u := range nodes {
		if v, ok := to(u); ok {
			all = append(all, v)
		}
	}
	return all
}

// nodes returns all nodes in the memory, possibly with duplicates.
func (m *eventMemory) nodes() (all []ID) {
	all = append(append(all, m.sources...), m.targets...) // they include the newest
	for _, p := range m.pairs {
		all = append(all, p.Source, p.Target)
	}
	return all
}

// bytes is the memory that the forecast takes.
func (f *forecast) bytes() int {
	if f == nil {
		return 0
	}
	return 6*4*len(f.pupil.now.theta) + 20*len(f.memory.roles) + 8*len(f.memory.pairs)
}
