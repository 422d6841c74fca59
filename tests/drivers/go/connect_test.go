package drivers

// An unmodified driver with default settings connects, prepares, pages, batches and disconnects, without a
// line in its log and without an attempt to reach another address.

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

const (
	pageRows  = 10000
	batchRows = 100
)

// dialer notes every address to which the driver connects.
type dialer struct {
	net.Dialer
	mutex     sync.Mutex
	addresses map[string]bool
}

func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d.mutex.Lock()
	d.addresses[address] = true
	d.mutex.Unlock()
	return d.Dialer.DialContext(ctx, network, address)
}

// work does what a service does in its life; the addresses to which its driver connected.
func work(t *testing.T, cluster *gocql.ClusterConfig) string {
	t.Helper()
	dials := &dialer{addresses: map[string]bool{}}
	cluster.Dialer = dials
	start := time.Now()
	session, err := cluster.CreateSession()
	check(t, err)
	connected := time.Since(start)
	same(t, "first answer", rows(t, session.Query("SELECT key FROM system.local")), []string{"local"})
	fmt.Printf("figure: connected in %.1f ms, first answer %.1f ms after that\n",
		connected.Seconds()*1e3, (time.Since(start)-connected).Seconds()*1e3)
	run(t, session, keyspace)
	run(t, session, "CREATE TABLE feat.pages (p int, c int, PRIMARY KEY (p, c))")
	insert := "INSERT INTO feat.pages (p, c) VALUES (?, ?)"
	for first := 0; first < pageRows; first += batchRows {
		batch := session.NewBatch(gocql.LoggedBatch)
		for c := first; c < first+batchRows; c++ {
			batch.Query(insert, 1, c)
		}
		check(t, session.ExecuteBatch(batch))
	}
	iter := session.Query("SELECT c FROM feat.pages WHERE p = ?", 1).PageSize(999).Iter()
	next := 0
	for c := 0; iter.Scan(&c); next++ {
		same(t, "the next of all pages", c, next)
	}
	check(t, iter.Close())
	same(t, "rows of all pages", next, pageRows)
	session.Close()
	addresses := []string{}
	for address := range dials.addresses {
		addresses = append(addresses, address)
	}
	sort.Strings(addresses)
	return strings.Join(addresses, " ")
}

func TestDefaultSettingsAreAllThatIsNeeded(t *testing.T) {
	s := startServer(t)
	same(t, "addresses", work(t, s.cluster()), fmt.Sprintf("127.0.0.1:%d", s.Port))
}

func TestByName(t *testing.T) {
	s := startServer(t, "--address", "localhost")
	cluster := s.cluster()
	cluster.Hosts = []string{"localhost"}
	for _, address := range strings.Fields(work(t, cluster)) {
		if host, port, err := net.SplitHostPort(address); err != nil || port != fmt.Sprint(s.Port) ||
			!net.ParseIP(host).IsLoopback() {
			t.Errorf("an attempt to reach %s", address)
		}
	}
}

func TestOverIPv6(t *testing.T) {
	if probe, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("this machine has no address ::1")
	} else {
		probe.Close()
	}
	s := startServer(t, "--address", "::1")
	cluster := s.cluster()
	cluster.Hosts = []string{"::1"}
	same(t, "addresses", work(t, cluster), fmt.Sprintf("[::1]:%d", s.Port))
}

// forward makes a port reachable at 127.0.0.2 as well, as ssh -L and containers do; the port there.
func forward(t *testing.T, port int) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	check(t, err)
	t.Cleanup(func() { listener.Close() })
	copyAll := func(to, from net.Conn) {
		io.Copy(to, from)
		to.Close()
		from.Close()
	}
	go func() {
		for {
			incoming, err := listener.Accept()
			if err != nil {
				return
			}
			outgoing, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				incoming.Close()
				continue
			}
			go copyAll(outgoing, incoming)
			go copyAll(incoming, outgoing)
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}

func TestThroughAForwardedPort(t *testing.T) {
	for _, args := range [][]string{{}, {"--shards", "4"}, {"--shards", "off"}} {
		t.Run("serve "+strings.Join(args, " "), func(t *testing.T) {
			port := forward(t, startServer(t, args...).Port)
			cluster := (&server{t: t, Port: port}).cluster()
			cluster.Hosts = []string{"127.0.0.2"}
			throughForwarder(cluster)
			same(t, "addresses", work(t, cluster), fmt.Sprintf("127.0.0.2:%d", port))
		})
	}
}

func TestEveryReleaseVersion(t *testing.T) {
	for _, version := range releases {
		t.Run(version, func(t *testing.T) {
			args := []string{"--release-version", version}
			if !strings.HasPrefix(version, "scylla") {
				args = append(args, "--scylla", "off")
			}
			s := startServer(t, args...)
			same(t, "addresses", work(t, s.cluster()), fmt.Sprintf("127.0.0.1:%d", s.Port))
		})
	}
}

// The version that is asked for, or, when none is, the one that both know. (Asked for 5, this driver gives
// up by itself when a server has 4 at most.)
func TestEveryProtocolVersion(t *testing.T) {
	for _, version := range []int{3, 4, 0} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			s := startServer(t)
			cluster := s.cluster()
			cluster.ProtoVersion = version
			same(t, "addresses", work(t, cluster), fmt.Sprintf("127.0.0.1:%d", s.Port))
		})
	}
}

func TestAPortThatIsTaken(t *testing.T) {
	s := startServer(t)
	second := exec.Command(os.Getenv("LISTSTORE_BINARY"), "serve", "--cql-port", fmt.Sprint(s.Port))
	said, _ := second.CombinedOutput()
	same(t, "status", second.ProcessState.ExitCode(), 98)
	if !regexp.MustCompile(fmt.Sprintf(`^[^\n]*\b%d\b[^\n]*\n$`, s.Port)).Match(said) {
		t.Errorf("said %q", said)
	}
}
