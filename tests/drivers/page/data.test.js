// Charts, tables, journal and CQL: what clients do is seen, as text.
"use strict";

const assert = require("node:assert/strict");
const { after, afterEach, before, test } = require("node:test");
const { Browser, eventually, sees, textOf } = require("./browser.js");
const { Server } = require("./server.js");

const kMarkup = "<img src=x onerror=alert(1)><script>alert(2)</script>";
const kTables = 120;

let browser;
let server;

before(async () => {
  browser = await Browser.start();
  server = await Server.start();
  await server.makeClicks();
  for (let i = 0; i < kTables; ++i) {
    await server.cql(`CREATE TABLE feat.many_${String(i).padStart(3, "0")} (a int PRIMARY KEY)`);
  }
});
afterEach(() => browser.closePages());
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const write = (user, ts, item) => server.cql(
  `INSERT INTO feat.clicks (user, ts, item) VALUES ('${user}', ${ts}, '${item}')`);

async function runCql(page, statement) {
  await page.getByRole("textbox", { name: "Statement", exact: true }).fill(statement);
  await page.getByRole("button", { name: "Run" }).click();
}

test("charts count what clients do, and hot partitions are named", async () => {
  const page = await browser.open(server);
  await sees(page, "#state", "live");
  // The first sample has nothing before it.
  await eventually(() => page.locator("#charts path[d^=M]").count(), (lines) => lines > 0);
  let isDone = false;
  const load = (async () => { for (let i = 0; !isDone; ++i) await write("hot", i, "x"); })();
  await sees(page, "#tiles", /Writes a second\s+[1-9]/);
  await sees(page, "#tiles", /Write p99\s+[\d.]+ (\u00b5s|ms)/);
  const memory = await textOf(page, "#charts figure:nth-child(3)");
  assert.match(memory, /rows\s+[\d.]+ (B|KiB|MiB)/);
  assert.match(memory, /limit\s+[\d.]+ [MGT]iB/);
  await sees(page, "#hot", /feat\.clicks\s+hot/);
  isDone = true;
  await load;
  await page.locator("#charts svg").first().focus();
  await page.keyboard.press("ArrowLeft");
  await sees(page, "#charts figure:first-child figcaption", "s ago");
  await page.getByRole("button", { name: "Look now" }).click();
  await sees(page, "#findings", "unprepared");
});

test("tables come by pages, filtered by name, and one with its schema and newest rows", async () => {
  await write("u1", 1, "old");
  await write("u1", 2, "new");
  const page = await browser.open(server, "tables");
  await sees(page, "#tables-range", `1\u201350 of ${kTables + 1}`);
  assert.equal(await page.locator("#tables-list tbody tr").count(), 50);
  await page.getByRole("button", { name: "Next", exact: true }).click();
  await page.getByRole("button", { name: "Next", exact: true }).click();
  await sees(page, "#tables-range", `101\u2013${kTables + 1} of ${kTables + 1}`);
  await page.getByLabel("Filter", { exact: true }).fill("many_11");
  await sees(page, "#tables-range", "1\u201310 of 10");
  await page.getByLabel("Filter", { exact: true }).fill("");
  await page.getByLabel("Order").selectOption("rows");
  await eventually(() => page.locator("#tables-list tbody th button").first().innerText(),
    (name) => name === "feat.clicks");
  await page.getByRole("button", { name: "feat.clicks" }).click();
  await sees(page, "#table", "CREATE TABLE feat.clicks");
  await page.locator("#table").getByRole("button", { name: "u1", pressed: true }).waitFor();
  assert.deepEqual(await page.locator("#table tbody tr").allInnerTexts(), ["u1\t2\tnew", "u1\t1\told"]);
  await page.locator("#table").getByRole("button", { name: "any" }).click();
  await sees(page, "#table", "in the order of tokens");
  await page.getByRole("button", { name: "Open in CQL" }).click();
  const statement = page.getByRole("textbox", { name: "Statement", exact: true });
  assert.match(await statement.inputValue(), /^SELECT \* FROM "feat"."clicks"/);
});

test("system tables are shown where they are asked for, and a new table comes by itself", async () => {
  const page = await browser.open(server, "tables");
  await page.getByLabel("Filter", { exact: true }).fill("clock");
  await sees(page, "#tables-range", "none");
  await page.getByLabel("System tables").check();
  await sees(page, "#tables-list", "liststore.clock");
  await page.getByLabel("Filter", { exact: true }).fill("feat.late");
  await server.cql("CREATE TABLE feat.late (a int PRIMARY KEY)");
  await page.getByRole("button", { name: "feat.late" }).click();
  await sees(page, "#table", "There are no rows");
  await server.cql("DROP TABLE feat.late");
  await sees(page, "#table-title", "gone");
});

