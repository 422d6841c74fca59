// An unmodified driver with default settings connects, prepares, pages, batches and disconnects, without
// a warning and without an attempt to reach another address.
"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const net = require("node:net");
const os = require("node:os");
const { test } = require("node:test");
const cassandra = require("cassandra-driver");
const { KEYSPACE, Server, warningsOf } = require("./server.js");

const { types } = cassandra;
const ROWS = 10000;

// Every "host:port" to which this process connects while `work` runs.
async function addressesOf(work) {
  const { connect } = net.Socket.prototype;
  const addresses = new Set();
  net.Socket.prototype.connect = function (...args) {
    const options = net._normalizeArgs(Array.isArray(args[0]) ? args[0] : args)[0];
    if (options.port) addresses.add(`${options.host}:${options.port}`);
    return connect.apply(this, args);
  };
  try {
    await work();
  } finally {
    net.Socket.prototype.connect = connect;
  }
  return [...addresses];
}

// What a service does in its life. The client's driver knows one host when it ends.
async function work(client) {
  const warnings = warningsOf(client);
  await client.connect();
  const start = process.hrtime.bigint();
  const first = await client.execute("SELECT key FROM system.local");
  const micros = Number((process.hrtime.bigint() - start) / 1000n);
  assert.equal(first.first().key, "local");
  await client.execute(KEYSPACE);
  await client.execute("CREATE TABLE feat.pages (p int, c int, PRIMARY KEY (p, c))");
  const insert = "INSERT INTO feat.pages (p, c) VALUES (?, ?)";
  await cassandra.concurrent.executeConcurrent(
    client, insert, Array.from({ length: ROWS - 2 }, (_, c) => [1, c]));
  await client.batch([ROWS - 2, ROWS - 1].map((c) => ({ query: insert, params: [1, c] })), { prepare: true });
  let next = 0;
  const rows = client.stream("SELECT c FROM feat.pages WHERE p = 1", [], { autoPage: true, fetchSize: 999 });
  for await (const row of rows) assert.equal(row.c, next++);
  assert.equal(next, ROWS);
  const [host, ...others] = client.hosts.values();
  assert.deepEqual(others, []);
  await client.shutdown();
  assert.deepEqual(warnings, []);
  return { host, micros };
}

async function withServer(args, use) {
  const server = await Server.start(...args);
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}

test("default settings are all that is needed", () => withServer([], async (server) => {
  const addresses = await addressesOf(async () => {
    const { micros } = await work(server.client());
    console.log(`figure: first answer ${(micros / 1000).toFixed(1)} ms after connect`);
  });
  assert.deepEqual(addresses, [`127.0.0.1:${server.port}`]);
}));

test("by name", () => withServer(["--address", "localhost"], async (server) => {
  await work(server.client({ contactPoints: [`localhost:${server.port}`] }));
}));

const hasIpv6 = Object.values(os.networkInterfaces()).flat().some(({ address }) => address === "::1");

test("over IPv6", { skip: hasIpv6 ? false : "this machine has no address ::1" },
  () => withServer(["--address", "::1"], async (server) => {
    const addresses = await addressesOf(() => work(server.client({ contactPoints: [`[::1]:${server.port}`] })));
    assert.deepEqual(addresses, [`::1:${server.port}`]);
  }));

for (const args of [[], ["--shards", "4"], ["--shards", "off"]]) {
  test(`through a forwarded port ${args.join(" ")}`, () => withServer(args, async (server) => {
    const forwarder = net.createServer((incoming) => {
      // By the constructor, as its own connections are not those that are looked at.
      const outgoing = net.connect(server.port, "127.0.0.1");
      incoming.pipe(outgoing).pipe(incoming);
      for (const end of [incoming, outgoing]) end.on("error", () => { incoming.destroy(); outgoing.destroy(); });
    });
    await new Promise((resolve) => { forwarder.listen(0, "127.0.0.2", resolve); });
    const { port } = forwarder.address();
    try {
      const addresses = await addressesOf(
        () => work(server.client({ contactPoints: [`127.0.0.2:${port}`] })));
      assert.deepEqual(addresses.filter((address) => address !== `127.0.0.1:${server.port}`), [`127.0.0.2:${port}`]);
    } finally {
      forwarder.close();
    }
  }));
}

for (const [version, seen] of [["3.11.17", "3.11.17"], ["4.1", "4.1"], ["5.0", "5.0"], ["scylla-2025.1", "3.0.8"]]) {
  test(`release version ${version}`, () => withServer(
    ["--release-version", version, ...(version.startsWith("scylla") ? [] : ["--scylla", "off"])],
    async (server) => {
      const { host } = await work(server.client());
      assert.equal(host.cassandraVersion, seen);
    }));
}

test("a protocol that is too new is downgraded", () => withServer([], async (server) => {
  const client = server.client({ protocolOptions: { maxVersion: types.protocolVersion.dseV2 } });
  await client.connect();
  assert.equal(client.controlConnection.protocolVersion, types.protocolVersion.v4);
  await work(client);
}));

test("a port that is taken is status 98 and one line", () => withServer([], async (server) => {
  const second = spawnSync(process.env.LISTSTORE_BINARY,
    ["serve", "--cql-port", String(server.port)], { encoding: "utf8", timeout: 60000 });
  assert.equal(second.status, 98);
  assert.equal(second.stdout, "");
  assert.match(second.stderr, new RegExp(`^[^\\n]*\\b${server.port}\\b[^\\n]*\\n$`));
}));
