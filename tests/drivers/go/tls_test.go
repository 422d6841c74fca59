package drivers

// Over TLS, with verification on and a login. LISTSTORE_CERTIFICATES: the folder that make_certificates has filled.

import (
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocql/gocql"
)

func startTLS(t *testing.T, args ...string) (*server, *gocql.ClusterConfig) {
	t.Helper()
	folder := os.Getenv("LISTSTORE_CERTIFICATES")
	if folder == "" {
		t.Skip("there is no openssl here")
	}
	s := startServer(t, append([]string{"--tls-certificate", filepath.Join(folder, "node.crt"),
		"--tls-key", filepath.Join(folder, "node.key"), "--tls-only", "--auth", "cassandra:secret"}, args...)...)
	cluster := s.cluster()
	cluster.Authenticator = gocql.PasswordAuthenticator{Username: "cassandra", Password: "secret"}
	cluster.SslOpts = &gocql.SslOptions{
		CaPath: filepath.Join(folder, "ca.crt"), EnableHostVerification: true}
	return s, cluster
}

func TestVerifiedAndLoggedIn(t *testing.T) {
	for _, args := range [][]string{{}, {"--shards", "2"}, {"--tls-min-version", "1.3"}} {
		t.Run("serve "+strings.Join(args, " "), func(t *testing.T) {
			_, cluster := startTLS(t, args...)
			session := connect(t, cluster)
			run(t, session, keyspace)
			run(t, session, "CREATE TABLE feat.t (p int, c int, v text, PRIMARY KEY (p, c))")
			value := strings.Repeat("v", 100000)
			for c := 0; c < 20; c++ {
				run(t, session, "INSERT INTO feat.t (p, c, v) VALUES (?, ?, ?)", 1, c, value)
			}
			iter := session.Query("SELECT c, v FROM feat.t WHERE p = 1").PageSize(7).Iter()
			next, c, v := 0, 0, ""
			for ; iter.Scan(&c, &v); next++ {
				same(t, "the next row", c, next)
				same(t, "its value", v == value, true)
			}
			check(t, iter.Close())
			same(t, "rows", next, 20)
			found := rows(t, session.Query("SELECT ssl_enabled, ssl_protocol FROM system.clients"))
			if len(found) == 0 {
				t.Fatal("the server tells who is connected")
			}
			for _, client := range found {
				same(t, "a client", client, "true TLSv1.3")
			}
		})
	}
}

func TestAServerThatIsNotBelieved(t *testing.T) {
	_, cluster := startTLS(t)
	cluster.SslOpts.CaPath = ""
	cluster.Logger = log.New(io.Discard, "", 0)
	session, err := cluster.CreateSession()
	if err == nil {
		session.Close()
		t.Fatal("connected to a server whose certificate nobody has signed whom it knows")
	}
	if !strings.Contains(err.Error(), "certificate") {
		t.Fatalf("said %v", err)
	}
}
