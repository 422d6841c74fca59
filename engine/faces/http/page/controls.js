// What tests turn: the clock, marks and resets, faults.

const clock = {
  state: null,  // { mode, now, readAt }

  start() {
    const modeForm = byId("clock-mode-form");
    const problem = byId("clock-problem");
    modeForm.elements.mode.addEventListener("change", () => {
      modeForm.elements.factor.parentElement.hidden = modeForm.elements.mode.value !== "scaled";
    });
    const bind = (form, write) => {
      byId(form).addEventListener("submit", (event) => {
        event.preventDefault();
        const { elements } = event.target;
        perform(event.submitter, problem, async () => this.take(await ask("POST", "/api/clock", write(elements))));
      });
    };
    bind("clock-mode-form", ({ mode, factor }) => (
      { mode: mode.value === "scaled" ? `scaled:${factor.value.trim()}` : mode.value }));
    bind("clock-advance-form", ({ advance }) => ({ advance: advance.value.trim() }));
    bind("clock-set-form", ({ now }) => ({ now: `${now.value.padEnd(19, ":00")}Z` }));
    byId("clock-jump").addEventListener("click", (event) => perform(event.currentTarget, problem,
      async () => this.take(await ask("POST", "/api/clock", { jump: "next_expiry" }))));
    poller.add({ name: "clock", periodMs: 5000, isWanted: () => shownView() === "controls", run: () => this.run() });
    setInterval(() => this.draw(), 500);
  },

  run() {
    return sectionOf("clock", async () => this.take(await ask("GET", "/api/clock")));
  },

  take({ rows: [row] }) {
    this.state = { mode: row.mode, now: instantOf(row.now), readAt: performance.now() };
    const { now } = byId("clock-set-form").elements;
    if (now.value === "") now.value = formatInstant(this.state.now).replace(" ", "T");
    this.draw();
  },

  // Between two looks it goes on as its mode says.
  draw() {
    if (this.state === null || shownView() !== "controls" || document.hidden) return;
    const { mode, now, readAt } = this.state;
    const factor = mode === "manual" ? 0 : mode === "real" ? 1 : Number(mode.slice("scaled:".length));
    setText(byId("clock-now"), formatInstant(now + (performance.now() - readAt) * factor));
    const words = { real: "UTC, as the machine's clock goes", manual: "UTC, stands still until it is moved" };
    setText(byId("clock-mode"), words[mode] ?? `UTC, ${factor} seconds pass in one`);
  },
};