test("the journal is followed, filtered, opened, switched and emptied", async () => {
  await server.ask("DELETE", "/api/requests");
  await write("u2", 1, "one");
  await assert.rejects(server.cql("SELECT nothing FROM feat.clicks"));
  await server.cql("SELECT * FROM feat.many_001");
  const page = await browser.open(server, "journal");
  const statements = () => page.locator("#journal-rows code.statement").allInnerTexts();
  await eventually(statements, (all) => all.length === 3 && all[0].includes("many_001"));
  const filter = page.locator("#journal-filter");
  await filter.getByLabel("Operation").selectOption("INSERT");
  await eventually(statements, (all) => all.length === 1 && all[0].startsWith("INSERT"));
  await filter.getByLabel("Operation").selectOption("");
  await filter.getByLabel("Table").fill("feat.many_001");
  await eventually(statements, (all) => all.length === 1 && all[0].includes("many_001"));
  await filter.getByLabel("Table").fill("");
  await filter.getByLabel("Text").fill("NOTHING");
  await eventually(statements, (all) => all.length === 1 && all[0].includes("nothing"));
  await filter.getByLabel("Text").fill("");
  await filter.getByLabel("Outcome").selectOption("failed");
  await eventually(statements, (all) => all.length === 1 && all[0].includes("nothing"));
  await page.locator("#journal-rows").getByRole("button").click();
  await sees(page, "#journal-rows dl", /Error\s.*nothing/);
  await filter.getByLabel("Outcome").selectOption("");
  await filter.getByLabel("Follow").uncheck();
  await eventually(statements, (all) => all.length === 3);
  await filter.getByLabel("Follow").check();
  await write("u2", 2, "two");
  await eventually(statements, (all) => all.length === 4);
  await page.getByRole("button", { name: "Stop recording" }).click();
  await page.getByRole("button", { name: "Record", exact: true }).waitFor();
  assert.equal((await server.ask("GET", "/api/journal"))[0].enabled, false);
  await page.getByRole("button", { name: "Record", exact: true }).click();
  await page.getByRole("button", { name: "Stop recording" }).waitFor();
  assert.equal((await server.ask("GET", "/api/journal"))[0].enabled, true);
  await page.getByRole("button", { name: "Empty" }).click();
  await sees(page, "#journal-rows", "No request of a client has been recorded");
  assert.deepEqual(await server.ask("GET", "/api/requests"), []);
});

test("a statement's rows come as they are written, page by page, and its error in its place", async () => {
  const page = await browser.open(server, "cql");
  await runCql(page, "INSERT INTO feat.clicks (user, ts, item) VALUES ('cql', 9007199254740993, 'by the page')");
  await sees(page, "#cql-summary", "Done");
  assert.deepEqual(await server.cql("SELECT item FROM feat.clicks WHERE user = 'cql'"), [{ item: "by the page" }]);
  await runCql(page, "SELECT ts FROM feat.clicks WHERE user = 'cql'");
  await sees(page, "#cql-summary", "1 row");
  // More digits than a number of JavaScript has.
  assert.equal(await textOf(page, "#cql-rows tbody td"), "9007199254740993");
  for (let i = 0; i < 45; ++i) await write("pages", i, "x");
  await page.getByLabel("Rows a page").selectOption("20");
  await runCql(page, "SELECT ts FROM feat.clicks WHERE user = 'pages'");
  for (const [range, count, first] of [["1\u201320", 20, "44"], ["21\u201340", 20, "24"], ["41\u201345", 5, "4"]]) {
    await sees(page, "#cql-summary", `Rows ${range},`);
    assert.equal(await page.locator("#cql-rows tbody tr").count(), count);
    assert.equal(await page.locator("#cql-rows tbody td").first().innerText(), first);
    if (count === 20) await page.getByRole("button", { name: "Next page" }).click();
  }
  await page.getByRole("button", { name: "Next page" }).waitFor({ state: "hidden" });
  await page.getByRole("textbox", { name: "Keyspace" }).fill("feat");
  await page.getByRole("textbox", { name: "Statement", exact: true }).fill("SELECT * FROM nowhere");
  await page.keyboard.press("Control+Enter");
  await sees(page, "#cql-problem", "unconfigured table nowhere");
  assert.equal(await page.locator("#cql-answer").isVisible(), false);
});

test("what a client has written is text, whatever it looks like", async () => {
  await write("markup", 1, kMarkup);
  const page = await browser.open(server, "cql");
  await runCql(page, "SELECT item FROM feat.clicks WHERE user = 'markup'");
  await sees(page, "#cql-rows", kMarkup);
  await page.goto(`${server.address}/#journal`);
  await page.locator("#journal-filter").getByLabel("Text").fill("onerror");
  await sees(page, "#journal-rows", kMarkup);
  assert.equal(await page.locator("main img, main script").count(), 0);
});
