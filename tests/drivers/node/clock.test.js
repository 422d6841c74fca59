// Time and data as a test moves them through the driver: liststore.clock and liststore.data.
"use strict";

const assert = require("node:assert/strict");
const { after, before, beforeEach, test } = require("node:test");
const cassandra = require("cassandra-driver");
const { KEYSPACE, Server } = require("./server.js");

const { types } = cassandra;
const THIRTY_DAYS = 30 * 86400;
const START = 1700000000;
const TABLE = "CREATE TABLE feat.clicks (user text, ts timeuuid, item bigint, score float, " +
  "PRIMARY KEY (user, ts)) WITH CLUSTERING ORDER BY (ts DESC)";

let server;
let client;

before(async () => {
  server = await Server.start("--clock", `manual:${START}`);
  client = server.client();
});

after(() => server?.stop());

beforeEach(async () => {
  await setData("forget");
  await setData("reset");
  await client.execute(KEYSPACE);
  await client.execute(TABLE);
});

const setData = (action) => client.execute(
  `UPDATE liststore.data SET action = '${action}' WHERE key = 'data'`);
const setClock = (assignment) => client.execute(
  `UPDATE liststore.clock SET ${assignment} WHERE key = 'clock'`);
const nowNanos = async () => BigInt(
  (await client.execute("SELECT now_nanos FROM liststore.clock")).first().now_nanos.toString());
const add = (item, ttl) => client.execute(
  "INSERT INTO feat.clicks (user, ts, item) VALUES ('u1', now(), ?) USING TTL ?",
  [item, ttl], { prepare: true });
// [item, seconds left], by item.
async function clicks() {
  const { rows } = await client.execute("SELECT item, TTL(item) AS ttl FROM feat.clicks WHERE user = 'u1'");
  return rows.map((row) => [Number(row.item), row.ttl]).sort(([a], [b]) => a - b);
}

test("thirty days pass at once", async () => {
  assert.equal(server.facts.clock, "manual");
  const { mode, now } = (await client.execute("SELECT mode, now FROM liststore.clock")).first();
  assert.equal(mode, "manual");
  assert.equal(await nowNanos(), BigInt(now.getTime()) * 1000000n);
  await add(7, THIRTY_DAYS);
  assert.deepEqual(await clicks(), [[7, THIRTY_DAYS]]);
  await setClock("advance = 29d23h59m59s");
  assert.deepEqual(await clicks(), [[7, 1]]);
  await setClock("advance = 1s");
  assert.deepEqual(await clicks(), []);

  // What is written now carries the moved time, though the driver sends the machine's.
  await add(8, THIRTY_DAYS);
  const { micros, ts } = (await client.execute("SELECT WRITETIME(item) AS micros, ts FROM feat.clicks")).first();
  const nanos = await nowNanos();
  const ahead = BigInt(micros.toString()) - nanos / 1000n;
  assert.ok(ahead >= 0n && ahead < 1000n, `${ahead} us`);
  assert.equal(BigInt(ts.getDate().getTime()), nanos / 1000000n, "now() too");
});

test("jumps take one element each", async () => {
  for (const [item, ttl] of [[1, 500], [2, 60], [3, THIRTY_DAYS], [4, 0]]) await add(item, ttl);
  const start = await nowNanos();
  const seen = [];
  for (let jump = 0; jump < 3; ++jump) {
    await setClock("jump = 'next_expiry'");
    seen.push([Number((await nowNanos() - start) / 1000000000n), (await clicks()).map(([item]) => item)]);
  }
  assert.deepEqual(seen, [[60, [1, 3, 4]], [500, [3, 4]], [THIRTY_DAYS, [4]]]);
  await assert.rejects(setClock("jump = 'next_expiry'"),
    { code: types.responseErrorCodes.invalid, message: /nothing expires/ });
});

test("what the clock refuses changes nothing", async () => {
  const before = await nowNanos();
  await assert.rejects(setClock("advance = -1s"),
    { code: types.responseErrorCodes.invalid, message: "liststore.clock: the clock cannot go backwards" });
  assert.equal(await nowNanos(), before);
});

test("a reset goes back to the mark: schema, rows, time to live and clock", async () => {
  await add(1, 60);
  const select = () => client.execute(
    "SELECT item FROM feat.clicks WHERE user = ?", ["u1"], { prepare: true });
  assert.equal((await select()).rowLength, 1);
  const marked = await nowNanos();
  await setData("mark");
  await add(2, 60);
  await client.execute("CREATE TABLE feat.other (p int PRIMARY KEY)");
  await setClock("advance = 1h");
  assert.equal((await select()).rowLength, 0);
  await setData("reset");
  assert.equal(await nowNanos(), marked);
  assert.deepEqual(await clicks(), [[1, 60]]);
  assert.equal((await select()).rowLength, 1, "prepared before the reset, and still prepared");
  await assert.rejects(client.execute("SELECT p FROM feat.other"), { message: "unconfigured table other" });
});

test("a reset without a mark leaves an empty server", async () => {
  await add(1, 60);
  await setData("reset");
  const { tables, baseline } = (await client.execute("SELECT tables, baseline FROM liststore.data")).first();
  assert.deepEqual([Number(tables), baseline], [0, null]);
});
