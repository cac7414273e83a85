package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"kith/model/internal/spectral"
	"kith/model/nn"
)

const (
	version      = 8 // of documents; others are refused
	magic        = "kith model"
	vectorsMagic = "kith vectors"
)

// envelope is the outer document: it tells whether the body can be read.
type envelope struct {
	Magic   string
	Version int
	Sum     uint32 // crc32c of Body
	Body    []byte // a document
	Vectors []byte `msgpack:",omitempty"` // what MarshalVectors returns; nil: the model has no vectors, or they are stored elsewhere
}

// header is the part of a document that says which model to build before the rest is decoded.
type header struct {
	Spec    Spec
	Options []storedOption // all of them, because a later program may have other presets

	Columns                 string // config.columns at the time of writing
	Trained, RankerTrained  bool
	Doubtful                bool `msgpack:",omitempty"`
	HasForecast, HasVectors bool
	HasRelations            bool  `msgpack:",omitempty"`
	VectorsLeftOut          int64 `msgpack:",omitempty"`
}

type storedOption struct {
	Name  string
	Value any
}

// document lists the parts of a model that are stored. Decoding fills them in place. A part that
// the policy does not have is nil.
type document struct {
	*header
	Rounds   *int
	Outdated *bool
	Random   *rand.PCG
	Weights  *packedVectors[float32]
	Exploit  *nn.Regressor
	Explore  *nn.Regressor
	Belief   *packedVectors[float64] // mean and covariance
	Level    *level                  // of the ranker
	Samples  *nn.Samples             // of the belief
	Memory   *memory
	Forecast *forecast
}

// packedVectors are vectors of known lengths that a document stores as the bytes of all their
// numbers. Decoding fills them. It refuses other lengths and numbers that are not finite.
type packedVectors[T float32 | float64] [][]T

func (v *packedVectors[T]) EncodeMsgpack(e *msgpack.Encoder) error {
	return e.EncodeBytes(nn.PackFloats(slices.Concat(*v...)))
}

func (v *packedVectors[T]) DecodeMsgpack(d *msgpack.Decoder) error {
	b, err := d.DecodeBytes()
	if err != nil {
		return err
	}
	return v.fill(b)
}

func (v packedVectors[T]) fill(b []byte) error {
	want, all := 0, b
	for _, x := range v {
		size := binary.Size(x)
		want += size
		if want > len(all) {
			break
		}
		if !nn.UnpackFloats(x, b) {
			return errors.New("a number is not finite")
		}
		b = b[size:]
	}
	if want != len(all) {
		return fmt.Errorf("%d bytes of numbers that take %d", len(all), want)
	}
	return nil
}

// header describes the configuration and what else decides the shape of the model.
func (m *Model) header() *header {
	c := &m.config
	h := &header{
		Spec:    Spec{Policy: c.Policy, Preset: c.Preset, FeatureLen: c.FeatureLen, Words: c.Words, Seed: c.Seed},
		Columns: c.columns(), Trained: m.trained, HasForecast: m.forecast != nil,
	}
	for _, o := range options() {
		h.Options = append(h.Options, storedOption{o.name, o.get(c)})
	}
	if m.belief != nil {
		b := m.belief
		h.RankerTrained, h.Doubtful, h.VectorsLeftOut = b.rankerTrained, b.doubtful, b.leftOut
		h.HasVectors, h.HasRelations = b.vectors != nil, b.relational != nil
	}
	return h
}

// document returns the parts of the model.
func (m *Model) document() *document {
	d := &document{
		header: m.header(), Rounds: &m.rounds, Outdated: &m.outdated, Random: m.source, Exploit: m.exploit, Explore: m.explore,
		Weights: &packedVectors[float32]{}, Belief: &packedVectors[float64]{},
	}
	for _, r := range m.regressors() {
		*d.Weights = append(*d.Weights, r.Net.Theta, r.Opt.M, r.Opt.V)
	}
	if b := m.belief; b != nil {
		*d.Belief, d.Samples, d.Memory = append(*d.Belief, b.mean, b.cov), &b.data, &b.memory
		if b.ranker != nil {
			*d.Weights, d.Level = append(*d.Weights, b.ranker.net.Theta), &b.ranker.level
		}
	}
	if m.forecast != nil {
		t := &m.forecast.Trainee
		*d.Weights = append(*d.Weights, t.now.theta, t.mean.theta, t.Opt.M, t.Opt.V, t.Opt.Grad)
		d.Forecast = m.forecast
	}
	return d
}

