// Tables: all of them by name and size, fifty at a time; of the chosen one its schema and newest rows.

const tables = {
  kShown: 50,
  kRowsShown: 20,
  kRequestsLookedAt: 200,
  kPartitionsShown: 8,

  all: [],  // { keyspace, name, isView, full }
  version: null,
  first: 0,
  chosen: null,

  start() {
    const refilter = () => {
      this.first = 0;
      this.draw();
    };
    byId("tables-filter").addEventListener("input", refilter);
    byId("tables-order").addEventListener("change", refilter);
    byId("tables-system").addEventListener("change", refilter);
    for (const [id, step] of [["tables-previous", -this.kShown], ["tables-next", this.kShown]]) {
      byId(id).addEventListener("click", () => {
        this.first += step;
        this.draw();
      });
    }
    poller.add({ name: "tables", periodMs: 3000, isWanted: () => shownView() === "tables", run: () => this.run() });
  },

  // Names come again where the schema has changed.
  run() {
    return shown(byId("tables-problem"), async () => {
      const { rows: [{ schema_version: version }] } =
        await runCql("SELECT schema_version FROM system.local WHERE key = 'local'");
      if (version === this.version) return;
      const views = await this.namesOf("views", "view_name");
      const isView = new Set(views.map(({ full }) => full));
      const named = await this.namesOf("tables", "table_name");
      this.all = [...named.filter(({ full }) => !isView.has(full)),
        ...views.map((view) => ({ ...view, isView: true }))];
      this.all.sort((a, b) => (a.full < b.full ? -1 : 1));
      this.version = version;
      this.draw();
      if (this.chosen === null) return;
      const again = this.all.find(({ full }) => full === this.chosen.full);
      if (again === undefined) this.unchoose();
    });
  },

  async namesOf(table, column) {
    const names = [];
    let pagingState;
    do {
      const page = await runCql(`SELECT keyspace_name, ${column} FROM system_schema.${table}`,
        { pageSize: 10_000, pagingState });
      for (const row of page.rows) {
        const full = `${row.keyspace_name}.${row[column]}`;
        names.push({ keyspace: row.keyspace_name, name: row[column], full, isView: false });
      }
      pagingState = page.paging_state;
    } while (pagingState);
    return names;
  },

  sizesOf(table) { return history.latest?.tables.get(table.full); },

  onSizes() { if (shownView() === "tables") this.draw(); },

  matching() {
    const wanted = byId("tables-filter").value.trim().toLowerCase();
    const withSystem = byId("tables-system").checked;
    const matching = this.all.filter((table) => (withSystem || !isOwnKeyspace(table.keyspace)) &&
      table.full.toLowerCase().includes(wanted));
    const figure = { rows: "rows", bytes: "live_bytes" }[byId("tables-order").value];
    if (figure === undefined) return matching;
    const size = (table) => this.sizesOf(table)?.[figure] ?? -1;
    return matching.sort((a, b) => size(b) - size(a));
  },

  draw() {
    const matching = this.matching();
    this.first = Math.max(0, Math.min(this.first, Math.floor((matching.length - 1) / this.kShown) * this.kShown));
    const page = matching.slice(this.first, this.first + this.kShown);
    const range = `${formatCount(this.first + 1)}\u2013${formatCount(this.first + page.length)}`;
    setText(byId("tables-range"), page.length === 0 ? "none" : `${range} of ${formatCount(matching.length)}`);
    for (const id of ["tables-previous", "tables-next"]) byId(id).hidden = matching.length <= this.kShown;
    byId("tables-previous").disabled = this.first === 0;
    byId("tables-next").disabled = this.first + this.kShown >= matching.length;
    // What is drawn again every second must not take the focus away.
    const focused = byId("tables-list").contains(document.activeElement) ? document.activeElement.textContent : null;
    replaceTable(byId("tables-list"), page.length === 0 ? this.nothing() : this.list(page));
    if (focused === null) return;
    [...byId("tables-list").querySelectorAll("button")].find((button) => button.textContent === focused)
      ?.focus({ preventScroll: true });
  },

  nothing() {
    const hasOwn = this.all.some(({ keyspace }) => !isOwnKeyspace(keyspace));
    return el("p", { class: "muted" }, this.version === null ? "Tables are asked for."
      : hasOwn || byId("tables-system").checked ? "No table has such a name." : "No table has been made yet.");
  },

  list(page) {
    const rows = page.map((table) => {
      const sizes = this.sizesOf(table);
      return el("tr", { "aria-current": this.chosen?.full === table.full ? "true" : null },
        el("th", { scope: "row", class: "text" },
          el("button", { type: "button", class: "link", click: () => this.choose(table) }, table.full),
          table.isView ? el("span", { class: "tag" }, " view") : null),
        el("td", { class: "number" }, formatCount(sizes?.rows)),
        el("td", { class: "number" }, formatBytes(sizes?.live_bytes)));
    });
    return tableOf("Tables that match",
      [{ name: "Table" }, { name: "Rows", class: "number" }, { name: "Bytes", class: "number" }], rows);
  },

  unchoose() {
    this.chosen = null;
    setText(byId("table-title"), "The table is gone");
    byId("table-body").replaceChildren();
  },

  async choose(table) {
    this.chosen = table;
    this.draw();
    setText(byId("table-title"), table.full);
    const body = byId("table-body");
    body.replaceChildren(el("p", { class: "muted" }, "Asking\u2026"));
    if (matchMedia("(max-width: 900px)").matches) byId("table").scrollIntoView();
    byId("table").focus({ preventScroll: true });
    const rows = el("div", {}, el("p", { class: "muted" }, "Rows are asked for\u2026"));
    const schema = await this.schemaOf(table);
    if (this.chosen !== table) return;
    body.replaceChildren(this.factsOf(table), ...schema.flat(), rows);
    rows.replaceChildren(...await this.rowsOf(table));
  },

  factsOf(table) {
    const sizes = this.sizesOf(table);
    if (sizes === undefined) {
      const isBeyond = history.latest?.tables.has("._others");
      return el("p", { class: "muted" }, isOwnKeyspace(table.keyspace) ? "Its rows are made when they are read."
        : isBeyond ? "The server sums up the sizes of all but a thousand tables, and of this one."
          : "Its size is not known yet.");
    }
    const fact = (name, text) => [el("dt", {}, name), el("dd", {}, text)];
    return el("dl", { class: "facts" }, fact("Partitions", formatCount(sizes.partitions)),
      fact("Rows", formatCount(sizes.rows)),
      fact("Bytes", `${formatBytes(sizes.live_bytes)}, in pages of ${formatBytes(sizes.held_bytes)}`));
  },

  async schemaOf(table) {
    const kind = table.isView ? "MATERIALIZED VIEW" : "TABLE";
    try {
      const { rows } = await runCql(`DESCRIBE ${kind} ${quoteName(table.keyspace)}.${quoteName(table.name)}`);
      // What WITH says is long, and seldom what is looked for.
      const lines = rows.map((row) => row.create_statement).join("\n").trim()
        .replace(/^\) WITH (\w+ = )/gm, ")\n    AND $1").split("\n");
      const isOption = (line) => /^ {4}AND \w+ = /.test(line);
      const part = (name, open, text) => el("details", { open }, el("summary", {}, name),
        el("pre", { tabindex: "0", role: "region", "aria-label": name }, text));
      const options = lines.filter(isOption).map((line) => line.trim().replace(/^AND /, ""));
      return [part("Schema", true, lines.filter((line) => !isOption(line)).join("\n")),
        options.length > 0 ? part("Options", false, options.join("\n")) : []];
    } catch (error) {
      return [el("p", { class: "problem" }, error.message)];
    }
  },

  // Rows are newest first within a partition: those of the partition that was written last, where the
  // journal knows one; else the first in the order of tokens.
  async rowsOf(table) {
    try {
      const partitions = await this.lastWritten(table);
      const holder = el("div");
      const show = (partition) => this.showRows(table, partition, holder, chips);
      const chips = el("div", { class: "chips", role: "group", "aria-label": "Partitions" },
        el("span", { class: "muted" }, "Partitions written last:"),
        partitions.map((partition) => el("button", { type: "button", "aria-pressed": "false",
          click: () => show(partition) }, formatValue(partition.key, 60))),
        el("button", { type: "button", "aria-pressed": "false", click: () => show(null) }, "any"));
      chips.hidden = partitions.length === 0;
      await show(partitions[0] ?? null);
      return [chips, holder];
    } catch (error) {
      return [el("p", { class: "problem" }, error.message)];
    }
  },

  // { key, where } of the partitions that clients wrote to last, latest first.
  async lastWritten(table) {
    if (isOwnKeyspace(table.keyspace)) return [];
    let requests;
    try {
      ({ rows: requests } = await runCql("SELECT key, op FROM liststore.requests WHERE journal = 'requests' " +
        `AND tbl = ${quoteText(table.full)} ORDER BY seq DESC LIMIT ${this.kRequestsLookedAt} ALLOW FILTERING`));
    } catch (error) {
      if (isForNow(error)) throw error;
      return [];  // No journal, or not for this role.
    }
    const keys = new Set(requests.filter(({ key, op }) => key !== null && /^(INSERT|UPDATE|BATCH)$/.test(op))
      .map(({ key }) => key));
    if (keys.size === 0) return [];
    const { rows: columns } = await runCql("SELECT column_name, type, kind, position FROM system_schema.columns " +
      `WHERE keyspace_name = ${quoteText(table.keyspace)} AND table_name = ${quoteText(table.name)}`);
    const keyColumns = columns.filter(({ kind }) => kind === "partition_key").sort((a, b) => a.position - b.position);
    return [...keys].map((key) => ({ key, where: this.conditionOf(keyColumns, key) }))
      .filter(({ where }) => where !== null).slice(0, this.kPartitionsShown);
  },

  // null: the journal's text of the key does not say where one column ends.
  conditionOf(columns, key) {
    const values = columns.length === 1 ? [key] : key.split(":");
    if (values.length !== columns.length) return null;
    const isQuoted = /^(text|varchar|ascii|timestamp|date|time|inet)$/;
    const isPlain = /^(tinyint|smallint|int|bigint|varint|decimal|float|double|boolean|uuid|timeuuid|blob)$/;
    if (!columns.every(({ type }) => isQuoted.test(type) || isPlain.test(type))) return null;
    return columns.map(({ column_name: name, type }, i) => (
      `${quoteName(name)} = ${isQuoted.test(type) ? quoteText(values[i]) : values[i]}`)).join(" AND ");
  },

  async showRows(table, partition, holder, chips) {
    const where = partition === null ? "" : ` WHERE ${partition.where}`;
    const text = `SELECT * FROM ${quoteName(table.keyspace)}.${quoteName(table.name)}${where} LIMIT ${this.kRowsShown}`;
    for (const button of chips.querySelectorAll("button")) {
      const isThis = button.textContent === (partition === null ? "any" : formatValue(partition.key, 60));
      button.setAttribute("aria-pressed", String(isThis));
    }
    const more = el("p", {}, el("button", { type: "button", click: () => statements.open(text) }, "Open in CQL"));
    try {
      const answer = await runCql(text, { pageSize: this.kRowsShown });
      const what = partition === null ? "in the order of tokens"
        : `of partition ${formatValue(partition.key, 60)}, as it is clustered`;
      const count = answer.rows.length === 1 ? "1 row" : `The first ${answer.rows.length} rows`;
      holder.replaceChildren(el("p", { class: "muted", role: "status" },
        answer.rows.length === 0 ? "There are no rows." : `${count} ${what}.`),
      ...(answer.rows.length === 0 ? [] : [resultTable(`Rows of ${table.full}`, answer, 200)]), more);
    } catch (error) {
      holder.replaceChildren(el("p", { class: "problem", role: "alert" }, error.message), more);
    }
  },
};
