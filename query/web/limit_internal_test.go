package web

import (
	"errors"
	"testing"

	"kith/query"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	b := budget{most: 10}
	give, ok := b.take(7)
	if !ok {
		t.Fatal("7 of 10 are refused")
	}
	if _, ok := b.take(4); ok {
		t.Error("11 of 10 are taken")
	}
	rest, ok := b.take(3)
	if !ok {
		t.Error("10 of 10 are refused")
	}
	if _, ok := b.take(1000); ok {
		t.Error("a large part is taken beside others")
	}
	give()
	rest()
	if give, ok = b.take(1000); !ok {
		t.Error("a large part is refused although nothing is taken")
	}
	give()
	if used := b.used.Load(); used != 0 {
		t.Errorf("%d are taken in the end", used)
	}
}

// Answers that are not read are counted, except small ones, such as those of statements that write.
func TestHold(t *testing.T) {
	t.Parallel()
	h := &handler{}
	h.held.most = 1 << 20
	large := &query.Rows{Columns: make([]string, 10), Rows: make([][]any, 2000)}
	written, err := h.hold(large)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.hold(large); !errors.Is(err, errBusy) {
		t.Errorf("a second large answer: %v", err)
	}
	for range 1000 {
		if _, err := h.hold(&query.Rows{Columns: make([]string, 10), Rows: make([][]any, 1)}); err != nil {
			t.Fatalf("a small answer: %v", err)
		}
	}
	written()
	if _, err := h.hold(large); err != nil {
		t.Errorf("when the first is read: %v", err)
	}
}
