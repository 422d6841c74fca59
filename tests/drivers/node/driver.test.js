// The DataStax driver for Node, unmodified, against `liststore serve`: the list model, types, paging,
// many requests at once, errors, metadata.
"use strict";

const assert = require("node:assert/strict");
const crypto = require("node:crypto");
const { after, before, test } = require("node:test");
const cassandra = require("cassandra-driver");
const { Server } = require("./server.js");

const { types } = cassandra;
let server;
let client;

const FEATURE = "user#reading_history|v1";
const NOW = 1724949845430000000n;
function itemKey(nanos, value) {
  const digest = crypto.createHash("md5").update(value).digest("base64");
  return `${nanos.toString().padStart(19, "0")}#${digest}`;
}
const INSERT = "INSERT INTO list_items (feature_key, entity_id, item_key, value) " +
  "VALUES (?, ?, ?, ?) USING TTL ?";
const SELECT = "SELECT value, item_key FROM list_items WHERE feature_key = ? AND entity_id = ? " +
  "AND item_key >= ? ORDER BY item_key DESC LIMIT ?";

async function createLists(on) {
  await on.execute("CREATE KEYSPACE feature_store WITH replication = " +
    "{'class': 'SimpleStrategy', 'replication_factor': 1}");
  await on.execute("USE feature_store");
  await on.execute("CREATE TABLE list_items (feature_key text, entity_id text, item_key text, " +
    "value blob, PRIMARY KEY ((feature_key, entity_id), item_key)) " +
    "WITH CLUSTERING ORDER BY (item_key DESC) AND default_time_to_live = 864000");
  await on.execute("CREATE INDEX list_items_by_value ON " +
    "list_items((feature_key, entity_id), value)");
}

async function add(on, entity, items, ttl = 1000) {
  await on.batch(items.map(([nanos, value]) => ({
    query: INSERT,
    params: [FEATURE, entity, itemKey(nanos, Buffer.from(value)), Buffer.from(value), ttl],
  })), { prepare: true, logged: true });
}

async function get(on, entity, minimum = 0n, limit = 100) {
  const rows = await on.execute(SELECT,
    [FEATURE, entity, minimum.toString().padStart(19, "0"), limit], { prepare: true });
  return rows.rows.map((row) => row.value.toString());
}

before(async () => {
  server = await Server.start();
  client = server.client();
  await client.connect();
  await createLists(client);
});

after(() => server?.stop());

test("items come back newest first", async () => {
  const items = Array.from({ length: 20 }, (_, i) => [NOW + BigInt(i), `story-${i}`]);
  await add(client, "alice", items);
  const all = await get(client, "alice");
  assert.deepEqual(all, items.map(([, value]) => value).reverse());
  assert.deepEqual(await get(client, "alice", 0n, 3), all.slice(0, 3));
  assert.deepEqual(await get(client, "alice", NOW + 15n), all.slice(0, 5));
});

test("a value is found through the local index and removed", async () => {
  await add(client, "bob", Array.from({ length: 30 },
    (_, i) => [NOW + BigInt(i), i % 3 === 0 ? "again" : `once-${i}`]));
  const found = await client.execute(
    "SELECT item_key FROM list_items WHERE feature_key = ? AND entity_id = ? AND value = ?",
    [FEATURE, "bob", Buffer.from("again")], { prepare: true });
  const keys = found.rows.map((row) => row.item_key);
  assert.equal(keys.length, 10);
  await client.execute(
    "DELETE FROM list_items WHERE feature_key = ? AND entity_id = ? AND item_key IN ?",
    [FEATURE, "bob", keys], { prepare: true });
  const left = await get(client, "bob");
  assert.equal(left.length, 20);
  assert.ok(!left.includes("again"));
  await client.execute("DELETE FROM list_items WHERE feature_key = ? AND entity_id = ?",
    [FEATURE, "bob"], { prepare: true });
  assert.deepEqual(await get(client, "bob"), []);
});

