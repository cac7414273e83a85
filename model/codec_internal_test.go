package model

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"runtime"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"kith/model/internal/spectral"
	"kith/model/nn"
)

// wrap puts a body into a valid envelope.
func wrap(t testing.TB, body []byte) []byte {
	t.Helper()
	b, err := msgpack.Marshal(&envelope{Magic: magic, Version: version, Sum: spectral.Checksum(body), Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// body decodes an envelope.
func body(t testing.TB, b []byte) (e envelope) {
	t.Helper()
	if err := msgpack.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// A decoded model is the same as before, in whatever order its options were set.
func TestDecodeIsSame(t *testing.T) {
	t.Parallel()
	for _, settings := range [][]any{{"width", 2, "alpha", 0.5}, {"norm", "row", "alpha", 0.5, "width", 2}, {"width", 4, "alpha", 0.5, "width", 2}} {
		m := newModel(t, "prb", "default", 2, settings...)
		other, err := Decode(encode(t, m))
		if err != nil {
			t.Fatal(err)
		}
		if !Same(m.Scorer(), other.Scorer()) {
			t.Errorf("%v: the decoded model differs", settings)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	good := encode(t, newModel(t, "prb", "default", 2, "width", 2, "pool", 10))
	newer := body(t, good)
	newer.Version++
	older := body(t, good)
	older.Version--
	other := body(t, good)
	other.Magic = "another model"
	pack := func(v any) []byte {
		b, err := msgpack.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		name string
		b    []byte
		want error
	}{
		{"nothing", nil, errCorrupt},
		{"truncated", good[:len(good)/2], errCorrupt},
		{"with a tail", append(bytes.Clone(good), 0), errCorrupt},
		{"of a newer version", pack(&newer), ErrVersion},
		{"of an older version", pack(&older), ErrVersion},
		{"of another kind", pack(&other), errCorrupt},
		{"text", []byte("kith model"), errCorrupt},
		{"an empty body", wrap(t, nil), errCorrupt},
		{"an empty document", wrap(t, pack(map[string]any{})), errCorrupt},
		{"more weights than bytes", wrap(t, []byte("\x81\xa4Spec\x81\xa7Weights\xdd\xff\xff\xff\xff")), errCorrupt},
		{"more options than bytes", wrap(t, []byte("\x81\xa7Options\xdf\xff\xff\xff\xff")), errCorrupt},
		{"lists in lists", wrap(t, bytes.Repeat([]byte{0x91}, 1<<20)), errCorrupt},
	} {
		if _, err := Decode(c.b); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	for i := range good {
		damaged := bytes.Clone(good)
		damaged[i] ^= 0x10
		if _, err := Decode(damaged); err == nil {
			t.Fatalf("byte %d of %d was changed and nobody noticed", i, len(good))
		}
	}
}

// A body that contradicts itself is an error even if its checksum is correct.
func TestDecodeChecksTheBody(t *testing.T) {
	t.Parallel()
	option := func(name string, value any) []storedOption { return []storedOption{{name, value}} }
	refused(t, newModel(t, "prb", "default", 2), map[string]func(*document){
		"unknown policy":   func(d *document) { d.Spec.Policy = "prp" },
		"another policy":   func(d *document) { d.Spec.Policy = "prb_greedy" },
		"no policy":        func(d *document) { d.Spec.Policy = "" },
		"unknown preset":   func(d *document) { d.Spec.Preset = "newspaper" },
		"unknown option":   func(d *document) { d.Options = option("height", 3) },
		"huge width":       func(d *document) { d.Options = option("width", 1<<40) },
		"negative layers":  func(d *document) { d.Options = option("layers", -3) },
		"feature length":   func(d *document) { d.Spec.FeatureLen = -1 },
		"no block":         func(d *document) { d.Options = option("blocks", "") },
		"alpha":            func(d *document) { d.Options = option("alpha", 1) },
		"rate":             func(d *document) { d.Options = option("exploit_rate", math.NaN()) },
		"value":            func(d *document) { d.Options = option("width", []int{3}) },
		"rounds":           func(d *document) { *d.Rounds = -1 },
		"weights":          func(d *document) { (*d.Weights)[0] = (*d.Weights)[0][1:] },
		"more weights":     func(d *document) { *d.Weights = append(*d.Weights, make([]float32, 1)) },
		"no weights":       func(d *document) { d.Weights = nil },
		"no network":       func(d *document) { d.Exploit = nil },
		"steps":            func(d *document) { d.Explore.Opt.Steps = -1 },
		"replay":           func(d *document) { d.Exploit.Data.Y = make(nn.Floats, 1) },
		"edges":            func(d *document) { d.Exploit.Data.Edges = 5 },
		"weights not real": func(d *document) { (*d.Weights)[0][0] = float32(math.NaN()) },
		"a memory":         func(d *document) { d.Samples = &nn.Samples{} },
		"a forecast":       func(d *document) { d.HasForecast = true },
		"vectors":          func(d *document) { d.HasVectors = true },
	})
	refused(t, tried(t, 4), map[string]func(*document){
		"no belief":       func(d *document) { d.Belief = nil },
		"networks":        func(d *document) { d.Exploit = &nn.Regressor{} },
		"no samples":      func(d *document) { d.Samples = nil },
		"mean":            func(d *document) { (*d.Belief)[0] = (*d.Belief)[0][1:] },
		"covariance":      func(d *document) { (*d.Belief)[1] = nil },
		"mean not real":   func(d *document) { (*d.Belief)[0][0] = math.NaN() },
		"cov not finite":  func(d *document) { (*d.Belief)[1][0] = math.Inf(1) },
		"cov too large":   func(d *document) { (*d.Belief)[1][0] = 1e300 },
		"level":           func(d *document) { d.Level.Slope = math.NaN() },
		"replay":          func(d *document) { d.Samples.Y = make(nn.Floats, 1) },
		"edges":           func(d *document) { d.Samples.Edges = 5 },
		"memory":          func(d *document) { d.Memory.total.Wins = -1 },
		"memory not real": func(d *document) { d.Memory.total.Tries = math.NaN() },
	})
}

// refused checks that Decode returns errCorrupt for each damage to the document of a model.
func refused(t *testing.T, m *Model, damages map[string]func(*document)) {
	t.Helper()
	for name, spoil := range damages {
		c, err := m.Clone()
		if err != nil {
			t.Fatal(err)
		}
		d := c.document()
		spoil(d)
		b, err := seal(magic, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(b); !errors.Is(err, errCorrupt) {
			t.Errorf("%s: %v, want errCorrupt", name, err)
		}
	}
}

// FuzzDecode decodes whole documents, and bodies that are wrapped with a correct checksum.
func FuzzDecode(f *testing.F) {
	for _, preset := range Presets() {
		for _, policy := range []string{"default", "prb", "prb_greedy", "ppr"} {
			m := newModel(f, policy, preset, 2, "width", 4)
			b := encode(f, m)
			f.Add(b)
			f.Add(body(f, b).Body)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, document := range [][]byte{b, wrap(t, b)} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m, err := Decode(document)
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<22+64*uint64(len(b)) {
				t.Fatalf("%d bytes took %d of memory", len(b), grown)
			}
			if err != nil {
				continue
			}
			if _, err := Decode(encode(t, m)); err != nil {
				t.Fatalf("what was decoded cannot be encoded: %v", err)
			}
		}
	})
}

var update = flag.Bool("update", false, "write the files of testdata")

// A stored document stays readable as long as the version is the same.
func TestDecodeStored(t *testing.T) {
	t.Parallel()
	const path = "testdata/stored.model"
	if *update {
		m := newModel(t, "prb", "default", 3, "width", 2, "pool", 4)
		play(t, m, newRounds(1), 12)
		if err := os.WriteFile(path, encode(t, m), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := decodeFile(t, path)
	if m.Rounds() != 12 || m.Policy() != "prb" || !m.Trained() || m.exploit.Data.Len() != 12 || m.config.Width != 2 || m.Outdated() {
		t.Errorf("%d rounds of %s, trained %v, %d samples", m.Rounds(), m.Policy(), m.Trained(), m.exploit.Data.Len())
	}
	if got := m.config.Blocks.String(); got != "source target product structural" {
		t.Errorf("blocks %s", got)
	}
}

func decodeFile(t *testing.T, path string) *Model {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Decode(b)
	if err != nil {
		t.Fatal(path, err)
	}
	return m
}
