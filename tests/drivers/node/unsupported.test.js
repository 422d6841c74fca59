// An honest no, and a lint for free, as a program meets them through the driver.
"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { test } = require("node:test");
const cassandra = require("cassandra-driver");
const { KEYSPACE, Server } = require("./server.js");

const { invalid } = cassandra.types.responseErrorCodes;
const TABLE = "CREATE TABLE feat.clicks (user text, ts int, item bigint, PRIMARY KEY (user, ts)) " +
  "WITH default_time_to_live = 60";
const TRIGGER = "CREATE TRIGGER v ON feat.clicks USING 'org.example.Trigger'";

async function startWithTable(t, ...args) {
  const server = await Server.start("--clock", "manual", ...args);
  t.after(() => server.stop());
  const client = server.client({ queryOptions: { prepare: true } });
  await client.execute(KEYSPACE);
  await client.execute(TABLE);
  return { server, client };
}

async function unsupported(client, kind) {
  const { rows } = await client.execute(
    "SELECT code, count AS times FROM liststore.unsupported WHERE kind = ?", [kind]);
  return rows.map(({ code, times }) => [code, Number(times)]);
}

test("a refusal says what, and what instead, with a code; a strict server ends with it", async (t) => {
  const { server, client } = await startWithTable(t, "--strict");
  for (let turn = 0; turn < 2; ++turn) {
    await assert.rejects(client.execute(TRIGGER, [], { prepare: false }), { code: invalid,
      message: "liststore does not support triggers (CREATE TRIGGER); instead: a batch that makes the further " +
        "writes as well [LS-0004]" });
  }
  assert.deepEqual(await unsupported(client, "refused"), [["LS-0004", 2]]);
  assert.equal(await server.stop(), 3);
});

test("what has no effect is taken, kept, shown, and said once", async (t) => {
  const { server, client } = await startWithTable(t, "--strict");
  await client.execute("ALTER TABLE feat.clicks WITH compaction = {'class': 'LeveledCompactionStrategy'}");
  // The three copies of the keyspace come first.
  assert.deepEqual(await unsupported(client, "no effect"), [["LS-0101", 1], ["LS-0105", 1]]);
  const table = (await client.execute("DESCRIBE TABLE feat.clicks", [], { prepare: false })).first();
  assert.match(table.create_statement, /LeveledCompactionStrategy/);
  assert.equal(await server.stop(), 0);
});

// The status of `liststore report`, and how many failures it writes for the machine.
function report(t, server) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "liststore-"));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const junit = path.join(folder, "lint.xml");
  const { status } = spawnSync(process.env.LISTSTORE_BINARY,
    ["report", "--via", `127.0.0.1:${server.port}`, "--junit", junit], { stdio: "ignore", timeout: 60000 });
  return { status, failures: fs.readFileSync(junit, "utf8").split("<failure").length - 1 };
}

test("planted sins are found, each by its rule", async (t) => {
  const { server, client } = await startWithTable(t);
  const insert = "INSERT INTO feat.clicks (user, ts, item) VALUES (?, 1, 7)";
  for (let turn = 0; turn < 3; ++turn) await client.execute(insert, [`u${turn}`], { prepare: false });
  await client.execute("SELECT user FROM feat.clicks WHERE item = ? ALLOW FILTERING", [7]);
  await client.execute("SELECT item FROM feat.clicks WHERE user IN ?",
    [Array.from({ length: 21 }, (_, user) => `u${user}`)]);
  await client.batch(["u1", "u2"].map((user) => ({ query: insert, params: [user] })), { prepare: true });
  const { rows } = await client.execute("SELECT rule FROM liststore.lint");
  assert.deepEqual(rows.map(({ rule }) => rule), ["allow_filtering", "batch_partitions", "in_keys", "unprepared"]);
  assert.deepEqual(report(t, server), { status: 1, failures: 4 });
});

test("a clean run has nothing to report", async (t) => {
  const { server, client } = await startWithTable(t);
  for (let turn = 0; turn < 10; ++turn) {
    await client.execute("INSERT INTO feat.clicks (user, ts, item) VALUES (?, ?, ?)", ["u1", turn, turn]);
    await client.execute("SELECT item FROM feat.clicks WHERE user = ?", ["u1"]);
  }
  assert.deepEqual(report(t, server), { status: 0, failures: 0 });
});
