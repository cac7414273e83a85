package query_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if a goroutine outlives the databases, servers and pools.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
