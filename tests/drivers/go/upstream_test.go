//go:build !shard_aware

package drivers

// What gocql does otherwise than ScyllaDB's fork: fork_test.go has the same names.

import (
	"errors"

	"github.com/gocql/gocql"
)

// releases that the driver can be told of.
var releases = []string{"3.11.17", "4.1", "5.0", "scylla-2025.1"}

// rateLimited is the name of the error of a rate limit: the driver knows none of its own.
const rateLimited = "ErrCodeConfig"

func isRateLimited(error) bool { return false }

// throughForwarder needs nothing: the driver keeps to the address that it was given.
func throughForwarder(*gocql.ClusterConfig) {}

// serverError is the code and the message of an error that the server sent; the last: whether it is one.
func serverError(err error) (int, string, bool) {
	var request gocql.RequestError
	if !errors.As(err, &request) {
		return 0, "", false
	}
	return request.Code(), request.Message(), true
}
