package model

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vmihailenco/msgpack/v5"

	"kith/model/nn"
)

const (
	version      = 4 // of documents; others are refused
	magic        = "kith model"
	vectorsMagic = "kith vectors"
)

// envelope is the outer document: it tells whether the body can be read.
type envelope struct {
	Magic   string
	Version int
	Sum     uint32 // crc32c of Body
	Body    []byte // a document
}

// document is the stored form of a model. Float32 vectors are little-endian bytes.
type document struct {
	Config   config
	Columns  string // config.columns at the time of writing; "": unknown
	Outdated bool
	Rounds   int
	Trained  bool
	Random   []byte
	Exploit  *nn.RegressorDocument
	Explore  *nn.RegressorDocument
	Z        []byte
	Belief   *beliefDocument   `msgpack:",omitempty"`
	Forecast *forecastDocument `msgpack:",omitempty"` // omitted if nothing was learned
	Fitted   [][]byte          `msgpack:",omitempty"` // weights of a fitted policy, if Trained
}

// MarshalBinary returns the whole learner as one msgpack document: configuration, weights, optimiser, replay, position
// in the schedule, random state.
func (m *Model) MarshalBinary() ([]byte, error) {
	d, err := m.document()
	if err != nil {
		return nil, err
	}
	if d.Belief != nil {
		d.Belief.Vectors = d.Belief.vectors.document()
	}
	return seal(magic, d)
}

// MarshalState is MarshalBinary without the vectors of the nodes, which may be long and change only in a training.
// [DecodeParts] takes them as a separate argument.
func (m *Model) MarshalState() ([]byte, error) {
	d, err := m.document()
	if err != nil {
		return nil, err
	}
	if d.Belief != nil {
		d.Belief.Apart = d.Belief.vectors != nil
	}
	return seal(magic, d)
}

// MarshalVectors returns the vectors of the nodes, or nil for a model without vectors.
func (m *Model) MarshalVectors() ([]byte, error) {
	if m.belief == nil || m.belief.vectors == nil {
		return nil, nil
	}
	return seal(vectorsMagic, m.belief.vectors.document())
}

// seal puts a document into its envelope.
func seal(magic string, d any) ([]byte, error) {
	body, err := msgpack.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("model: body: %w", err)
	}
	return msgpack.Marshal(&envelope{Magic: magic, Version: version, Sum: checksum(body), Body: body})
}

// Clone returns an independent copy of the model that continues as this one would.
func (m *Model) Clone() (*Model, error) {
	d, err := m.document()
	if err != nil {
		return nil, err
	}
	return d.model()
}

func (m *Model) document() (*document, error) {
	random, err := m.source.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("model: random state: %w", err)
	}
	return &document{
		Config: m.config, Columns: m.config.columns(), Outdated: m.outdated, Rounds: m.rounds, Trained: m.trained, Random: random,
		Exploit: m.exploit.Document(), Explore: m.explore.Document(), Z: m.design.Pack(),
		Belief: m.belief.document(), Forecast: m.forecast.document(),
		Fitted: nn.PackAll(m.weights),
	}, nil
}

// Decode rebuilds a model that continues bit by bit where the encoded one stopped. A model that was stored with other
// columns is returned untrained: see [Model.Outdated]. Decode returns ErrCorrupt for bytes that MarshalBinary did not
// write, and ErrVersion if they have another version. The memory it takes is a small multiple of len(b).
func Decode(b []byte) (*Model, error) { return DecodeParts(b, nil) }

// DecodeParts is Decode for the results of MarshalState and MarshalVectors.
func DecodeParts(state, vectors []byte) (*Model, error) {
	var d document
	if err := open(magic, state, &d); err != nil {
		return nil, err
	}
	if d.Belief != nil {
		d.Belief.packed = vectors
	}
	m, err := d.model()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return m, nil
}

