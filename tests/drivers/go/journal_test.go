package drivers

// What a service has really sent, as a test asks it through the driver: liststore.requests.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gocql/gocql"
)

func requests(t *testing.T, control *gocql.Session) []string {
	t.Helper()
	return rows(t, control.Query("SELECT seq, op, tbl, consistency, prepared, page_size, values "+
		"FROM liststore.requests WHERE tbl = 'feat.clicks' ALLOW FILTERING;"))
}

// withoutSeq of rows that begin with it, which has to grow.
func withoutSeq(t *testing.T, found []string) []string {
	t.Helper()
	last, rest := 0, []string{}
	for _, row := range found {
		number, columns, _ := strings.Cut(row, " ")
		seq := 0
		if _, err := fmt.Sscan(number, &seq); err != nil || seq <= last {
			t.Fatalf("seq %s after %d", number, last)
		}
		last, rest = seq, append(rest, columns)
	}
	return rest
}

func TestEveryRequestIsThereWithWhatTheDriverMadeOfIt(t *testing.T) {
	s, control := startWithTables(t)
	// A service that reads and writes at one level.
	serve := func(level gocql.Consistency) []string {
		t.Helper()
		run(t, control, "TRUNCATE liststore.requests")
		cluster := s.cluster()
		cluster.Consistency = level
		cluster.PageSize = 10
		service := connect(t, cluster)
		run(t, service, insertItem, "u1")
		run(t, service, selectItem, "u1")
		return withoutSeq(t, requests(t, control))
	}
	same(t, "LOCAL_QUORUM", serve(gocql.LocalQuorum), []string{
		"PREPARE feat.clicks  false 0 []", "INSERT feat.clicks LOCAL_QUORUM true 10 ['u1']",
		"PREPARE feat.clicks  false 0 []", "SELECT feat.clicks LOCAL_QUORUM true 10 ['u1']"})
	same(t, "ONE", serve(gocql.One)[3], "SELECT feat.clicks ONE true 10 ['u1']")
}

func TestTheJournalIsBoundedAndEmptied(t *testing.T) {
	_, control := startWithTables(t)
	run(t, control, insertItem, "u1")
	run(t, control, "UPDATE liststore.journal SET capacity = 5 WHERE key = 'journal'")
	run(t, control, "TRUNCATE liststore.requests")
	for i := 0; i < 8; i++ {
		run(t, control, selectItem, fmt.Sprint(i))
	}
	// The eight, and the PREPARE before them.
	same(t, "counts", rows(t, control.Query("SELECT recorded, kept, dropped FROM liststore.journal")),
		[]string{"9 5 4"})
	same(t, "kept", len(requests(t, control)), 5)
	run(t, control, "TRUNCATE liststore.requests")
	same(t, "emptied", requests(t, control), []string{})
	same(t, "data stay", rows(t, control.Query(selectItem, "u1")), []string{"7"})
}
