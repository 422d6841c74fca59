// Every part, in light and dark, on a desk and on a phone: axe finds nothing, and nothing is wider than the
// window. Writes the pictures of docs/http.md where LISTSTORE_PAGE_IMAGES names a folder.
"use strict";

const assert = require("node:assert/strict");
const { after, afterEach, before, test } = require("node:test");
const path = require("node:path");
const { Browser, eventually, findingsOf, sees } = require("./browser.js");
const { Server } = require("./server.js");

const kDesk = { width: 1280, height: 800 };
const kPhone = { width: 390, height: 844 };
const kLong = "a_text_without_any_place_to_break_".repeat(20);

const images = process.env.LISTSTORE_PAGE_IMAGES;
let browser;
let server;
let load;
let isDone = false;

// Some reads and writes a second: a few users have most of them.
async function makeLoad() {
  for (let i = 0; !isDone; ++i) {
    const user = `user-${Math.floor(20 ** Math.abs(Math.sin(i)))}`;
    await server.cql("INSERT INTO feat.clicks (user, ts, item) " +
      `VALUES ('${user}', ${i}, 'item-${i % 97}') USING TTL 60`);
    await server.cql(`SELECT * FROM feat.clicks WHERE user = '${user}' LIMIT 20`);
    if (i % 20 === 0) await server.cql("SELECT nothing FROM feat.clicks").catch(() => {});
    await new Promise((resolve) => { setTimeout(resolve, 15 + 8 * Math.sin(i / 400)); });
  }
}

before(async () => {
  browser = await Browser.start();
  server = await Server.start({ args: ["--memory-limit", "64M"] });
  await server.makeClicks();
  await server.cql("CREATE TABLE feat.orders (shop text, day date, id bigint, total decimal, " +
    "PRIMARY KEY ((shop, day), id)) WITH CLUSTERING ORDER BY (id DESC)");
  await server.cql(`INSERT INTO feat.orders (shop, day, id, total) VALUES ('${kLong}', '2026-11-27', 1, 12.50)`);
  await server.ask("POST", "/api/faults",
    { name: "slow reads", op: "SELECT", tbl: "feat.orders", action: "delay 5ms..20ms" });
  await server.ask("POST", "/api/faults",
    { name: "lost writes", op: "INSERT", tbl: "feat.orders", times: 3, action: "write_timeout", applies: true });
  await server.ask("POST", "/api/data", { action: "mark" });
  load = makeLoad();
});
afterEach(() => browser.closePages());
after(async () => {
  isDone = true;
  await load;
  await browser?.stop();
  await server?.stop();
});

// Each part once it has all that it shows.
const kParts = {
  overview: async (page) => {
    await sees(page, "#hot", "feat.clicks");
    await page.getByRole("button", { name: "Look now" }).click();
    await sees(page, "#findings", "unprepared");
  },
  tables: async (page) => {
    await page.getByRole("button", { name: "feat.clicks" }).click();
    await sees(page, "#table", /item-\d/);
  },
  "tables of long texts": async (page) => {
    await page.getByRole("button", { name: "feat.orders" }).click();
    await sees(page, "#table", "CREATE TABLE");
    await eventually(() => page.locator("#table table, #table .problem").count(), (count) => count > 0);
  },
  journal: async (page) => {
    await page.locator("#journal-filter").getByLabel("Follow").uncheck();
    await page.locator("#journal-rows").getByRole("button").first().click();
    await sees(page, "#journal-rows", "Consistency");
  },
  controls: async (page) => {
    await sees(page, "#faults-list", "lost writes");
    await sees(page, "#data-facts", "KiB");
    await page.getByText("More conditions").click();
  },
  cql: async (page) => {
    await page.getByRole("textbox", { name: "Statement", exact: true })
      .fill("SELECT user, ts, item, TTL(item) FROM feat.clicks");
    await page.getByRole("button", { name: "Run" }).click();
    await sees(page, "#cql-rows", /item-\d/);
  },
  "cql with an error": async (page) => {
    await page.getByRole("textbox", { name: "Statement", exact: true }).fill(`SELECT ${kLong} FROM feat.clicks`);
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator("#cql-problem").waitFor();
  },
};

for (const [where, viewport] of [["a desk", kDesk], ["a phone", kPhone]]) {
  for (const colorScheme of ["light", "dark"]) {
    for (const [part, prepare] of Object.entries(kParts)) {
      test(`${part} on ${where} in ${colorScheme}`, async () => {
        const page = await browser.open(server, part.split(" ")[0], { viewport, colorScheme });
        await prepare(page);
        assert.deepEqual(await findingsOf(page), []);
        const { wide, wider } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth,
          wider: [...document.querySelectorAll("main *")].filter((one) => !one.closest(".scroll, pre, svg") &&
            one.getBoundingClientRect().right > innerWidth + 1).map((one) => `${one.tagName} ${one.className}`) }));
        assert.ok(wide <= viewport.width, `${wide} px`);
        assert.deepEqual(wider, []);
      });
    }
  }
}

test("the dialog, and the news that the server is gone, pass as well", async () => {
  const page = await browser.open(server, "controls");
  await sees(page, "#data-facts", "KiB");
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByRole("dialog").waitFor();
  assert.deepEqual(await findingsOf(page), []);
  await page.keyboard.press("Escape");
  await page.route("**/metrics", (route) => route.abort());
  await page.route("**/api/**", (route) => route.abort());
  await page.locator("#lost").waitFor();
  assert.deepEqual(await findingsOf(page), []);
});

test("the theme is chosen, and still is when the page comes again", async () => {
  const page = await browser.open(server, "overview", { colorScheme: "light" });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.getByLabel("Theme").selectOption("dark");
  const dark = await background();
  assert.notEqual(dark, light);
  await page.reload();
  assert.equal(await background(), dark);
  await page.getByLabel("Theme").selectOption("");
  assert.equal(await background(), light);
});

test("all parts are reached with the keyboard", async () => {
  const page = await browser.open(server);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  const reached = [];
  for (let i = 0; i < 6; ++i) {
    await page.keyboard.press("Tab");
    reached.push(await page.evaluate(() => document.activeElement.hash ?? document.activeElement.id));
  }
  assert.deepEqual(reached, ["theme", "#overview", "#tables", "#journal", "#controls", "#cql"]);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "CQL" }).waitFor();
});

async function drawPictures() {
  const save = (page, name) => page.screenshot({ path: path.join(images, name) });
  const page = await browser.open(server, "overview", { viewport: kDesk, colorScheme: "light" });
  await page.waitForTimeout(310_000);
  await save(page, "page.png");
  const controls = await browser.open(server, "controls", { viewport: kDesk, colorScheme: "dark" });
  await sees(controls, "#faults-list", "lost writes");
  await save(controls, "page-controls.png");
}

if (images) test("pictures", drawPictures);
