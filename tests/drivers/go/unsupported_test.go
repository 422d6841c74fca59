package drivers

// An honest no, and a lint for free, as a program meets them through the driver.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocql/gocql"
)

func startWithTTL(t *testing.T, args ...string) (*server, *gocql.Session) {
	s := startServer(t, append([]string{"--clock", "manual"}, args...)...)
	session := s.session()
	run(t, session, keyspace)
	run(t, session, "CREATE TABLE feat.clicks (user text, ts int, item bigint, PRIMARY KEY (user, ts)) "+
		"WITH default_time_to_live = 60")
	return s, session
}

func unsupported(t *testing.T, session *gocql.Session, kind string) []string {
	t.Helper()
	return rows(t, session.Query("SELECT code, count FROM liststore.unsupported WHERE kind = ?", kind))
}

func TestARefusalSaysWhatAndWhatInstead(t *testing.T) {
	s, session := startWithTTL(t, "--strict")
	for turn := 0; turn < 2; turn++ {
		err := session.Query("CREATE TRIGGER v ON feat.clicks USING 'org.example.Trigger'").Exec()
		same(t, "refusal", said(err), "liststore does not support triggers (CREATE TRIGGER); "+
			"instead: a batch that makes the further writes as well [LS-0004]")
	}
	same(t, "counts", unsupported(t, session, "refused"), []string{"LS-0004 2"})
	session.Close()
	same(t, "status", s.stop(), 3)
}

func TestWhatHasNoEffectIsTakenAndSaidOnce(t *testing.T) {
	s, session := startWithTTL(t, "--strict")
	run(t, session, "ALTER TABLE feat.clicks WITH compaction = {'class': 'LeveledCompactionStrategy'}")
	// gocql asks for QUORUM by itself, which has none either.
	same(t, "counts", unsupported(t, session, "no effect"), []string{"LS-0101 1", "LS-0105 1", "LS-0119 1"})
	session.Close()
	same(t, "status", s.stop(), 0)
}

// report runs `liststore report`: its status, and how many failures it writes for the machine.
func report(t *testing.T, s *server) string {
	t.Helper()
	junit := filepath.Join(t.TempDir(), "lint.xml")
	command := exec.Command(os.Getenv("LISTSTORE_BINARY"), "report", "--via",
		fmt.Sprintf("127.0.0.1:%d", s.Port), "--junit", junit)
	command.Run()
	written, err := os.ReadFile(junit)
	check(t, err)
	return fmt.Sprintf("status %d, %d failures", command.ProcessState.ExitCode(),
		strings.Count(string(written), "<failure"))
}

// One cannot be planted: this driver prepares every statement.
func TestPlantedSinsAreFound(t *testing.T) {
	s, session := startWithTTL(t)
	run(t, session, "SELECT user FROM feat.clicks WHERE item = ? ALLOW FILTERING", 7)
	users := []string{}
	for user := 0; user < 21; user++ {
		users = append(users, fmt.Sprint(user))
	}
	run(t, session, "SELECT item FROM feat.clicks WHERE user IN ?", users)
	batch := session.NewBatch(gocql.LoggedBatch)
	for _, user := range users[:2] {
		batch.Query("INSERT INTO feat.clicks (user, ts, item) VALUES (?, 1, 7)", user)
	}
	check(t, session.ExecuteBatch(batch))
	same(t, "rules", rows(t, session.Query("SELECT rule FROM liststore.lint")),
		[]string{"allow_filtering", "batch_partitions", "in_keys"})
	same(t, "report", report(t, s), "status 1, 3 failures")
}

func TestACleanRunHasNothingToReport(t *testing.T) {
	s, session := startWithTTL(t)
	for turn := 0; turn < 10; turn++ {
		run(t, session, "INSERT INTO feat.clicks (user, ts, item) VALUES (?, ?, ?)", "u1", turn, turn)
		run(t, session, "SELECT item FROM feat.clicks WHERE user = ?", "u1")
	}
	same(t, "report", report(t, s), "status 0, 0 failures")
}
