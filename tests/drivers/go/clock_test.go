package drivers

// Time and data as a test moves them through the driver: liststore.clock and liststore.data.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gocql/gocql"
)

const thirtyDays = 30 * 86400

func startClicks(t *testing.T) (*server, *gocql.Session) {
	s := startServer(t, "--clock", "manual:1700000000")
	session := s.session()
	run(t, session, keyspace)
	run(t, session, "CREATE TABLE feat.clicks (user text, ts timeuuid, item bigint, score float, "+
		"PRIMARY KEY (user, ts)) WITH CLUSTERING ORDER BY (ts DESC)")
	return s, session
}

func setClock(t *testing.T, session *gocql.Session, assignment string) {
	t.Helper()
	run(t, session, "UPDATE liststore.clock SET "+assignment+" WHERE key = 'clock'")
}

func setData(t *testing.T, session *gocql.Session, action string) {
	t.Helper()
	run(t, session, "UPDATE liststore.data SET action = '"+action+"' WHERE key = 'data'")
}

func nowNanos(t *testing.T, session *gocql.Session) (nanos int64) {
	t.Helper()
	check(t, session.Query("SELECT now_nanos FROM liststore.clock").Scan(&nanos))
	return nanos
}

func addClick(t *testing.T, session *gocql.Session, item, ttl int) {
	t.Helper()
	run(t, session, "INSERT INTO feat.clicks (user, ts, item) VALUES ('u1', now(), ?) USING TTL ?", item, ttl)
}

// clicks with their seconds left, the newest first.
func clicks(t *testing.T, session *gocql.Session) []string {
	t.Helper()
	return rows(t, session.Query("SELECT item, TTL(item) AS ttl FROM feat.clicks WHERE user = ?", "u1"))
}

func TestThirtyDaysPassAtOnce(t *testing.T) {
	s, session := startClicks(t)
	same(t, "start line", s.Clock, "manual")
	same(t, "mode", rows(t, session.Query("SELECT mode FROM liststore.clock")), []string{"manual"})
	same(t, "it stands", nowNanos(t, session), int64(1_700_000_000_000_000_000))
	addClick(t, session, 7, thirtyDays)
	same(t, "at first", clicks(t, session), []string{"7 2592000"})
	setClock(t, session, "advance = 29d23h59m59s")
	same(t, "a second before", clicks(t, session), []string{"7 1"})
	setClock(t, session, "advance = 1s")
	same(t, "after 30 days", clicks(t, session), []string{})

	// What is written now carries the moved time, though the driver sends the machine's.
	addClick(t, session, 8, thirtyDays)
	var micros int64
	var ts gocql.UUID
	check(t, session.Query("SELECT WRITETIME(item), ts FROM feat.clicks").Scan(&micros, &ts))
	now := nowNanos(t, session)
	if ahead := micros - now/1000; ahead < 0 || ahead >= 1000 {
		t.Fatalf("written %d us after now", ahead)
	}
	same(t, "now() too, in milliseconds", ts.Time().UnixMilli(), now/1_000_000)
}

func TestJumpsTakeOneElementEach(t *testing.T) {
	_, session := startClicks(t)
	for item, ttl := range []int{0, 500, 60, thirtyDays} {
		addClick(t, session, item, ttl)
	}
	start := nowNanos(t, session)
	seen := []string{}
	for jump := 0; jump < 3; jump++ {
		setClock(t, session, "jump = 'next_expiry'")
		left := rows(t, session.Query("SELECT item FROM feat.clicks WHERE user = ?", "u1"))
		seen = append(seen, fmt.Sprintf("%d: %s", (nowNanos(t, session)-start)/1e9, strings.Join(left, " ")))
	}
	same(t, "jumps", seen, []string{"60: 3 1 0", "500: 3 0", "2592000: 0"})
	err := session.Query("UPDATE liststore.clock SET jump = 'next_expiry' WHERE key = 'clock'").Exec()
	if err == nil || !strings.Contains(err.Error(), "nothing expires") {
		t.Fatal(err)
	}
}

func TestWhatTheClockRefusesChangesNothing(t *testing.T) {
	_, session := startClicks(t)
	before := nowNanos(t, session)
	err := session.Query("UPDATE liststore.clock SET advance = -1s WHERE key = 'clock'").Exec()
	same(t, "refusal", said(err), "liststore.clock: the clock cannot go backwards")
	same(t, "time", nowNanos(t, session), before)
}

func TestAResetGoesBackToTheMark(t *testing.T) {
	_, session := startClicks(t)
	addClick(t, session, 1, 60)
	marked := nowNanos(t, session)
	setData(t, session, "mark")
	addClick(t, session, 2, 60)
	run(t, session, "CREATE TABLE feat.other (p int PRIMARY KEY)")
	setClock(t, session, "advance = 1h")
	same(t, "an hour later", clicks(t, session), []string{})
	setData(t, session, "reset")
	same(t, "time", nowNanos(t, session), marked)
	same(t, "by what was prepared before", clicks(t, session), []string{"1 60"})
	same(t, "schema", said(session.Query("SELECT p FROM feat.other").Exec()), "unconfigured table other")
	setData(t, session, "forget")
	setData(t, session, "reset")
	same(t, "without a mark", rows(t, session.Query("SELECT tables FROM liststore.data")), []string{"0"})
}
