// Dapr's conformance tests with its state store for Cassandra alone: its own program of them links every store there is.
package liststore

import (
	"testing"

	"github.com/dapr/components-contrib/state/cassandra"
	conformance "github.com/dapr/components-contrib/tests/conformance/state"
	"github.com/dapr/kit/logger"
)

func TestStateConformance(t *testing.T) {
	// As tests/config/state has it.
	config, err := conformance.NewTestConfig("cassandra", []string{"ttl"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	properties := map[string]string{"hosts": "127.0.0.1", "username": "cassandra", "password": "cassandra"}
	store := cassandra.NewCassandraStateStore(logger.NewLogger("test"))
	conformance.ConformanceTests(t, properties, store, config)
}
