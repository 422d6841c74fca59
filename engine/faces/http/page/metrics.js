// GET /metrics: the text for Prometheus -> a sample, and samples -> what happens a second.

// Of what clients of CQL ask about their own tables; the page's statements are on these.
const isOwnKeyspace = (keyspace) => keyspace === "liststore" || /^system(_|$)/.test(keyspace);

const kKindOfOp = { select: "reads", insert: "writes", update: "writes", delete: "writes", batch: "writes",
  truncate: "writes" };

function labelsOf(text) {
  const labels = {};
  for (const [, name, value] of text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
    labels[name] = value.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
  }
  return labels;
}

function newSample() {
  return {
    at: Date.now(), version: "", shards: null, connections: null,
    requests: { reads: 0, writes: 0, others: 0, failed: 0 },
    // By kind: ascending bounds in seconds, and how many took at most so long.
    latencies: new Map(),
    memory: new Map(),  // kind -> { bytes, limit }
    tables: new Map(),  // "keyspace.table" -> { partitions, rows, live_bytes, held_bytes }
    expired: 0, evicted: 0, others: null,
  };
}

const kTakeFamily = {
  liststore_build_info: (sample, labels) => { sample.version = labels.version; },
  liststore_shards: (sample, _, value) => { sample.shards = value; },
  liststore_connections: (sample, _, value) => { sample.connections = value; },
  liststore_requests_total: (sample, labels, value) => {
    if (isOwnKeyspace(labels.keyspace)) return;
    sample.requests[kKindOfOp[labels.op] ?? "others"] += value;
    if (labels.outcome !== "ok") sample.requests.failed += value;
  },
  liststore_request_seconds_bucket: (sample, labels, value) => {
    if (!sample.latencies.has(labels.kind)) sample.latencies.set(labels.kind, { bounds: [], counts: [] });
    const histogram = sample.latencies.get(labels.kind);
    histogram.bounds.push(labels.le === "+Inf" ? Infinity : Number(labels.le));
    histogram.counts.push(value);
  },
  liststore_memory_bytes: (sample, labels, value) => {
    sample.memory.set(labels.kind, { bytes: value, limit: null });
  },
  liststore_memory_limit_bytes: (sample, labels, value) => {
    const use = sample.memory.get(labels.kind);
    if (use !== undefined) use.limit = value;
  },
  liststore_table_expired_rows_total: (sample, _, value) => { sample.expired += value; },
  liststore_table_evictions_total: (sample, _, value) => { sample.evicted += value; },
};
for (const figure of ["partitions", "rows", "live_bytes", "held_bytes"]) {
  kTakeFamily[`liststore_table_${figure}`] = (sample, labels, value) => {
    const name = `${labels.keyspace}.${labels.table}`;
    if (!sample.tables.has(name)) sample.tables.set(name, {});
    sample.tables.get(name)[figure] = value;
  };
}

// O(bytes).
function parseMetrics(text) {
  const sample = newSample();
  for (const line of text.split("\n")) {
    const [, family, labels, value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const take = kTakeFamily[family];
    if (take !== undefined) take(sample, labels === undefined ? {} : labelsOf(labels), Number(value));
  }
  return sample;
}

// What half, or 99 of 100, of the requests between two samples took at most, in seconds; null: there
// were none. Within the bucket the logarithm is taken for evenly spread.
function quantileBetween(older, newer, kind, quantile) {
  const after = newer.latencies.get(kind);
  const before = older.latencies.get(kind);
  if (after === undefined || before === undefined) return null;
  const counts = after.counts.map((count, i) => count - (before.counts[i] ?? 0));
  const total = counts.at(-1);
  if (!(total > 0)) return null;
  const rank = quantile * total;
  const i = counts.findIndex((count) => count >= rank);
  if (i === 0) return after.bounds[0];
  if (after.bounds[i] === Infinity) return after.bounds[i - 1];
  const share = (rank - counts[i - 1]) / (counts[i] - counts[i - 1]);
  return after.bounds[i - 1] * (after.bounds[i] / after.bounds[i - 1]) ** share;
}

// The last five minutes, oldest first.
const history = {
  kSpanMs: 300_000,
  // Of the samples that quantiles are taken between: few requests make no quantile.
  kQuantileMs: 5000,

  latest: null,
  samples: [],
  points: [],

  // A server that was started anew counts from zero: nothing is known of the time between.
  add(sample) {
    const last = this.latest;
    this.latest = sample;
    const sum = ({ reads, writes, others }) => reads + writes + others;
    if (last !== null && sum(sample.requests) < sum(last.requests)) this.samples = [];
    const since = this.samples.length > 0 ? last : null;
    this.samples = this.samples.filter(({ at }) => at >= sample.at - this.kQuantileMs);
    const point = { at: sample.at, memory: sample.memory };
    if (since !== null) {
      const seconds = (sample.at - since.at) / 1000;
      const rate = (after, before) => Math.max(0, after - before) / seconds;
      for (const kind of Object.keys(sample.requests)) {
        point[kind] = rate(sample.requests[kind], since.requests[kind]);
      }
      // A table that is dropped takes its counts with it.
      point.expired = rate(sample.expired, since.expired);
      point.evicted = rate(sample.evicted, since.evicted);
      const older = this.samples[0] ?? since;
      for (const kind of ["read", "write"]) {
        point[`${kind}_p50`] = quantileBetween(older, sample, kind, 0.5);
        point[`${kind}_p99`] = quantileBetween(older, sample, kind, 0.99);
      }
    }
    this.samples.push(sample);
    this.points.push(point);
    while (this.points[0].at < sample.at - this.kSpanMs) this.points.shift();
  },
};