// MarshalBinary returns the whole learner as one msgpack document: configuration, weights,
// optimiser, replay, position in the schedule, random state.
func (m *Model) MarshalBinary() ([]byte, error) {
	vectors, err := m.MarshalVectors()
	if err != nil {
		return nil, err
	}
	return seal(magic, m.document(), vectors)
}

// MarshalState is MarshalBinary without the vectors of the nodes, which may be long and change only
// in a training. [DecodeParts] and [OpenParts] take them as a separate argument.
func (m *Model) MarshalState() ([]byte, error) { return seal(magic, m.document(), nil) }

// MarshalVectors returns the vectors of the nodes and the rules of relations, or nil for a model
// without them.
func (m *Model) MarshalVectors() ([]byte, error) {
	if m.belief == nil {
		return nil, nil
	}
	p := parts{m.belief.vectors, m.belief.relational}
	if p == (parts{}) {
		return nil, nil
	}
	sealed, err := seal(vectorsMagic, p.document(), nil)
	if err != nil {
		return nil, err
	}
	b := append(binary.LittleEndian.AppendUint64(nil, uint64(len(sealed))), sealed...)
	if p.vectors != nil {
		if b, err = p.vectors.AppendPages(b); err != nil {
			return nil, fmt.Errorf("%w: %w", errCorrupt, err)
		}
	}
	return b, nil
}

// LoadVectors reads the vectors of the nodes that [OpenParts] left where they are stored. It
// returns the first error of reading them.
func (m *Model) LoadVectors() error {
	if m.belief == nil {
		return nil
	}
	v, err := m.belief.vectors.Load()
	if err != nil {
		return fmt.Errorf("%w: %w", errCorrupt, err)
	}
	m.belief.vectors = v
	return nil
}

// parts are what a training makes for the nodes and relations of a graph. They may be long, and no
// outcome changes them.
type parts struct {
	vectors    *spectral.Vectors
	relational *relational
}

type partsDocument struct {
	Vectors   *spectral.Document  `msgpack:",omitempty"`
	Relations *relationalDocument `msgpack:",omitempty"`
}

func (p parts) document() *partsDocument {
	d := &partsDocument{}
	if p.vectors != nil {
		d.Vectors = p.vectors.Document()
	}
	if p.relational != nil {
		d.Relations = p.relational.document()
	}
	return d
}

// seal puts a document into its envelope, together with the sealed vectors.
func seal(magic string, d any, vectors []byte) ([]byte, error) {
	body, err := msgpack.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("model: body: %w", err)
	}
	return msgpack.Marshal(&envelope{Magic: magic, Version: version, Sum: spectral.Checksum(body), Body: body, Vectors: vectors})
}

// Clone returns an independent copy of the model that continues as this one would. The copies share
// the vectors of the nodes, which do not change.
func (m *Model) Clone() (*Model, error) {
	body, err := msgpack.Marshal(m.document())
	if err != nil {
		return nil, err
	}
	return decodeBody(body, func() (parts, error) { return parts{m.belief.vectors, m.belief.relational}, nil })
}

// Decode rebuilds a model that continues bit by bit where the encoded one stopped. A model that was
// stored with other columns is returned untrained: see [Model.Outdated]. Decode returns ErrVersion
// for a document of a different version, and an error for bytes that MarshalBinary did not write.
// The memory it takes is a small multiple of len(b).
func Decode(b []byte) (*Model, error) { return DecodeParts(b, nil) }