// open decodes a document from its envelope.
func open(magic string, b []byte, d any) error {
	var e envelope
	if err := unmarshal(b, &e); err != nil {
		return err
	}
	switch {
	case e.Magic != magic:
		return fmt.Errorf("%w: begins with %.20q", ErrCorrupt, e.Magic)
	case e.Version != version:
		return fmt.Errorf("%w: %d, this program reads %d", ErrVersion, e.Version, version)
	case e.Sum != checksum(e.Body):
		return fmt.Errorf("%w: checksum", ErrCorrupt)
	}
	return unmarshal(e.Body, d)
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// unmarshal reads exactly one value.
func unmarshal(b []byte, v any) error {
	r := bytes.NewReader(b)
	if err := msgpack.NewDecoder(r).Decode(v); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if r.Len() > 0 {
		return fmt.Errorf("%w: %d bytes too many", ErrCorrupt, r.Len())
	}
	return nil
}

// model builds the model that the document describes. It checks the lengths in the document before it allocates.
func (d *document) model() (*Model, error) {
	if now, same, err := d.current(); err != nil || !same {
		return d.untrained(now, err)
	}
	if err := d.Config.check(); err != nil {
		return nil, err
	}
	p, err := policyOf(d.Config.Policy)
	switch {
	case err != nil:
		return nil, err
	case d.Rounds < 0:
		return nil, fmt.Errorf("%d rounds", d.Rounds)
	case p.believes != (d.Belief != nil):
		return nil, fmt.Errorf("a belief does not fit policy %s", p.name)
	case (p.learns && !p.believes) != (d.Exploit != nil) || p.explores != (d.Explore != nil):
		return nil, fmt.Errorf("networks do not fit policy %s", p.name)
	case d.Exploit != nil && len(d.Exploit.Theta) != 4*d.Config.exploitShape().Params():
		return nil, fmt.Errorf("%d bytes of weights", len(d.Exploit.Theta))
	case p.explores && len(d.Explore.Theta) != 4*d.Config.exploreShape().Params():
		return nil, fmt.Errorf("%d bytes of exploration weights", len(d.Explore.Theta))
	}
	weights, err := d.weights(p)
	if err != nil {
		return nil, err
	}
	m, err := build(d.Config)
	if err != nil {
		return nil, err
	}
	m.weights, m.views = weights, newViews()
	m.rounds, m.trained, m.outdated, m.source = d.Rounds, d.Trained, d.Outdated, new(rand.PCG)
	if err := m.source.UnmarshalBinary(d.Random); err != nil {
		return nil, err
	}
	if err := m.exploit.Restore(d.Exploit); err != nil {
		return nil, err
	}
	if err := m.belief.restore(d.Belief); err != nil {
		return nil, err
	}
	if m.forecast, err = d.Forecast.forecast(&m.config); err != nil {
		return nil, err
	}
	if err := m.design.Restore(d.Z); err != nil {
		return nil, err
	}
	return m, m.explore.Restore(d.Explore)
}

// weights reads the weights of a trained fitted policy.
func (d *document) weights(p policy) ([][]float32, error) {
	var sizes []int
	if p.fitted != nil && d.Trained {
		sizes = p.fitted.sizes(&d.Config)
	}
	if len(d.Fitted) != len(sizes) {
		return nil, fmt.Errorf("%d weight vectors, want %d", len(d.Fitted), len(sizes))
	}
	if sizes == nil {
		return nil, nil
	}
	weights := make([][]float32, len(sizes))
	for i, n := range sizes {
		if len(d.Fitted[i]) != 4*n {
			return nil, fmt.Errorf("weight vector %d of %d bytes, want %d", i, len(d.Fitted[i]), 4*n)
		}
		weights[i] = make([]float32, n)
		if !nn.UnpackFloats(weights[i], d.Fitted[i]) {
			return nil, fmt.Errorf("weight vector %d is not finite", i)
		}
	}
	return weights, nil
}

// check accepts exactly the configurations that a spec can resolve to.
func (c *config) check() error {
	for _, o := range options() {
		if err := o.set(new(config), o.get(c)); err != nil {
			return err
		}
	}
	settled := *c
	p, err := policyOf(c.Policy)
	if err != nil {
		return err
	}
	switch {
	case c.FeatureLen < 0 || c.FeatureLen > maxFeatures || c.Blocks >= 1<<len(blockKinds):
		return fmt.Errorf("feature length %d, blocks %d", c.FeatureLen, c.Blocks)
	case !c.Schedule.valid() || c.Exploit.Check() != nil || c.Explore.Check() != nil:
		return fmt.Errorf("training plan")
	case c.Kernel < 0 || c.Kernel > 0 && (c.Stride < 1 || c.Kernel > nn.PhiLen(c.exploitShape(), c.Pool)):
		return fmt.Errorf("convolution %d, %d", c.Kernel, c.Stride)
	case !nn.Finite(c.Shift, c.ExtraTarget, c.Optimism) || c.ExtraRounds < 0 || c.DecayAfter < 0:
		return fmt.Errorf("exploration")
	}
	return settled.settle(p)
}

// columns describes the numbers that a model of this configuration learns from and stores: name, version and length of
// each block of its contexts, and the lengths of the weights trained on them. A model that was stored with other
// columns cannot be used.
func (c *config) columns() string {
	p, err := policyOf(c.Policy)
	if err != nil {
		return ""
	}
	var parts []string
	if p.learns {
		for i, kind := range blockKinds {
			if n := c.blockLen(i); n > 0 {
				parts = append(parts, fmt.Sprintf("%s/%d:%d", kind.name, kind.version, n))
			}
		}
	}
	if p.believes {
		parts = append(parts, fmt.Sprintf("history:%d ranker:%d", historyLen, c.rankerShape().Params()))
	}
	if p.fitted != nil {
		parts = append(parts, fmt.Sprintf("weights:%v", p.fitted.sizes(c)))
	}
	return strings.Join(parts, " ")
}

// Columns returns a checksum that identifies the meaning of the numbers of a context. A model learns only from contexts
// with its own columns.
func (m *Model) Columns() uint32 { return checksum([]byte(m.config.columns())) }

// Outdated reports whether the model was stored with other columns. In that case everything it had learned is lost,
// except a belief's memory of pairs and nodes. Outdated stays true until a training succeeds.
func (m *Model) Outdated() bool { return m.outdated }

// renewed returns the configuration that the current version resolves for the same spec.
func (c *config) renewed() (config, error) {
	s := Spec{Policy: c.Policy, Preset: c.Preset, FeatureLen: c.FeatureLen, Seed: c.Seed, Classes: c.Classes, ClassLabel: c.ClassLabel}
	for _, o := range options() {
		if slices.Contains(c.Set, o.name) {
			s.set = append(s.set, setting{o, o.get(c)})
		}
	}
	return s.resolve()
}

// current returns the configuration that the current version resolves for the document's model, and whether its columns
// match the document's.
func (d *document) current() (config, bool, error) {
	if _, err := policyOf(d.Config.Policy); err != nil {
		return d.Config, false, err
	}
	c, err := d.Config.renewed()
	return c, err == nil && c.columns() == d.Columns, err
}

// untrained builds an untrained model of configuration c with the memory stored in the document.
func (d *document) untrained(c config, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	m, err := untrained(c)
	if err != nil {
		return nil, err
	}
	m.outdated = d.Trained || d.Outdated
	if m.belief == nil || d.Belief == nil {
		return m, nil
	}
	m.rounds = max(d.Rounds, 0)
	m.belief.memory, err = restoreMemory(d.Belief.Total, d.Belief.Nodes)
	return m, err
}

// EncodeMsgpack writes the names of the blocks.
func (b blocks) EncodeMsgpack(e *msgpack.Encoder) error { return e.EncodeString(b.String()) }

// DecodeMsgpack reads block names and skips unknown ones.
func (b *blocks) DecodeMsgpack(d *msgpack.Decoder) error {
	names, err := d.DecodeString()
	*b = 0
	for _, name := range strings.Fields(names) {
		known, _ := parseBlocks(name)
		*b |= known
	}
	return err
}
