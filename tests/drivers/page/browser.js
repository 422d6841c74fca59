// Pages of a headless Chromium, watched: a script that fails, or that the policy of the page refuses, fails
// the test. LISTSTORE_BROWSER names the program.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const { chromium } = require("playwright-core");

const kWaitMs = 30_000;
const kAxe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

class Browser {
  constructor(browser) {
    this.browser = browser;
    this.problems = [];
  }

  static async start() {
    return new Browser(await chromium.launch({ executablePath: process.env.LISTSTORE_BROWSER,
      // Tests run as root, in containers with little of /dev/shm.
      args: ["--no-sandbox", "--disable-dev-shm-usage"] }));
  }

  // The page of a server, at one of its parts. `options`: those of a context of Playwright.
  async open(server, part = "overview", options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(kWaitMs);
    page.on("pageerror", (error) => this.problems.push(error.stack));
    page.on("console", (message) => {
      // What the server refuses the page shows, and the browser says as well.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
        this.problems.push(message.text());
      }
    });
    await page.goto(`${server.address}/#${part}`);
    return page;
  }

  // Ends what is open.
  async closePages() {
    await Promise.all(this.browser.contexts().map((context) => context.close()));
    const problems = this.problems.splice(0);
    assert.deepEqual(problems, []);
  }

  stop() { return this.browser.close(); }
}

// Until `look` answers what is wanted: what it answered last is in the error.
async function eventually(look, wanted) {
  const end = Date.now() + kWaitMs;
  for (;;) {
    const seen = await look();
    if (wanted(seen)) return seen;
    if (Date.now() > end) assert.fail(`still ${JSON.stringify(seen)} after ${kWaitMs / 1000} s`);
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
}

const textOf = (page, selector) => page.locator(selector).innerText();

// The text of a place, once it has `part`.
function sees(page, selector, part) {
  const has = (text) => (part instanceof RegExp ? part.test(text) : text.includes(part));
  return eventually(() => textOf(page, selector), has);
}

// What axe finds, a line each.
async function findingsOf(page) {
  await page.evaluate(kAxe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ target, failureSummary }) => (
    `${target.join(" ")} (${failureSummary.replace(/\s+/g, " ")})`)).join("; ")}`);
}

module.exports = { Browser, eventually, findingsOf, sees, textOf };
