// The overview: figures and charts of /metrics, hot partitions, findings.

const overview = {
  kHotShown: 10,

  tiles: new Map(),
  charts: [],

  start() {
    const figure = (label, color, name, line) => ({ label, color, line, valueOf: (point) => point[name] });
    const memory = (kind, color) => ({ label: kind, color, valueOf: (point) => point.memory.get(kind)?.bytes });
    this.charts = [
      new Chart({ title: "Requests a second", format: formatRate, series: [figure("reads", 1, "reads"),
        figure("writes", 2, "writes"), figure("others", 3, "others"), figure("failed", 4, "failed", "dashed")] }),
      new Chart({ title: "Latency", format: formatSeconds, isLog: true, series: [
        figure("read p50", 1, "read_p50", "dotted"), figure("read p99", 1, "read_p99"),
        figure("write p50", 2, "write_p50", "dotted"), figure("write p99", 2, "write_p99")] }),
      new Chart({ title: "Memory", format: formatBytes, base: 1024, series: [memory("rows", 1), memory("process", 2),
        memory("connections", 3), { label: "limit", color: 4, line: "dashed", isLimit: true,
          valueOf: (point) => this.limitOf(point.memory) }] }),
      new Chart({ title: "Given back a second", format: formatRate, series: [
        figure("rows that expired", 1, "expired"), figure("partitions evicted", 2, "evicted", "dashed")] })];
    byId("charts").append(...this.charts.map(({ element }) => element));
    for (const name of ["Reads a second", "Writes a second", "Read p99", "Write p99", "Memory", "Connections",
      "Rows", "Tables"]) {
      const value = el("dd", {}, kUnknown);
      this.tiles.set(name, value);
      byId("tiles").append(el("div", {}, el("dt", {}, name), value));
    }
    poller.add({ name: "metrics", periodMs: poller.kTickMs, isWanted: () => true, run: () => this.runMetrics() });
    poller.add({ name: "hot", periodMs: 5000, isWanted: () => shownView() === "overview", run: () => this.runHot() });
    byId("findings-look").addEventListener("click", (event) => this.look(event.currentTarget));
  },

  limitOf(memory) {
    return memory.get("process")?.limit ?? memory.get("rows")?.limit ?? null;
  },

  runMetrics() {
    return shown(byId("metrics-problem"), async () => {
      history.add(parseMetrics(await askText("GET", "/metrics")));
      setText(byId("version"), history.latest.version);
      this.draw();
      tables.onSizes();
    });
  },

  draw() {
    const { latest, points } = history;
    if (latest === null || shownView() !== "overview") return;
    for (const chart of this.charts) chart.show(points, latest.at);
    const point = points.at(-1);
    const own = [...latest.tables].filter(([name]) => !isOwnKeyspace(name.slice(0, name.indexOf("."))));
    const process = latest.memory.get("process") ?? latest.memory.get("rows");
    const tile = (name, text) => setText(this.tiles.get(name), text);
    tile("Reads a second", formatRate(point.reads));
    tile("Writes a second", formatRate(point.writes));
    tile("Read p99", formatSeconds(point.read_p99));
    tile("Write p99", formatSeconds(point.write_p99));
    tile("Memory", formatBytes(process?.bytes));
    tile("Connections", formatCount(latest.connections));
    tile("Rows", formatCount(own.reduce((sum, [, { rows }]) => sum + rows, 0)));
    const hasOthers = latest.tables.has("._others");
    tile("Tables", hasOthers ? `over ${formatCount(own.length - 1)}` : formatCount(own.length));
  },

  // Those of the last minutes, whether or not there is a journal.
  async runHot() {
    const problem = byId("hot-note");
    try {
      const { rows } = await runCql("SELECT tbl, key, reads, writes, longest_us, of_requests, looked_at, seconds " +
        `FROM liststore.hot_partitions WHERE top = 'partitions' LIMIT ${this.kHotShown}`);
      this.showHot(rows);
      return true;
    } catch (error) {
      if (isForNow(error)) throw error;
      byId("hot").replaceChildren();
      setText(problem, error.message);
      return false;
    }
  },

  showHot(partitions) {
    if (partitions.length === 0) {
      setText(byId("hot-note"), "No request of the last minutes named a partition.");
      return byId("hot").replaceChildren();
    }
    const { of_requests: all, looked_at: lookedAt, seconds } = partitions[0];
    setText(byId("hot-note"), `Of ${formatCount(all)} requests in the last ` +
      `${seconds < 120 ? `${Math.max(seconds, 1)} s` : `${Math.round(seconds / 60)} minutes`}` +
      (lookedAt < all ? `, of which ${formatCount(lookedAt)} were looked at.` : "."));
    const number = "number";
    const shareOf = (part) => `${(100 * part / Math.max(all, 1)).toPrecision(2)} %`;
    replaceTable(byId("hot"), tableOf("Hot partitions", [{ name: "Table", class: "name" },
      { name: "Key", class: "name" }, { name: "Reads", class: number }, { name: "Writes", class: number },
      { name: "Share", class: number }, { name: "Longest", class: "number roomy" }],
    partitions.map(({ tbl, key, reads, writes, longest_us: longest }) => [tbl, formatValue(key, 80),
      formatCount(reads), formatCount(writes), shareOf(reads + writes), formatSeconds(longest / 1e6)])));
  },

  // Looks at every partition that is stored: on demand alone.
  async look(button) {
    button.disabled = true;
    const answers = await Promise.allSettled([ask("GET", "/api/lint", undefined, 60_000),
      ask("GET", "/api/unsupported")]);
    button.disabled = false;
    const rows = answers.flatMap(({ value }) => value?.rows ?? []).map((row) => [row.rule ?? row.kind,
      formatValue(row.subject ?? row.feature, 300), formatCount(row.count),
      formatValue(row.detail ?? row.instead ?? "", 300)]);
    const refused = answers.filter(({ status }) => status === "rejected")
      .map(({ reason }) => el("p", { class: "problem" }, reason.message));
    const found = rows.length > 0
      ? tableOf("Findings", [{ name: "Finding", class: "nowrap" }, { name: "Of", class: "text" },
        { name: "Count", class: "number" }, { name: "More", class: "text" }], rows)
      : el("p", {}, "Nothing was found.");
    byId("findings").replaceChildren(...refused, ...(refused.length < 2 ? [found] : []));
  },
};
