//go:build shard_aware

package drivers

// What ScyllaDB's fork does otherwise than gocql: upstream_test.go has the same names.

import (
	"errors"
	"net"
	"reflect"

	"github.com/gocql/gocql"
)

// releases that the driver can be told of. Of any Cassandra it asks for system.peers_v2, which 3.11 has not.
var releases = []string{"4.1", "5.0", "scylla-2025.1"}

// rateLimited is the name of the error of a rate limit.
const rateLimited = "RequestErrRateLimitReached"

func isRateLimited(err error) bool {
	var request *gocql.RequestErrRateLimitReached
	return errors.As(err, &request)
}

// throughForwarder tells the driver the address: otherwise it goes to the one that the node gives, as it does
// behind any forwarded port.
func throughForwarder(cluster *gocql.ClusterConfig) {
	forwarded := net.ParseIP(cluster.Hosts[0])
	cluster.AddressTranslator = gocql.AddressTranslatorFunc(func(_ net.IP, port int) (net.IP, int) {
		return forwarded, port
	})
	// The port for single shards is not forwarded.
	cluster.DisableShardAwarePort = true
}

// serverError is the code and the message of an error that the server sent; the last: whether it is one. Its
// errors have them in fields, of a type that is not exported, so that none is a gocql.RequestError.
func serverError(err error) (int, string, bool) {
	for ; err != nil; err = errors.Unwrap(err) {
		value := reflect.Indirect(reflect.ValueOf(err))
		if value.Kind() != reflect.Struct {
			continue
		}
		code, message := value.FieldByName("Code"), value.FieldByName("Message")
		if code.IsValid() && message.IsValid() {
			return int(code.Int()), message.String(), true
		}
	}
	return 0, "", false
}
