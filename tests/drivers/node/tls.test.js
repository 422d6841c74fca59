// Over TLS, with verification on and a login. LISTSTORE_CERTIFICATES: the folder that make_certificates has filled.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { test } = require("node:test");
const { KEYSPACE, Server, warningsOf } = require("./server.js");

const folder = process.env.LISTSTORE_CERTIFICATES;
const skip = folder ? false : "there is no openssl here";

async function withServer(args, use) {
  const server = await Server.start("--tls-certificate", path.join(folder, "node.crt"),
    "--tls-key", path.join(folder, "node.key"), "--tls-only", "--auth", "cassandra:secret", ...args);
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}

const login = { credentials: { username: "cassandra", password: "secret" } };

for (const args of [[], ["--shards", "2"], ["--tls-min-version", "1.3"]]) {
  test(`verified and logged in ${args.join(" ")}`, { skip }, () => withServer(args, async (server) => {
    const ca = fs.readFileSync(path.join(folder, "ca.crt"));
    const client = server.client({ ...login, sslOptions: { ca: [ca], rejectUnauthorized: true } });
    const warnings = warningsOf(client);
    await client.execute(KEYSPACE);
    await client.execute("CREATE TABLE feat.t (p int, c int, v text, PRIMARY KEY (p, c))");
    const value = "v".repeat(100000);
    await Promise.all([...Array(20).keys()].map((c) => client.execute(
      "INSERT INTO feat.t (p, c, v) VALUES (?, ?, ?)", [1, c, value], { prepare: true })));
    let next = 0;
    for await (const row of client.stream("SELECT c, v FROM feat.t WHERE p = 1", [], { autoPage: true, fetchSize: 7 })) {
      assert.equal(row.c, next++);
      assert.equal(row.v, value);
    }
    assert.equal(next, 20);
    const { rows } = await client.execute("SELECT ssl_enabled, ssl_protocol, username FROM system.clients");
    assert.ok(rows.length > 0);
    for (const row of rows) assert.deepEqual([row.ssl_enabled, row.ssl_protocol], [true, "TLSv1.3"]);
    assert.deepEqual(warnings, []);
  }));
}

test("a server that is not believed", { skip }, () => withServer([], async (server) => {
  const client = server.client({ ...login, sslOptions: { rejectUnauthorized: true } });
  await assert.rejects(client.connect(), (error) => /certificate/.test(String(Object.values(error.innerErrors)[0])));
}));
