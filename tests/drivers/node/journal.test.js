// What a service has really sent, as a test asks it through the driver: liststore.requests.
"use strict";

const assert = require("node:assert/strict");
const { after, before, test } = require("node:test");
const cassandra = require("cassandra-driver");
const { KEYSPACE, Server } = require("./server.js");

const { localQuorum, one } = cassandra.types.consistencies;
const INSERT = "INSERT INTO feat.clicks (user, ts, item) VALUES (?, ?, ?) USING TTL 60";
const SELECT = "SELECT item FROM feat.clicks WHERE user = ?";

let server;
let control;

before(async () => {
  server = await Server.start("--clock", "manual");
  control = server.client();
  await control.execute(KEYSPACE);
  await control.execute("CREATE TABLE feat.clicks (user text, ts int, item bigint, PRIMARY KEY (user, ts))");
});

after(() => server?.stop());

const clear = () => control.execute("TRUNCATE liststore.requests");

async function requests() {
  const { rows } = await control.execute("SELECT seq, op, tbl, consistency, prepared, page_size, values " +
    "FROM liststore.requests WHERE tbl = 'feat.clicks' ALLOW FILTERING;");
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
}

// A service that reads and writes at one level.
async function serve(consistency) {
  const service = server.client({ queryOptions: { consistency, prepare: true, fetchSize: 10 } });
  await service.execute(INSERT, ["u1", 1, 7]);
  await service.execute(SELECT, ["u1"]);
}

test("every request is there, in order, with what the driver made of it", async () => {
  await clear();
  await serve(localQuorum);
  const all = await requests();
  assert.deepEqual(all.map(({ seq, ...rest }) => rest), [
    { op: "PREPARE", tbl: "feat.clicks", consistency: null, prepared: false, page_size: null, values: null },
    { op: "INSERT", tbl: "feat.clicks", consistency: "LOCAL_QUORUM", prepared: true, page_size: 10,
      values: ["'u1'", "1", "7"] },
    { op: "PREPARE", tbl: "feat.clicks", consistency: null, prepared: false, page_size: null, values: null },
    { op: "SELECT", tbl: "feat.clicks", consistency: "LOCAL_QUORUM", prepared: true, page_size: 10,
      values: ["'u1'"] },
  ]);
  assert.deepEqual(all.map(({ seq }) => seq), all.map(({ seq }) => seq).sort((a, b) => a - b));
});

test("another level is seen, and so is a statement that was not prepared", async () => {
  await clear();
  await serve(one);
  assert.deepEqual((await requests()).filter(({ op }) => op === "SELECT").map(({ consistency }) => consistency),
    ["ONE"]);
  await clear();
  await server.client().execute(SELECT, ["u1"]);
  assert.deepEqual((await requests()).map(({ op, prepared }) => [op, prepared]), [["SELECT", false]]);
});

test("it is emptied, data stay, and what was dropped is counted", async () => {
  await control.execute("UPDATE liststore.journal SET capacity = 5 WHERE key = 'journal'");
  await clear();
  for (let user = 0; user < 8; ++user) {
    await control.execute(`SELECT item FROM feat.clicks WHERE user = '${user}'`);
  }
  const counts = (await control.execute("SELECT recorded, kept, dropped FROM liststore.journal")).first();
  assert.deepEqual([counts.recorded, counts.kept, counts.dropped].map(Number), [8, 5, 3]);
  assert.equal((await requests()).length, 5);
  await clear();
  assert.deepEqual(await requests(), []);
  assert.equal(Number((await control.execute("SELECT item FROM feat.clicks")).first().item), 7);
});