const data = {
  start() {
    const write = (id, action, done) => byId(id).addEventListener("click", (event) => (
      this.write(event.currentTarget, action, done)));
    write("data-mark", "mark", "The present schema and rows are the baseline.");
    write("data-forget", "forget", "There is no baseline any more; what is stored stays.");
    byId("data-reset").addEventListener("click", async (event) => {
      const button = event.currentTarget;
      const isMarked = (this.row?.baseline ?? null) !== null;
      const text = isMarked ? `Everything goes back to the mark of ${this.row.baseline.slice(0, 19)}.`
        : "Nothing is marked: all keyspaces of users go, with their rows.";
      if (await confirmed("Reset the server's data?", text, "Reset")) {
        this.write(button, "reset",
          isMarked ? "Everything is as it was marked." : "There are no keyspaces of users any more.");
      }
    });
    poller.add({ name: "data", periodMs: 5000, isWanted: () => shownView() === "controls", run: () => this.run() });
  },

  write(button, action, done) {
    setText(byId("data-done"), "");
    return perform(button, byId("data-problem"), async () => {
      this.take(await ask("POST", "/api/data", { action }, 60_000));
      setText(byId("data-done"), done);
      poller.renew("clock");  // A reset may have moved it.
      poller.renew("faults");
    });
  },

  run() {
    return sectionOf("data", async () => this.take(await ask("GET", "/api/data")));
  },

  take({ rows: [row] }) {
    this.row = row;
    byId("data-forget").disabled = row.baseline === null;
    const facts = { Baseline: row.baseline === null ? "none is marked" : row.baseline.slice(0, 19),
      Keyspaces: formatCount(row.keyspaces), Tables: formatCount(row.tables), Rows: formatCount(row.rows),
      Bytes: formatBytes(row.bytes) };
    byId("data-facts").replaceChildren(...Object.entries(facts)
      .flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
  },
};

const faults = {
  kActions: ["read_timeout", "write_timeout", "unavailable", "overloaded", "server_error", "rate_limit", "unprepared",
    "close_connection", "no_answer", "delay"],
  kOps: ["", "SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "BATCH", "PREPARE", "CREATE", "ALTER", "DROP", "USE",
    "DESCRIBE"],

  start() {
    const form = byId("faults-form");
    const { action, op, delay } = form.elements;
    for (const name of this.kActions) action.append(el("option", {}, name));
    for (const name of this.kOps) op.append(el("option", { value: name }, name === "" ? "any" : name));
    action.addEventListener("change", () => { delay.parentElement.hidden = action.value !== "delay"; });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.change(event.submitter, async () => {
        this.take(await ask("POST", "/api/faults", this.rowOf(form.elements)));
        form.elements.name.value = "";
      });
    });
    byId("faults-clear").addEventListener("click", (event) => this.change(event.currentTarget,
      async () => this.take(await ask("DELETE", "/api/faults"))));
    poller.add({ name: "faults", periodMs: 3000, isWanted: () => shownView() === "controls", run: () => this.run() });
  },

  // What is left empty is not said.
  rowOf(elements) {
    const row = { name: elements.name.value,
      action: elements.action.value === "delay" ? `delay ${elements.delay.value.trim()}` : elements.action.value };
    for (const column of ["op", "tbl", "statement", "key", "connection", "consistency"]) {
      if (elements[column].value !== "") row[column] = elements[column].value;
    }
    for (const column of ["times", "probability", "seed"]) {
      if (elements[column].value !== "") row[column] = Number(elements[column].value);
    }
    if (elements.applies.checked) row.applies = true;
    return row;
  },

  change(button, action) { return perform(button, byId("faults-problem"), action); },

  run() {
    return sectionOf("faults", async () => this.take(await ask("GET", "/api/faults")));
  },

  take({ rows }) {
    byId("faults-clear").hidden = rows.length === 0;
    const holder = byId("faults-list");
    const focused = holder.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    if (rows.length === 0) {
      holder.replaceChildren(el("p", { class: "muted" }, "Nothing is to go wrong."));
    } else {
      replaceTable(holder, this.listOf(rows));
    }
    // The one that had the focus may be gone, with its button.
    if (focused === null || holder.contains(document.activeElement)) return;
    const again = [...holder.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === focused);
    (again ?? byId("faults-form").elements.name).focus({ preventScroll: true });
  },

  listOf(rows) {
    return tableOf("Faults", [{ name: "Name" }, { name: "Action" }, { name: "Meets" },
      { name: "Hits", class: "number" }, { name: "Remaining", class: "number" }, { name: "Remove" }],
    rows.map((row) => {
      const remove = (event) => this.change(event.currentTarget,
        async () => this.take(await ask("DELETE", `/api/faults/${encodeURIComponent(row.name)}`)));
      return [el("td", { class: "text" }, row.name), row.action, el("td", { class: "text" }, this.meets(row)),
        formatCount(row.hits), row.remaining === null ? "until removed" : formatCount(row.remaining),
        el("button", { type: "button", "aria-label": `Remove ${row.name}`, click: remove }, "Remove")];
    }));
  },

  meets(row) {
    const parts = [row.op ?? "any operation", row.tbl === null ? null : `on ${row.tbl}`,
      row.key === null ? null : `key ${row.key}`, row.statement === null ? null : `with \u201c${row.statement}\u201d`,
      row.consistency, row.connection === null ? null : `of ${row.connection}`,
      row.probability === null ? null : `with probability ${row.probability}`,
      row.applies ? "and runs all the same" : null];
    return parts.filter((part) => part !== null).join(" ");
  },
};

// A panel whose table is not there, or not for this role, says so in place of its controls.
async function sectionOf(name, action) {
  const problem = byId(`${name}-problem`);
  const parts = name === "faults" ? [byId("faults-form"), byId("faults-list")] : [byId(`${name}-body`)];
  try {
    await action();
    if (parts[0].hidden) showProblem(problem, null);
    for (const part of parts) part.hidden = false;
    return true;
  } catch (error) {
    if (isForNow(error)) throw error;
    showProblem(problem, error);
    for (const part of parts) part.hidden = true;
    return false;
  }
}