test("a TTL runs out when the clock is moved", async () => {
  const manual = await Server.start("--clock", "manual");
  const own = manual.client();
  try {
    await own.connect();
    await createLists(own);
    await add(own, "alice", [[NOW, "short"]], 60);
    await add(own, "alice", [[NOW + 1n, "long"]], 3600);
    const advance = "UPDATE liststore.clock SET advance_seconds = ? WHERE key = 'clock'";
    await own.execute(advance, [59], { prepare: true });
    assert.deepEqual(await get(own, "alice"), ["long", "short"]);
    await own.execute(advance, [1], { prepare: true });
    assert.deepEqual(await get(own, "alice"), ["long"]);
  } finally {
    await manual.stop();
  }
});

test("10,000 rows in pages", async () => {
  await client.execute("CREATE TABLE pages (p int, c int, PRIMARY KEY (p, c))");
  await cassandra.concurrent.executeConcurrent(client, "INSERT INTO pages (p, c) VALUES (?, ?)",
    Array.from({ length: 10000 }, (_, i) => [i % 5, i]));
  const seen = new Set();
  for await (const row of client.stream("SELECT c FROM pages", [], { autoPage: true, fetchSize: 333 })) {
    seen.add(row.c);
  }
  assert.equal(seen.size, 10000);
});

test("a thousand requests in flight", async () => {
  await client.execute("CREATE TABLE squares (p int PRIMARY KEY, v int)");
  const numbers = Array.from({ length: 1000 }, (_, i) => i);
  await Promise.all(numbers.map((i) => client.execute(
    "INSERT INTO squares (p, v) VALUES (?, ?)", [i, i * i], { prepare: true })));
  const rows = await Promise.all(numbers.map((i) => client.execute(
    "SELECT v FROM squares WHERE p = ?", [i], { prepare: true })));
  rows.forEach((result, i) => assert.equal(result.first().v, i * i));
});

test("every native type there and back", async () => {
  const values = {
    ascii: "plain", bigint: types.Long.MIN_VALUE, blob: Buffer.from([0, 255]), boolean: true,
    date: types.LocalDate.fromString("2024-02-29"),
    decimal: types.BigDecimal.fromString("-123.4500"), double: 1e300,
    duration: types.Duration.fromString("1mo2d3s"), float: 0.5,
    inet: types.InetAddress.fromString("2001:db8::1"), int: 2147483647, smallint: -32768,
    text: "größer", time: types.LocalTime.fromString("23:59:59.999999999"),
    timestamp: new Date("2024-02-29T12:30:01.005Z"),
    timeuuid: types.TimeUuid.fromString("c5e8f3d4-5c5e-11ef-9a1e-0242ac120002"), tinyint: -128,
    uuid: types.Uuid.fromString("ffffffff-ffff-ffff-ffff-ffffffffffff"),
    varint: types.Integer.fromString("-1606938044258990275541962092341162602522202993782792835301376"),
  };
  const names = Object.keys(values);
  await client.execute(`CREATE TABLE all_types (p int PRIMARY KEY, ${
    names.map((name) => `c_${name} ${name}`).join(", ")})`);
  await client.execute(`INSERT INTO all_types (p, ${names.map((n) => `c_${n}`).join(", ")}) VALUES (1${
    ", ?".repeat(names.length)})`, Object.values(values), { prepare: true });
  const row = (await client.execute("SELECT * FROM all_types")).first();
  for (const name of names) {
    assert.equal(String(row[`c_${name}`]), String(values[name]), name);
  }
});

test("errors have their codes", async () => {
  const { syntaxError, invalid, alreadyExists } = types.responseErrorCodes;
  await assert.rejects(client.execute("SELEC * FROM squares"), { code: syntaxError });
  await assert.rejects(client.execute("SELECT * FROM nothing"),
    { code: invalid, message: "unconfigured table nothing" });
  await assert.rejects(client.execute("CREATE KEYSPACE feature_store WITH replication = " +
    "{'class': 'SimpleStrategy', 'replication_factor': 1}"), { code: alreadyExists });
});

test("metadata is what was created", async () => {
  const table = await client.metadata.getTable("feature_store", "list_items");
  assert.deepEqual(table.partitionKeys.map((column) => column.name), ["feature_key", "entity_id"]);
  assert.deepEqual(table.clusteringKeys.map((column) => column.name), ["item_key"]);
  assert.equal(table.indexes.length, 1);
  assert.equal(table.indexes[0].name, "list_items_by_value");
});
