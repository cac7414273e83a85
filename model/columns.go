package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
)

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
		for i, name := range blockNames {
			if n := c.blockLen(1 << i); n > 0 {
				parts = append(parts, fmt.Sprintf("%s/%d:%d", name, blockVersions[i], n))
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
