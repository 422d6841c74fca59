// gocql, unmodified, against `liststore serve`. LISTSTORE_BINARY names the program; each server listens on
// loopback, on a free port, and ends with its standard input.
package drivers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/gocql/gocql"
)

const keyspace = "CREATE KEYSPACE feat WITH replication = " +
	"{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}"

type server struct {
	t       *testing.T
	command *exec.Cmd
	stdin   io.Closer
	Port    int    `json:"cql_port"`
	Clock   string `json:"clock"`
}

// startServer starts one that ends with the test.
func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{t: t}
	s.command = exec.Command(os.Getenv("LISTSTORE_BINARY"),
		append([]string{"serve", "--cql-port", "0", "--until-eof"}, args...)...)
	s.command.Stderr = os.Stderr
	stdin, err := s.command.StdinPipe()
	check(t, err)
	s.stdin = stdin
	stdout, err := s.command.StdoutPipe()
	check(t, err)
	check(t, s.command.Start())
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	check(t, err)
	check(t, json.Unmarshal(line, s))
	t.Cleanup(func() { s.stop() })
	return s
}

// stop ends it; its status.
func (s *server) stop() int {
	if s.command.ProcessState == nil {
		s.stdin.Close()
		var exit *exec.ExitError
		if err := s.command.Wait(); err != nil && !errors.As(err, &exit) {
			s.t.Error(err)
		}
	}
	return s.command.ProcessState.ExitCode()
}

// cluster has nothing set but host and port, and a log that fails the test when anything is in it.
func (s *server) cluster() *gocql.ClusterConfig {
	cluster := gocql.NewCluster("127.0.0.1")
	cluster.Port = s.Port
	cluster.Logger = &silentLog{t: s.t}
	return cluster
}

// session ends with the test, before the server.
func (s *server) session() *gocql.Session { return connect(s.t, s.cluster()) }

func connect(t *testing.T, cluster *gocql.ClusterConfig) *gocql.Session {
	t.Helper()
	session, err := cluster.CreateSession()
	check(t, err)
	t.Cleanup(session.Close)
	return session
}

// silentLog is a driver's log in which nothing is expected.
type silentLog struct {
	t     *testing.T
	mutex sync.Mutex
}

func (l *silentLog) Print(v ...interface{}) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.t.Errorf("the driver logs: %s", fmt.Sprint(v...))
}
func (l *silentLog) Printf(format string, v ...interface{}) { l.Print(fmt.Sprintf(format, v...)) }
func (l *silentLog) Println(v ...interface{})               { l.Print(fmt.Sprintln(v...)) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// said is what the server said of an error, without what a driver has to add.
func said(err error) string {
	if _, message, ok := serverError(err); ok {
		return message
	}
	return fmt.Sprint(err)
}

func run(t *testing.T, session *gocql.Session, statement string, values ...interface{}) {
	t.Helper()
	if err := session.Query(statement, values...).Exec(); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// rows of a query, each as its columns in the order of the SELECT, as fmt shows them.
func rows(t *testing.T, query *gocql.Query) []string {
	t.Helper()
	iter := query.Iter()
	found := []string{}
	for {
		row, err := iter.RowData()
		check(t, err)
		if !iter.Scan(row.Values...) {
			break
		}
		texts := make([]string, len(row.Values))
		for i, value := range row.Values {
			texts[i] = text(value)
		}
		found = append(found, strings.Join(texts, " "))
	}
	check(t, iter.Close())
	return found
}

// text of a pointer that RowData has made.
func text(value interface{}) string {
	switch value := value.(type) {
	case *string:
		return *value
	case *int:
		return fmt.Sprint(*value)
	case *int64:
		return fmt.Sprint(*value)
	case *bool:
		return fmt.Sprint(*value)
	case *[]string:
		return fmt.Sprint(*value)
	default:
		return fmt.Sprintf("%T", value)
	}
}

func same(t *testing.T, what string, found, wanted interface{}) {
	t.Helper()
	if a, b := fmt.Sprintf("%v", found), fmt.Sprintf("%v", wanted); a != b {
		t.Fatalf("%s: %s, wanted %s", what, a, b)
	}
}
