// The journal: the newest requests that match a filter, and what is recorded.

const journal = {
  kShown: 100,
  // Of which those with a text are picked.
  kLookedAt: 1000,
  kColumns: "seq, at, client, driver, user, op, tbl, key, statement, prepared, values, consistency, " +
    "page_size, outcome, error, dead_rows, duration_us",

  opened: new Set(),  // by seq
  rows: [],
  state: null,

  start() {
    const form = byId("journal-filter");
    for (const op of ["", "SELECT", "INSERT", "UPDATE", "DELETE", "BATCH", "TRUNCATE", "PREPARE", "CREATE", "ALTER",
      "DROP", "USE", "DESCRIBE", "OTHER"]) {
      form.elements.op.append(el("option", { value: op }, op === "" ? "any" : op));
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => poller.renew("journal"));
    byId("journal-switch").addEventListener("click", (event) => this.change(event.currentTarget,
      () => ask("POST", "/api/journal", { enabled: !this.state.enabled })));
    byId("journal-empty").addEventListener("click", (event) => this.change(event.currentTarget,
      () => ask("DELETE", "/api/requests")));
    const isShown = () => shownView() === "journal";
    // The server makes all rows of the table for each look; who looks at the journal wants it all the same.
    poller.add({ name: "journal", periodMs: 2000, share: 0.25, isWanted: () => isShown() && this.follows(),
      run: () => this.run() });
    poller.add({ name: "journal state", periodMs: 5000, isWanted: isShown, run: () => this.runState() });
  },

  // Where it does not follow, a filter that has changed is still looked up.
  follows() {
    return byId("journal-filter").elements.follow.checked || this.shownFilter !== this.filterText();
  },

  filterText() {
    const { op, tbl, outcome, text } = byId("journal-filter").elements;
    return JSON.stringify([op.value, tbl.value.trim(), outcome.value, text.value.trim()]);
  },

  change(button, action) {
    return perform(button, byId("journal-problem"), async () => {
      await action();
      this.shownFilter = null;
      poller.renew("journal");
      poller.renew("journal state");
    });
  },

  runState() {
    return shown(byId("journal-problem"), async () => {
      const { rows: [state] } = await ask("GET", "/api/journal");
      this.state = state;
      setText(byId("journal-counts"), `${state.enabled ? "" : "Switched off. "}${formatCount(state.kept)} of at most ` +
        `${formatCount(state.capacity)} requests are kept; ${formatCount(state.dropped)} had to go.`);
      for (const button of [byId("journal-switch"), byId("journal-empty")]) button.hidden = false;
      setText(byId("journal-switch"), state.enabled ? "Stop recording" : "Record");
    });
  },

  run() {
    return shown(byId("journal-problem"), async () => {
      const filter = this.filterText();
      const [op, tbl, outcome, text] = JSON.parse(filter);
      const where = ["journal = 'requests'"];
      if (op !== "") where.push(`op = ${quoteText(op)}`);
      if (tbl !== "") where.push(`tbl = ${quoteText(tbl)}`);
      // CQL has no other way to say "not ok" than on either side of it.
      const sides = { "": [""], ok: [" AND outcome = 'ok'"], failed: [" AND outcome < 'ok'", " AND outcome > 'ok'"] };
      const limit = text === "" ? this.kShown : this.kLookedAt;
      const found = await Promise.all(sides[outcome].map((side) => runCql(
        `SELECT ${this.kColumns} FROM liststore.requests WHERE ${where.join(" AND ")}${side} ` +
        `ORDER BY seq DESC LIMIT ${limit} ALLOW FILTERING`, { pageSize: limit })));
      const rows = found.flatMap((answer) => answer.rows).sort((a, b) => b.seq - a.seq);
      const wanted = text.toLowerCase();
      this.rows = rows.filter((row) => wanted === "" || [row.statement, row.key, row.client, row.driver, row.user,
        row.outcome, row.error].some((part) => part !== null && part.toLowerCase().includes(wanted)))
        .slice(0, this.kShown);
      this.shownFilter = filter;
      this.draw();
    });
  },

  draw() {
    const holder = byId("journal-rows");
    if (this.rows.length === 0) {
      const [op, tbl, outcome, text] = JSON.parse(this.shownFilter);
      holder.replaceChildren(el("p", { class: "muted" }, op + tbl + outcome + text === ""
        ? "No request of a client has been recorded." : "No request matches."));
      return;
    }
    const focused = holder.contains(document.activeElement) ? document.activeElement.dataset.seq : undefined;
    replaceTable(holder, tableOf("Requests, newest first", [
      { name: "Details" }, { name: "At" }, { name: "Operation" }, { name: "Table", class: "roomy" },
      { name: "Outcome" }, { name: "Took", class: "number roomy" }, { name: "Statement" }],
    this.rows.flatMap((row) => this.rowOf(row))));
    if (focused === undefined) return;
    holder.querySelector(`[data-seq="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  },

  rowOf(row) {
    const isOpen = this.opened.has(row.seq);
    const toggle = () => {
      if (!this.opened.delete(row.seq)) this.opened.add(row.seq);
      this.draw();
    };
    const line = el("tr", {},
      el("td", {}, el("button", { type: "button", class: "link", "aria-expanded": String(isOpen),
        "aria-label": `${isOpen ? "less" : "more"} of request ${row.seq}`, "data-seq": row.seq, click: toggle },
      isOpen ? "less" : "more")),
      el("td", { class: "nowrap" }, row.at.slice(11, 23)),
      el("td", {}, row.op),
      el("td", { class: "name roomy" }, row.tbl ?? ""),
      el("td", { class: row.outcome === "ok" ? "nowrap" : "nowrap bad" }, row.outcome),
      el("td", { class: "number roomy" }, formatSeconds(row.duration_us / 1e6)),
      el("td", { class: "rest" }, el("code", { class: "statement" }, formatValue(row.statement ?? "", 300))));
    return isOpen ? [line, el("tr", {}, el("td", { colspan: "7", class: "whole" }, this.detailsOf(row)))] : [line];
  },

  detailsOf(row) {
    const values = row.values === null ? null : row.values.join(", ");
    const facts = { Number: row.seq, At: row.at, Table: row.tbl, Error: row.error, Key: row.key, Values: values,
      Client: [row.client, row.driver, row.user].filter((part) => part !== null).join(", "),
      Consistency: row.consistency, "Page size": row.page_size, Prepared: row.prepared ? "yes" : "no",
      "Dead rows": row.dead_rows, Took: formatSeconds(row.duration_us / 1e6) };
    return [el("pre", { tabindex: "0", role: "region", "aria-label": "Statement" }, row.statement ?? ""),
      el("dl", { class: "facts" }, Object.entries(facts).filter(([, value]) => value !== null && value !== "")
        .map(([name, value]) => [el("dt", {}, name),
          el("dd", { class: name === "Error" ? "bad" : null }, String(value))]))];
  },
};
