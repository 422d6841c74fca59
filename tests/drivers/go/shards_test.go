//go:build shard_aware

package drivers

// A driver that knows of shards opens a connection to each, and sends every request to the one that has its
// partition.

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// shardOf a token, as ScyllaDB's documents define it.
func shardOf(token int64, shards uint64) int {
	biased := (uint64(token) + 1<<63) << 12
	shard, _ := bits.Mul64(biased, shards)
	return int(shard)
}

// shardsOfConnections by the client's address and port.
func shardsOfConnections(t *testing.T, session *gocql.Session) map[string]int {
	t.Helper()
	iter := session.Query("SELECT address, port, shard_id FROM system.clients").Iter()
	shards := map[string]int{}
	var address string
	var port, shard int
	for iter.Scan(&address, &port, &shard) {
		shards[fmt.Sprintf("%s:%d", address, port)] = shard
	}
	check(t, iter.Close())
	return shards
}

func TestEveryShardHasItsConnectionAndItsRequests(t *testing.T) {
	for _, count := range []int{2, 3} {
		t.Run(fmt.Sprint(count), func(t *testing.T) { requestsGoToTheirShards(t, count) })
	}
}

func requestsGoToTheirShards(t *testing.T, count int) {
	cluster := startServer(t, "--shards", fmt.Sprint(count)).cluster()
	cluster.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
	session := connect(t, cluster)
	// The pool fills in the background: its connections, and the one for schema and events.
	var connections map[string]int
	for end := time.Now().Add(20 * time.Second); len(connections) < count+1; {
		if time.Now().After(end) {
			t.Fatalf("connections to shards: %v", connections)
		}
		connections = shardsOfConnections(t, session)
	}
	reached := map[int]bool{}
	for _, shard := range connections {
		reached[shard] = true
	}
	same(t, "shards", len(reached), count)

	run(t, session, keyspace)
	run(t, session, "CREATE TABLE feat.t (p int PRIMARY KEY, v int)")
	for p := 0; p < 100; p++ {
		run(t, session, "INSERT INTO feat.t (p, v) VALUES (?, ?)", p, p*p)
	}
	wanted := map[string]int{}
	iter := session.Query("SELECT p, token(p) FROM feat.t").Iter()
	var p int
	var token int64
	for iter.Scan(&p, &token) {
		wanted[fmt.Sprint(p)] = shardOf(token, uint64(count))
	}
	check(t, iter.Close())
	same(t, "rows", len(wanted), 100)

	for _, row := range rows(t, session.Query("SELECT key, client FROM liststore.requests "+
		"WHERE tbl = 'feat.t' AND op = 'INSERT' ALLOW FILTERING")) {
		key, client, _ := strings.Cut(row, " ")
		same(t, "shard of key "+key, connections[client], wanted[key])
		delete(wanted, key)
	}
	same(t, "keys without a request", len(wanted), 0)
}
