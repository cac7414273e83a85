package wire_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"kith/db/internal/wire"
)

// text is a list that writes itself.
type text []int

func (text) MarshalJSON() ([]byte, error) { return json.Marshal("a text") }

func TestObject(t *testing.T) {
	t.Parallel()
	type part struct {
		Inner float32 `json:"inner"`
	}
	got, err := wire.Object(struct {
		part
		Number float64   `json:"number"`
		List   []float64 `json:"list"`
		Errors []error   `json:"errors"`
		Itself text      `json:"itself"`
		None   []int     `json:"none"`
		Left   int       `json:"left,omitzero"`
	}{part{float32(math.Inf(1))}, math.NaN(), []float64{1, math.Inf(-1)}, []error{errors.New("<bad>")}, nil, nil, 0})
	const want = `{"inner":null,"number":null,"list":[1,null],"errors":["<bad>"],"itself":"a text","none":[]}`
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(string(got), "\n", ""); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
