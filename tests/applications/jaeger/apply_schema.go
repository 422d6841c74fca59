// Sends statements to the server at 127.0.0.1:9042, as Jaeger's `create.sh` writes them, each up to its `;`.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gocql/gocql"
)

func run() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	cluster := gocql.NewCluster("127.0.0.1")
	cluster.Timeout = 30 * time.Second
	session, err := cluster.CreateSession()
	if err != nil {
		return err
	}
	defer session.Close()
	for _, statement := range strings.Split(string(text), ";") {
		if statement = strings.TrimSpace(statement); statement == "" {
			continue
		}
		if err := session.Query(statement).Exec(); err != nil {
			return fmt.Errorf("%w: %s", err, statement)
		}
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
