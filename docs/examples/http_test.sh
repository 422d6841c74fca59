#!/bin/sh
# A test in shell: curl and a server of its own.
#
#     http_test.sh LISTSTORE
# Ends with 77 when there is no curl.
set -eu
command -v curl >/dev/null || { echo "skipped: there is no curl"; exit 77; }
liststore=$1
folder=$(mktemp -d)
"$liststore" serve --cql-port 0 --http-port 0 --clock manual:1767225600 --ready-file "$folder/ready.json" \
  >"$folder/log" 2>&1 &
server=$!
trap 'kill $server; wait $server || true; rm -rf "$folder"' EXIT

# The ready file is there when clients can connect.
while [ ! -s "$folder/ready.json" ]; do
  kill -0 $server || { cat "$folder/log"; exit 1; }
done
http=http://127.0.0.1:$(sed 's/.*"http_port":\([0-9]*\).*/\1/' "$folder/ready.json")

# post PATH BODY: prints the answer, and behind it its status.
post() { curl -sS -w ' %{http_code}' -H 'Content-Type: application/json' "$http$1" -d "$2"; }
query() { post /api/query "{\"query\": \"$1\"}"; }
# expect WORDS ANSWER
expect() {
  case "$2" in
    *"$1"*) ;;
    *) echo "expected: $1"; echo "answer:   $2"; exit 1 ;;
  esac
}

expect '"ready"' "$(curl -sS "$http/ready")"
query "CREATE KEYSPACE feat WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}" >/dev/null
query "CREATE TABLE feat.clicks (user text, ts int, item int, PRIMARY KEY (user, ts))" >/dev/null
post /api/data '{"action": "mark"}' >/dev/null

# A time to live, and an hour that passes at once.
query "INSERT INTO feat.clicks (user, ts, item) VALUES ('u1', 1, 7) USING TTL 3600" >/dev/null
expect '"rows":[{"item":7}]' "$(query "SELECT item FROM feat.clicks")"
expect '2026-01-01 01:00:00' "$(post /api/clock '{"advance": "1h"}')"
expect '"rows":[]' "$(query "SELECT item FROM feat.clicks")"

# The next read fails, the one behind it does not.
post /api/faults '{"name": "slow", "op": "SELECT", "tbl": "feat.clicks", "times": 1, "action": "read_timeout"}' >/dev/null
expect ' 504' "$(query "SELECT item FROM feat.clicks")"
expect ' 200' "$(query "SELECT item FROM feat.clicks")"
expect '"hits":1' "$(curl -sS "$http/api/faults")"
expect '"read_timeout"' "$(curl -sS "$http/api/requests?op=SELECT&outcome=read_timeout")"
expect 'liststore_requests_total{op="select",keyspace="feat",table="clicks",outcome="read_timeout"} 1' \
  "$(curl -sS "$http/metrics")"

# Back to the mark: no rows, no faults, and the clock where it was.
post /api/data '{"action": "reset"}' >/dev/null
expect '2026-01-01 00:00:00' "$(curl -sS "$http/api/clock")"
expect '"rows":[]' "$(curl -sS "$http/api/faults")"
echo "http_test: all as expected"
