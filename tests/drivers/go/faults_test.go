package drivers

// Faults as a program meets them through the driver: one row for each action, and three reads that time
// out. docs/test_double.md shows the same rows.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

const (
	selectItem = "SELECT item FROM feat.clicks WHERE user = ?"
	insertItem = "INSERT INTO feat.clicks (user, item) VALUES (?, 7)"
	itsAnswer  = "its answer"
	delay      = 20 * time.Millisecond
)

// What is asked, and what a program sees, whether the driver retries or not: the only other host to go
// to is none.
var actions = []struct{ action, statement, seen string }{
	{"read_timeout", selectItem, "RequestErrReadTimeout"},
	{"write_timeout", insertItem, "RequestErrWriteTimeout"},
	{"unavailable", selectItem, "RequestErrUnavailable"},
	{"overloaded", selectItem, "ErrCodeOverloaded"},
	{"server_error", selectItem, "ErrCodeServer"},
	{"rate_limit", selectItem, "ErrCodeConfig"},
	{"close_connection", selectItem, "EOF"},
	{"no_answer", selectItem, "ErrTimeoutNoResponse"},
	{"unprepared", selectItem, itsAnswer},
	{"delay 20ms", selectItem, itsAnswer},
}

// nameOf what a statement came to, as a program would tell it apart.
func nameOf(err error) string {
	var readTimeout *gocql.RequestErrReadTimeout
	var writeTimeout *gocql.RequestErrWriteTimeout
	var unavailable *gocql.RequestErrUnavailable
	switch {
	case err == nil:
		return itsAnswer
	case errors.Is(err, gocql.ErrTimeoutNoResponse):
		return "ErrTimeoutNoResponse"
	case errors.Is(err, io.EOF):
		return "EOF"
	case errors.As(err, &readTimeout):
		return "RequestErrReadTimeout"
	case errors.As(err, &writeTimeout):
		return "RequestErrWriteTimeout"
	case errors.As(err, &unavailable):
		return "RequestErrUnavailable"
	case isRateLimited(err):
		return rateLimited
	}
	code, _, _ := serverError(err)
	switch code {
	case gocql.ErrCodeOverloaded:
		return "ErrCodeOverloaded"
	case gocql.ErrCodeServer:
		return "ErrCodeServer"
	case gocql.ErrCodeConfig:
		return "ErrCodeConfig"
	}
	return fmt.Sprintf("%T: %v", err, err)
}

func startWithTables(t *testing.T) (*server, *gocql.Session) {
	s := startServer(t, "--clock", "manual")
	control := s.session()
	run(t, control, keyspace)
	for _, table := range []string{"clicks", "views"} {
		run(t, control, "CREATE TABLE feat."+table+" (user text, item bigint, PRIMARY KEY (user, item))")
	}
	return s, control
}

func TestEachFaultIsSeenAsItself(t *testing.T) {
	s, control := startWithTables(t)
	policies := map[string]gocql.RetryPolicy{
		"without retries": nil, "with a retry": &gocql.SimpleRetryPolicy{NumRetries: 1}}
	for _, row := range actions {
		for name, policy := range policies {
			t.Run(row.action+" "+name, func(t *testing.T) {
				cluster := s.cluster()
				cluster.RetryPolicy = policy
				if row.action == "no_answer" {
					// It is given up soon, by the client's real clock.
					cluster.Timeout = 300 * time.Millisecond
				}
				session := connect(t, cluster)
				run(t, control, "INSERT INTO liststore.faults (name, op, tbl, times, action) "+
					"VALUES ('f', ?, 'feat.clicks', 1, ?)", strings.Fields(row.statement)[0], row.action)
				start := time.Now()
				err := session.Query(row.statement, "u1").Idempotent(true).Exec()
				wanted := row.seen
				if row.action == "rate_limit" {
					wanted = rateLimited
				}
				same(t, row.action, nameOf(err), wanted)
				if strings.HasPrefix(row.action, "delay") && time.Since(start) < delay {
					t.Fatal("it was not delayed")
				}
				same(t, "hits and remaining",
					rows(t, control.Query("SELECT hits, remaining FROM liststore.faults")), []string{"1 0"})
				same(t, "nothing applied", rows(t, control.Query(selectItem, "u1")), []string{})
			})
		}
	}
}

func TestThePageForTestersHasTheseRows(t *testing.T) {
	page, err := os.ReadFile(os.Getenv("LISTSTORE_PAGE"))
	check(t, err)
	for _, row := range actions {
		found := false
		for _, line := range strings.Split(string(page), "\n") {
			if strings.HasPrefix(line, "| `"+row.action+"` | ") {
				cells := strings.Split(strings.Trim(line, "| "), " | ")
				same(t, row.action, strings.Trim(cells[len(cells)-1], "`"), row.seen)
				found = true
			}
		}
		if !found {
			t.Errorf("no row for %s", row.action)
		}
	}
	if !strings.Contains(string(page), "| Go |\n") {
		t.Error("Go's is the last column")
	}
}

func TestThreeReadsTimeOutThenAllIsWell(t *testing.T) {
	s, control := startWithTables(t)
	session := s.session()
	run(t, session, insertItem, "u1")
	run(t, control, "INSERT INTO liststore.faults (name, op, tbl, times, action) "+
		"VALUES ('f1','SELECT','feat.clicks',3,'read_timeout');")
	for turn := 1; turn <= 3; turn++ {
		err := session.Query(selectItem, "u1").Consistency(gocql.LocalQuorum).Exec()
		var timeout *gocql.RequestErrReadTimeout
		if !errors.As(err, &timeout) {
			t.Fatalf("turn %d: %v", turn, err)
		}
		same(t, "details", []interface{}{timeout.Consistency, timeout.Received, timeout.BlockFor, timeout.DataPresent},
			[]interface{}{gocql.LocalQuorum, 0, 1, 0})
		run(t, session, "INSERT INTO feat.clicks (user, item) VALUES ('u2', ?)", turn)
		same(t, "another table", rows(t, session.Query("SELECT item FROM feat.views")), []string{})
	}
	same(t, "the fourth", rows(t, session.Query(selectItem, "u1")), []string{"7"})
	same(t, "the writes between", rows(t, session.Query(selectItem, "u2")), []string{"1", "2", "3"})
	same(t, "counts", rows(t, control.Query("SELECT name, hits, remaining FROM liststore.faults")), []string{"f1 3 0"})
}

func TestAWriteThatTimedOutMayHaveArrived(t *testing.T) {
	s, control := startWithTables(t)
	run(t, control, "INSERT INTO liststore.faults (name, op, times, action, applies) "+
		"VALUES ('late', 'INSERT', 1, 'write_timeout', true)")
	same(t, "seen", nameOf(s.session().Query(insertItem, "u1").Exec()), "RequestErrWriteTimeout")
	same(t, "stored", rows(t, control.Query(selectItem, "u1")), []string{"7"})
}
