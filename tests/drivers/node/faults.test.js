// Faults as a program meets them through the driver: one row for each action, and three reads that time
// out. docs/test_double.md shows the same rows.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const { after, before, beforeEach, test } = require("node:test");
const cassandra = require("cassandra-driver");
const { KEYSPACE, Server } = require("./server.js");

const { types } = cassandra;
const { FallthroughRetryPolicy, RetryPolicy } = cassandra.policies.retry;
const SELECT = "SELECT item FROM feat.clicks WHERE user = 'u1'";
const INSERT = "INSERT INTO feat.clicks (user, item) VALUES ('u1', 7)";
const ANSWER = "its answer";
const DELAY_MS = 20;

// What is asked; what is thrown when the driver does not retry, and when it does as it likes with a
// statement that is marked idempotent. The only other host to go to is none.
const ACTIONS = [
  ["read_timeout", SELECT, "readTimeout", "readTimeout"],
  ["write_timeout", INSERT, "writeTimeout", "writeTimeout"],
  ["unavailable", SELECT, "unavailableException", "NoHostAvailableError"],
  ["overloaded", SELECT, "overloaded", "NoHostAvailableError"],
  ["server_error", SELECT, "serverError", "serverError"],
  ["rate_limit", SELECT, "configError", "configError"],
  ["close_connection", SELECT, "DriverError", "NoHostAvailableError"],
  ["no_answer", SELECT, "OperationTimedOutError", "NoHostAvailableError"],
  ["unprepared", SELECT, ANSWER, ANSWER],
  [`delay ${DELAY_MS}ms`, SELECT, ANSWER, ANSWER],
];
const CODE_NAMES = new Map(Object.entries(types.responseErrorCodes).map(([name, code]) => [code, name]));

let server;
let control;

before(async () => {
  server = await Server.start("--clock", "manual");
  control = server.client();
});

after(() => server?.stop());

beforeEach(async () => {
  await control.execute("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  await control.execute(KEYSPACE);
  for (const table of ["clicks", "views"]) {
    await control.execute(
      `CREATE TABLE feat.${table} (user text, item bigint, PRIMARY KEY (user, item))`);
  }
});

// The name of what is thrown: of the server's errors that of their code.
async function thrownBy(client, statement, options) {
  try {
    await client.execute(statement, [], options);
    return ANSWER;
  } catch (error) {
    return error instanceof cassandra.errors.ResponseError ? CODE_NAMES.get(error.code) : error.name;
  }
}

async function meet(action, statement, retry) {
  await control.execute("INSERT INTO liststore.faults (name, tbl, times, action) " +
    "VALUES ('f', 'feat.clicks', 1, ?)", [action]);
  const client = server.client({
    queryOptions: { isIdempotent: true },
    policies: { retry },
    // Of a client whose only connection was closed this driver keeps timers after its shutdown.
    pooling: { coreConnectionsPerHost: { [types.distance.local]: 2 } },
    // A request that is never answered is given up soon, by the client's real clock.
    socketOptions: { readTimeout: action === "no_answer" ? 300 : 60000 } });
  const start = process.hrtime.bigint();
  const thrown = await thrownBy(client, statement, { prepare: action === "unprepared" });
  const fault = (await control.execute("SELECT hits, remaining FROM liststore.faults")).first();
  assert.equal(Number(fault.hits), 1, "it was met");
  assert.equal(fault.remaining, 0);
  if (action.startsWith("delay")) {
    assert.ok(process.hrtime.bigint() - start >= BigInt(DELAY_MS) * 1000000n);
  }
  assert.deepEqual((await control.execute(SELECT)).rows, [], "nothing of a write was applied");
  // The program goes on as before.
  assert.equal(await thrownBy(client, SELECT), ANSWER);
  return thrown;
}

for (const [action, statement, plain, retried] of ACTIONS) {
  test(`${action} without retries`, async () => {
    assert.equal(await meet(action, statement, new FallthroughRetryPolicy()), plain);
  });
  test(`${action} with the driver's own policy`, async () => {
    assert.equal(await meet(action, statement, new RetryPolicy()), retried);
  });
}

test("the page for testers has these rows", () => {
  const page = fs.readFileSync(process.env.LISTSTORE_PAGE, "utf8").split("\n");
  const cells = (line) => line.split("|").slice(1, -1).map((cell) => cell.trim().replaceAll("`", ""));
  const heading = cells(page.find((line) => line.startsWith("| action |")));
  for (const [action, , plain, retried] of ACTIONS) {
    const row = cells(page.find((line) => line.startsWith(`| \`${action.split(" ")[0]}`)) ?? "");
    assert.equal(row[heading.indexOf("Node, retries off")], plain, action);
    assert.equal(row[heading.indexOf("Node, its policy")], retried, action);
  }
});

test("three reads time out, then all is well", async () => {
  const client = server.client({ policies: { retry: new FallthroughRetryPolicy() } });
  await client.execute(INSERT);
  await control.execute("INSERT INTO liststore.faults (name, op, tbl, times, action) " +
    "VALUES ('f1','SELECT','feat.clicks',3,'read_timeout');");
  for (let turn = 1; turn <= 3; ++turn) {
    await assert.rejects(
      client.execute(SELECT, [], { consistency: types.consistencies.localQuorum }),
      { code: types.responseErrorCodes.readTimeout, consistencies: types.consistencies.localQuorum,
        received: 0, blockFor: 1, isDataPresent: 0 });
    await client.execute("INSERT INTO feat.clicks (user, item) VALUES ('u2', ?)", [turn], { prepare: true });
    assert.deepEqual((await client.execute("SELECT item FROM feat.views")).rows, []);
  }
  assert.equal(Number((await client.execute(SELECT)).first().item), 7);
  assert.equal((await client.execute("SELECT item FROM feat.clicks WHERE user = 'u2'")).rowLength, 3);
  const fault = (await control.execute("SELECT name, hits, remaining FROM liststore.faults")).first();
  assert.deepEqual([fault.name, Number(fault.hits), fault.remaining], ["f1", 3, 0]);
});

test("a write that timed out may have arrived", async () => {
  await control.execute("INSERT INTO liststore.faults (name, op, times, action, applies) " +
    "VALUES ('late', 'INSERT', 1, 'write_timeout', true)");
  const client = server.client({ policies: { retry: new FallthroughRetryPolicy() } });
  assert.equal(await thrownBy(client, INSERT), "writeTimeout");
  assert.equal(Number((await client.execute(SELECT)).first().item), 7);
});
