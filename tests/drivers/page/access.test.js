// A server that asks for a login, has no instruments, or is gone; a page that nobody looks at.
"use strict";

const assert = require("node:assert/strict");
const { after, afterEach, before, test } = require("node:test");
const { Browser, eventually, sees } = require("./browser.js");
const { Server } = require("./server.js");

let browser;
let server;

async function serve(options) {
  server = await Server.start(options);
  return server;
}

before(async () => { browser = await Browser.start(); });
afterEach(async () => {
  await browser.closePages();
  await server?.stop();
});
after(() => browser?.stop());

// When each request of the page for figures began, in milliseconds, by the browser's own account.
function asked(page) {
  return page.evaluate(() => performance.getEntriesByType("resource")
    .filter(({ name }) => /\/(metrics|api\/)/.test(name)).map(({ startTime }) => startTime));
}

const gapsOf = (times) => times.slice(1).map((at, i) => at - times[i]);

function setHidden(page, isHidden) {
  return page.evaluate((is) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => is });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
}

test("a browser is asked for a name and a password, and then all works", async () => {
  await serve({ args: ["--auth", "liststore:secret"] });
  server.login = "liststore:secret";
  const refused = await fetch(`${server.address}/`);
  assert.equal(refused.status, 401);
  assert.match(refused.headers.get("WWW-Authenticate"), /^Basic /);
  const httpCredentials = { username: "liststore", password: "secret" };
  const page = await browser.open(server, "controls", { httpCredentials });
  await page.locator("#faults-form").getByLabel("Name").fill("f");
  await page.getByRole("button", { name: "Add fault" }).click();
  await sees(page, "#faults-list", "read_timeout");
  assert.equal((await server.ask("GET", "/api/faults")).length, 1);
});

test("a role without permissions is told so, part by part", async () => {
  await serve({ args: ["--auth", "liststore:secret", "--scylla-option", "authorizer=CassandraAuthorizer"] });
  server.login = "liststore:secret";
  await server.cql("CREATE ROLE reader WITH PASSWORD = 'reads' AND LOGIN = true");
  const page = await browser.open(server, "controls", { httpCredentials: { username: "reader", password: "reads" } });
  await sees(page, "#faults-problem", "permission");
  await sees(page, "#clock-problem", "permission");
  assert.equal(await page.locator("#faults-form").isVisible(), false);
  await page.goto(`${server.address}/#overview`);
  await sees(page, "#tiles", /Connections\s+\d/);
});

test("without instruments the parts that are missing say so, and the rest works", async () => {
  await serve({ args: ["--instruments", "off"] });
  const page = await browser.open(server, "controls");
  for (const part of ["clock", "data", "faults"]) await sees(page, `#${part}-problem`, "--instruments is off");
  await page.goto(`${server.address}/#journal`);
  await sees(page, "#journal-problem", /--instruments is off|unconfigured table/);
  await page.goto(`${server.address}/#overview`);
  await sees(page, "#hot-note", "No request of the last minutes named a partition");
  await sees(page, "#tiles", /Connections\s+\d/);
  await page.getByRole("button", { name: "Look now" }).click();
  await sees(page, "#findings", "--instruments is off");
  await page.goto(`${server.address}/#tables`);
  await sees(page, "#tables-list", "No table has been made yet");
  await page.goto(`${server.address}/#cql`);
  await page.getByRole("button", { name: "Run" }).click();
  await sees(page, "#cql-summary", "Rows 1");
});

test("a server that is gone is not reachable, is asked less and less, and found again", async () => {
  await serve();
  const { port } = server;
  const page = await browser.open(server);
  await sees(page, "#state", "live");
  await server.stop();
  await sees(page, "#lost", "not reachable");
  await sees(page, "#state", "not reachable");
  const before = (await asked(page)).length;
  const times = await eventually(() => asked(page), (all) => all.length >= before + 3);
  const [first, second] = gapsOf(times).slice(-2);
  assert.ok(first > 1800 && second > 1.5 * first, `asked after ${gapsOf(times)} ms`);
  await serve({ port });
  await page.getByRole("button", { name: "Try now" }).click();
  await sees(page, "#state", "live");
  assert.equal(await page.locator("#lost").isVisible(), false);
});

test("the page asks once a second at most, and not while nobody looks", async () => {
  await serve();
  const page = await browser.open(server);
  await sees(page, "#state", "live");
  const gaps = gapsOf(await eventually(() => asked(page), (times) => times.length >= 8));
  assert.ok(Math.min(...gaps) >= 990, `gaps of ${gaps} ms`);
  await setHidden(page, true);
  await sees(page, "#state", "paused");
  // What was under way.
  await page.waitForTimeout(500);
  const before = (await asked(page)).length;
  await page.waitForTimeout(4000);
  assert.equal((await asked(page)).length, before);
  await setHidden(page, false);
  await eventually(() => asked(page), (times) => times.length >= before + 2);
  await sees(page, "#state", "live");
});
