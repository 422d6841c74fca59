// Any statement of CQL: its answer as a table, a page at a time, or what the server said against it.

const statements = {
  kTimeoutMs: 60_000,

  asked: null,  // { query, keyspace, pageSize, pagingState, before }: of the next page

  start() {
    const form = byId("cql-form");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const { query, keyspace, page_size: pageSize } = form.elements;
      this.run({ query: query.value.trim(), keyspace: keyspace.value.trim(), pageSize: Number(pageSize.value),
        before: 0 });
    });
    form.elements.query.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      form.requestSubmit();
    });
    byId("cql-next").addEventListener("click", () => this.run(this.asked));
  },

  // Shows a statement, and does not run it.
  open(text) {
    location.hash = "#cql";
    const { query } = byId("cql-form").elements;
    query.value = text;
    query.focus();
  },

  run(asked) {
    const button = byId("cql-form").querySelector("button");
    return perform(button, byId("cql-problem"), async () => {
      const begun = performance.now();
      try {
        const answer = await runCql(asked.query, { ...asked, timeoutMs: this.kTimeoutMs });
        this.show(asked, answer, (performance.now() - begun) / 1000);
      } catch (error) {
        byId("cql-answer").hidden = true;
        throw error;
      }
    });
  },

  show(asked, answer, seconds) {
    const { rows, columns, warnings, keyspace, paging_state: pagingState } = answer;
    byId("cql-answer").hidden = false;
    const range = rows.length === 0 ? "No rows"
      : rows.length === 1 && asked.before === 0 ? "1 row"
        : `Rows ${formatCount(asked.before + 1)}\u2013${formatCount(asked.before + rows.length)}`;
    const what = columns.length > 0 ? range : keyspace ? `Keyspace ${keyspace}: name it in the field above` : "Done";
    setText(byId("cql-summary"), `${what}, in ${formatSeconds(seconds)}.${pagingState ? " There are more." : ""}`);
    const parts = (warnings ?? []).map((warning) => el("p", {}, `Warning: ${warning}`));
    if (rows.length > 0) parts.push(resultTable("Rows", answer, 2000));
    byId("cql-rows").replaceChildren(...parts);
    byId("cql-next").hidden = !pagingState;
    this.asked = { ...asked, pagingState, before: asked.before + rows.length };
  },
};
