// golang-migrate's tests of a driver, each of them with its driver for Cassandra on a keyspace of its own; its own
// program of them starts servers in containers.
package liststore

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/gocql/gocql"
	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/cassandra"
	driver "github.com/golang-migrate/migrate/v4/database/testing"
	_ "github.com/golang-migrate/migrate/v4/source/file"
)

var statement = []byte("SELECT table_name from system_schema.tables")

func open(t *testing.T, keyspace string) database.Driver {
	t.Helper()
	session, err := gocql.NewCluster("127.0.0.1").CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if err = session.Query("CREATE KEYSPACE " + keyspace +
		" WITH REPLICATION = {'class': 'SimpleStrategy', 'replication_factor': 1}").Exec(); err != nil {
		t.Fatal(err)
	}
	opened, err := new(cassandra.Cassandra).Open(
		"cassandra://127.0.0.1:9042/" + keyspace + "?x-multi-statement=true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

func TestDriver(t *testing.T) {
	tests := map[string]func(*testing.T, database.Driver){
		"nil_version":     driver.TestNilVersion,
		"lock_and_unlock": driver.TestLockAndUnlock,
		"set_version":     driver.TestSetVersion,
		"drop":            driver.TestDrop,
		"run": func(t *testing.T, opened database.Driver) {
			driver.TestRun(t, opened, bytes.NewReader(statement))
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, open(t, "driver_"+name)) })
	}
}

func TestItsMigrations(t *testing.T) {
	migrations, err := migrate.NewWithDatabaseInstance("file://./examples/migrations", "its", open(t, "its"))
	if err != nil {
		t.Fatal(err)
	}
	driver.TestMigrate(t, migrations)
}

// Changes of a schema, up and down again.
func TestOurMigrations(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"1_readers.up.sql": "CREATE TYPE address (street text, city text);" +
			"CREATE TABLE readers (id int PRIMARY KEY, name text, home frozen<address>);",
		"1_readers.down.sql": "DROP TABLE readers; DROP TYPE address;",
		"2_names.up.sql":     "CREATE INDEX readers_by_name ON readers (name); ALTER TABLE readers ADD tags set<text>;",
		"2_names.down.sql":   "ALTER TABLE readers DROP tags; DROP INDEX readers_by_name;",
		"3_view.up.sql": "CREATE MATERIALIZED VIEW names AS SELECT id FROM readers WHERE name IS NOT NULL " +
			"AND id IS NOT NULL PRIMARY KEY (name, id); INSERT INTO readers (id, name) VALUES (1, 'Ada');",
		"3_view.down.sql": "DROP MATERIALIZED VIEW names;",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	migrations, err := migrate.NewWithDatabaseInstance("file://"+folder, "ours", open(t, "ours"))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{
		migrations.Up, func() error { return migrations.Steps(-2) }, func() error { return migrations.Migrate(3) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if version, dirty, err := migrations.Version(); version != 3 || dirty || err != nil {
		t.Fatalf("version %d, dirty %v: %v", version, dirty, err)
	}
	if err := migrations.Up(); err != migrate.ErrNoChange {
		t.Fatalf("no change, but %v", err)
	}
	// It drops tables alone, which a view of theirs forbids.
	if err := migrations.Steps(-1); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Drop(); err != nil {
		t.Fatal(err)
	}
}
