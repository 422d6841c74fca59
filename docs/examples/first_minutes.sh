liststore serve --http-port 8080 --clock manual:1767225600 &
sleep 1  # it takes some milliseconds until it serves
liststore query "CREATE KEYSPACE feat WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
liststore query "CREATE TABLE feat.clicks (user text, ts int, item text, PRIMARY KEY (user, ts))"
liststore query "INSERT INTO feat.clicks (user, ts, item) VALUES ('u1', 1, 'story-7') USING TTL 2592000"
liststore query "SELECT item, TTL(item) FROM feat.clicks WHERE user = 'u1'"
liststore clock jump
liststore query "SELECT item, TTL(item) FROM feat.clicks WHERE user = 'u1'"
liststore faults add slow op=SELECT times=1 action=read_timeout
liststore query "SELECT item FROM feat.clicks WHERE user = 'u1'"
liststore query "SELECT user FROM feat.clicks WHERE item = 'story-7' ALLOW FILTERING"
liststore query "SELECT rule, subject, count FROM liststore.lint"
