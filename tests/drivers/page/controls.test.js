// Faults, clock, marks and resets: what is clicked is what the API says afterwards.
"use strict";

const assert = require("node:assert/strict");
const { after, afterEach, before, beforeEach, test } = require("node:test");
const { Browser, eventually, sees, textOf } = require("./browser.js");
const { Server } = require("./server.js");

let browser;
let server;
let page;

before(async () => {
  browser = await Browser.start();
  server = await Server.start();
  await server.makeClicks();
});
beforeEach(async () => { page = await browser.open(server, "controls"); });
afterEach(() => browser.closePages());
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const clockOf = async () => (await server.ask("GET", "/api/clock"))[0];

test("a fault is added by the form, met, shown and removed", async () => {
  await sees(page, "#faults-list", "Nothing is to go wrong");
  const form = page.locator("#faults-form");
  await form.getByLabel("Name").fill("slow / reads");
  await form.getByLabel("Action").selectOption("delay");
  await form.getByRole("textbox", { name: "Delay" }).fill("1ms..2ms");
  await form.getByLabel("Operation").selectOption("SELECT");
  await form.getByLabel("Table").fill("feat.clicks");
  await form.getByLabel("Times").fill("3");
  await form.getByText("More conditions").click();
  await form.getByLabel("Probability").fill("1");
  await form.getByLabel("only its answer is lost").uncheck();
  await form.getByRole("button", { name: "Add fault" }).click();
  await sees(page, "#faults-list", "slow / reads");
  const [fault] = await server.ask("GET", "/api/faults");
  assert.equal(fault.action, "delay 1ms..2ms");
  assert.deepEqual([fault.op, fault.tbl, fault.times, fault.probability], ["SELECT", "feat.clicks", 3, 1]);
  await server.cql("SELECT * FROM feat.clicks");
  await eventually(() => page.locator("#faults-list tbody td").allInnerTexts(),
    (cells) => cells[3] === "1" && cells[4] === "2");
  await page.getByRole("button", { name: "Remove slow / reads" }).click();
  await sees(page, "#faults-list", "Nothing is to go wrong");
  assert.deepEqual(await server.ask("GET", "/api/faults"), []);
});

test("all faults are removed at once", async () => {
  for (const name of ["a", "b"]) await server.ask("POST", "/api/faults", { name, action: "unavailable" });
  await sees(page, "#faults-list", "unavailable");
  await page.getByRole("button", { name: "Remove all" }).click();
  await sees(page, "#faults-list", "Nothing is to go wrong");
  assert.deepEqual(await server.ask("GET", "/api/faults"), []);
});

test("a fault that the server refuses says why, beside the form", async () => {
  const form = page.locator("#faults-form");
  await form.getByLabel("Name").fill("bad");
  await form.getByLabel("Action").selectOption("delay");
  await form.getByRole("textbox", { name: "Delay" }).fill("soon");
  await form.getByRole("button", { name: "Add fault" }).click();
  await sees(page, "#faults-problem", "soon");
  assert.deepEqual(await server.ask("GET", "/api/faults"), []);
});

test("the clock is made manual, advanced, set, scaled and let go", async () => {
  await sees(page, "#clock-mode", "as the machine's clock goes");
  const mode = page.locator("#clock-mode-form");
  await mode.getByLabel("Mode").selectOption("manual");
  await mode.getByRole("button", { name: "Set mode" }).click();
  await sees(page, "#clock-mode", "stands still");
  const { now_nanos: stopped } = await clockOf();
  await page.getByLabel("Advance by").fill("1h30m");
  await page.getByRole("button", { name: "Advance" }).click();
  await eventually(clockOf, ({ now_nanos: now }) => Math.abs(now - stopped - 5400e9) < 1e6);
  await page.getByLabel("Set to (UTC)").fill("2030-02-03T04:05:06");
  await page.getByRole("button", { name: "Set", exact: true }).click();
  await sees(page, "#clock-now", "2030-02-03 04:05:06");
  assert.equal((await clockOf()).now, "2030-02-03 04:05:06.000Z");
  await mode.getByLabel("Mode").selectOption("scaled");
  await mode.getByLabel("Factor").fill("3600");
  await mode.getByRole("button", { name: "Set mode" }).click();
  await eventually(clockOf, ({ mode: is }) => is === "scaled:3600");
  // Between two answers the page counts by itself.
  await sees(page, "#clock-now", /2030-02-03 (0[5-9]|[12]\d)/);
  await server.ask("POST", "/api/data", { action: "mark" });
});

test("a clock that is not moved says why, and a jump goes to the next expiry", async () => {
  await server.ask("POST", "/api/clock", { mode: "manual" });
  await server.cql("INSERT INTO feat.clicks (user, ts, item) VALUES ('u', 1, 'x') USING TTL 600");
  const { now_nanos: before } = await clockOf();
  await page.getByRole("button", { name: "To the next expiry" }).click();
  await eventually(clockOf, ({ now_nanos: now }) => now > before);
  assert.deepEqual(await server.cql("SELECT * FROM feat.clicks"), []);
  await page.getByLabel("Set to (UTC)").fill("2020-01-01T00:00:00");
  await page.getByRole("button", { name: "Set", exact: true }).click();
  await sees(page, "#clock-problem", "liststore.clock");
});

test("a mark is set, gone back to and forgotten, a reset asked for twice", async () => {
  await server.cql("INSERT INTO feat.clicks (user, ts, item) VALUES ('marked', 1, 'x')");
  await page.getByRole("button", { name: "Mark", exact: true }).click();
  await sees(page, "#data-done", "baseline");
  await server.cql("INSERT INTO feat.clicks (user, ts, item) VALUES ('later', 1, 'x')");
  const users = async () => (await server.cql("SELECT user FROM feat.clicks")).map(({ user }) => user).sort();
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  assert.deepEqual(await users(), ["later", "marked"]);
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
  await sees(page, "#data-done", "as it was marked");
  assert.deepEqual(await users(), ["marked"]);
  await page.getByRole("button", { name: "Forget the mark" }).click();
  await sees(page, "#data-facts", "none is marked");
  assert.equal((await server.ask("GET", "/api/data"))[0].baseline, null);
  assert.match(await textOf(page, "#data-done"), /no baseline/);
});