// DecodeParts is Decode for the results of MarshalState and MarshalVectors.
func DecodeParts(state, nodes []byte) (*Model, error) {
	m, err := OpenParts(state, bytes.NewReader(nodes))
	if err == nil {
		err = m.LoadVectors()
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Stored is where a result of [Model.MarshalVectors] is stored. Reads may be concurrent.
type Stored = spectral.Stored

// OpenParts is DecodeParts without reading all of nodes: the vectors of a node are read when they
// are first used, and stay in memory. If that fails, answers are wrong from then on, and
// [Scorer.Err] returns why. So nodes must be readable as long as the model, its copies or their
// scorers are used, or until [Model.LoadVectors] has returned.
func OpenParts(state []byte, nodes Stored) (*Model, error) {
	e, err := open(magic, state)
	if err != nil {
		return nil, err
	}
	if e.Vectors != nil {
		nodes = bytes.NewReader(e.Vectors)
	}
	m, err := decodeBody(e.Body, func() (parts, error) { return openParts(nodes) })
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	return m, nil
}

func openParts(stored Stored) (p parts, err error) {
	sealed, pages, err := cut(stored)
	if err != nil {
		return p, fmt.Errorf("vectors of the nodes: %w", err)
	}
	e, err := open(vectorsMagic, sealed)
	if err != nil {
		return p, fmt.Errorf("vectors of the nodes: %w", err)
	}
	var d partsDocument
	if err := unmarshal(e.Body, &d); err != nil {
		return p, err
	}
	switch {
	case d.Vectors != nil:
		if p.vectors, err = d.Vectors.Vectors(pages); err != nil {
			return p, err
		}
	case pages.Size() > 0:
		return p, fmt.Errorf("%d bytes of vectors of no nodes", pages.Size())
	}
	if d.Relations != nil {
		p.relational, err = d.Relations.relational()
	}
	return p, err
}

// cut divides a result of MarshalVectors: the length of the envelope, the envelope, and the pages
// of the vectors.
func cut(stored Stored) (sealed []byte, pages Stored, err error) {
	const lengthLen = 8
	size := stored.Size() - lengthLen
	var length [lengthLen]byte
	if _, err := stored.ReadAt(length[:], 0); err != nil {
		return nil, nil, err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > uint64(max(size, 0)) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	sealed = make([]byte, n)
	if _, err := stored.ReadAt(sealed, lengthLen); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	return sealed, io.NewSectionReader(stored, lengthLen+int64(n), size-int64(n)), nil
}

// open checks an envelope. Its body and its vectors are parts of b.
func open(magic string, b []byte) (e envelope, err error) {
	if err := checkLengths(b); err != nil {
		return e, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	if err := e.read(b); err != nil {
		return e, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	switch {
	case e.Magic != magic:
		return e, fmt.Errorf("%w: begins with %.20q", errCorrupt, e.Magic)
	case e.Version != version:
		return e, fmt.Errorf("%w: %d, this program reads %d", ErrVersion, e.Version, version)
	case e.Sum != spectral.Checksum(e.Body):
		return e, fmt.Errorf("%w: checksum", errCorrupt)
	}
	if err := checkLengths(e.Body); err != nil {
		return e, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	return e, nil
}

// read reads the members of an envelope, whose lengths were checked. It copies no part of b, which
// may be long.
func (e *envelope) read(b []byte) error {
	r := bytes.NewReader(b)
	d := msgpack.NewDecoder(r)
	part := func() ([]byte, error) {
		n, err := skipBytes(d, r)
		if err != nil || n < 0 {
			return nil, err
		}
		end := len(b) - r.Len()
		return b[end-n : end], nil
	}
	n, err := d.DecodeMapLen()
	for i := 0; i < n && err == nil; i++ {
		var name string
		if name, err = d.DecodeString(); err != nil {
			break
		}
		switch name {
		case "Magic":
			e.Magic, err = d.DecodeString()
		case "Version":
			e.Version, err = d.DecodeInt()
		case "Sum":
			e.Sum, err = d.DecodeUint32()
		case "Body":
			e.Body, err = part()
		case "Vectors":
			e.Vectors, err = part()
		default:
			err = d.Skip()
		}
	}
	if err == nil && r.Len() > 0 {
		err = fmt.Errorf("%d bytes follow", r.Len())
	}
	return err
}

// Unmarshal decodes a msgpack document of any origin. It allocates a small multiple of len(b),
// whatever lengths the document claims.
func Unmarshal(b []byte, v any) error {
	if err := checkLengths(b); err != nil {
		return err
	}
	return unmarshal(b, v)
}

// checkLengths returns an error for a document with an array or a map that claims more elements
// than bytes follow, or with more than 100 of them inside each other: package msgpack allocates
// what an array claims, and decodes recursively.
func checkLengths(b []byte) error {
	r := bytes.NewReader(b)
	d := msgpack.NewDecoder(r)
	for left := []int{1}; len(left) > 0; { // number of values to come in each array and map that is open
		last := len(left) - 1
		if left[last] == 0 {
			left = left[:last]
			continue
		}
		left[last]--
		code, err := d.PeekCode()
		n := -1
		switch {
		case err != nil:
		case msgpcode.IsFixedArray(code), code == msgpcode.Array16, code == msgpcode.Array32:
			n, err = d.DecodeArrayLen()
		case msgpcode.IsFixedMap(code), code == msgpcode.Map16, code == msgpcode.Map32:
			n, err = d.DecodeMapLen()
			n *= 2
		case msgpcode.IsBin(code), msgpcode.IsString(code):
			_, err = skipBytes(d, r)
		default:
			err = d.Skip()
		}
		switch {
		case err != nil:
			return err
		case n > r.Len():
			return fmt.Errorf("a list of %d values in %d bytes", n, r.Len())
		case n > 0 && len(left) == 100:
			return errors.New("lists more than 100 deep")
		case n > 0:
			left = append(left, n)
		}
	}
	return nil
}

// skipBytes skips the string or the bytes that d, which reads from r, comes to, and returns their
// number, or -1 for nil. Decoder.Skip would copy them.
func skipBytes(d *msgpack.Decoder, r *bytes.Reader) (int, error) {
	n, err := d.DecodeBytesLen()
	switch {
	case err != nil || n < 0:
		return n, err
	case n > r.Len():
		return 0, io.ErrUnexpectedEOF
	}
	_, err = r.Seek(int64(n), io.SeekCurrent)
	return n, err
}

// unmarshal reads exactly one value.
func unmarshal(b []byte, v any) error {
	r := bytes.NewReader(b)
	if err := msgpack.NewDecoder(r).Decode(v); err != nil {
		return err
	}
	if r.Len() > 0 {
		return fmt.Errorf("%d bytes too many", r.Len())
	}
	return nil
}

// decodeBody builds the model that a document describes. It calls trained if the model has parts
// that are stored elsewhere.
func decodeBody(body []byte, trained func() (parts, error)) (*Model, error) {
	var h header
	if err := unmarshal(body, &h); err != nil {
		return nil, err
	}
	c, err := h.config()
	if err != nil {
		return nil, err
	}
	if h.Columns != c.columns() {
		return decodeOutdated(c, body)
	}
	m, err := build(c)
	if err != nil {
		return nil, err
	}
	if err := m.shape(&h); err != nil {
		return nil, err
	}
	d := m.document()
	d.header = new(header) // msgpack cannot decode into values that are set
	before, weights, belief := *d, len(*d.Weights), len(*d.Belief)
	if err := unmarshal(body, d); err != nil {
		return nil, err
	}
	if *d != before || len(*d.Weights) != weights || len(*d.Belief) != belief {
		return nil, fmt.Errorf("the parts do not fit policy %s", c.Policy)
	}
	if h.HasVectors || h.HasRelations {
		p, err := trained()
		if err != nil {
			return nil, err
		}
		if h.HasVectors != (p.vectors != nil) || h.HasRelations != (p.relational != nil) {
			return nil, errors.New("the vectors are those of another model")
		}
		m.belief.vectors, m.belief.relational = p.vectors, p.relational
	}
	return m, m.validate()
}

// isFormer reports whether an option is one that models were once stored with, though nothing of
// such a model depends on it.
func (o storedOption) isFormer() bool {
	return o.Name == "mix" || o.Name == "propagation" && o.Value == "undirected"
}

// config returns the configuration of the model.
func (h *header) config() (config, error) {
	s := h.Spec
	if s.Policy == "" {
		return config{}, errors.New("no policy")
	}
	for _, o := range h.Options {
		if o.isFormer() {
			continue
		}
		if err := s.Set(o.Name, o.Value); err != nil {
			return config{}, err
		}
	}
	return s.resolve()
}

// shape makes the parts of an untrained model that only some models have.
func (m *Model) shape(h *header) error {
	m.trained = h.Trained
	if h.HasForecast {
		if !m.Forecasts() {
			return errors.New("a forecast does not fit the contexts")
		}
		m.forecast = newForecast(&m.config)
	}
	if (h.HasVectors || h.HasRelations) && m.belief == nil {
		return errors.New("vectors of the nodes without a belief")
	}
	if m.belief != nil {
		r := m.belief.ranker
		if r != nil && h.RankerTrained {
			r = blankRanker(m.config.rankerShape(rankerMembers))
		}
		m.belief.setRanker(r, h.RankerTrained)
		m.belief.setPrior(h.Doubtful)
		m.belief.leftOut = h.VectorsLeftOut
	}
	return nil
}

// validate reports an error for decoded values that a model cannot have.
func (m *Model) validate() error {
	if m.rounds < 0 {
		return fmt.Errorf("%d rounds", m.rounds)
	}
	for _, r := range m.regressors() {
		if err := r.Check(); err != nil {
			return err
		}
	}
	if m.belief != nil {
		if err := m.belief.check(); err != nil {
			return err
		}
	}
	return m.forecast.restore()
}

// decodeOutdated builds an untrained model of configuration c with the memory stored in a document.
func decodeOutdated(c config, body []byte) (*Model, error) {
	m, err := untrained(c)
	if err != nil {
		return nil, err
	}
	var d struct {
		Rounds            int
		Trained, Outdated bool
		Memory            *memory
	}
	if err := unmarshal(body, &d); err != nil {
		return nil, err
	}
	m.outdated = d.Trained || d.Outdated
	if m.belief != nil && d.Memory != nil {
		m.rounds, m.belief.memory = max(d.Rounds, 0), *d.Memory
	}
	return m, nil
}

// WithWords returns an untrained model of policy default that learns from the words of nodes, too.
// Of what m has learned it has the memory of pairs and nodes. Other models are returned as they
// are.
func (m *Model) WithWords() (*Model, error) {
	if !m.policy.believes || m.config.Words {
		return m, nil
	}
	c := m.config
	c.Words = true
	if c.Preset == "default" {
		c.Blocks |= blockSimilarity
	}
	if err := c.complete(m.policy); err != nil {
		return nil, err
	}
	body, err := msgpack.Marshal(m.document())
	if err != nil {
		return nil, err
	}
	return decodeOutdated(c, body)
}

// columns describes the numbers that a model of this configuration learns from and stores: name,
// version and length of each block of its contexts, and the lengths of the weights trained on them.
// A model that was stored with other columns cannot be used.
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
		parts = append(parts, fmt.Sprintf("history:%d ranker:%d", historyLen, c.rankerShape(rankerMembers).Params()))
	}
	return strings.Join(parts, " ")
}

// Columns returns a checksum that identifies the meaning of the numbers of a context. A model
// learns only from contexts with its own columns.
func (m *Model) Columns() uint32 { return spectral.Checksum([]byte(m.config.columns())) }

// Outdated reports whether the model was stored with other columns. In that case everything it had
// learned is lost, except a belief's memory of pairs and nodes. Outdated stays true until a
// training succeeds.
func (m *Model) Outdated() bool { return m.outdated }
