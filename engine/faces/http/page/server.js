// The server: its API, and when it is asked. Polling takes turns: one request a second at most whatever is
// shown, none while the page is hidden, and fewer and fewer while nobody answers.

// The server said no. `status` and `code` are those of docs/http.md.
class Refusal extends Error {
  constructor(status, code, message, retrySeconds) {
    super(message);
    this.status = status;
    this.code = code;
    this.retrySeconds = retrySeconds;
  }
}

class Unreachable extends Error {}

// It may answer the same request later.
function isForNow(error) {
  return error instanceof Unreachable || (error instanceof Refusal &&
    (error.status === 429 || (error.status === 503 && error.code !== "unavailable")));
}

async function refusalOf(answer) {
  const text = await answer.text();
  const retrySeconds = Number(answer.headers.get("Retry-After")) || 0;
  try {
    const { code, message } = JSON.parse(text).error;
    return new Refusal(answer.status, code, message, retrySeconds);
  } catch {
    return new Refusal(answer.status, "unknown", `The server answered ${answer.status}`, retrySeconds);
  }
}

// Throws Refusal, or Unreachable. The text of the answer.
async function askText(method, path, body, timeoutMs = 15_000) {
  const options = { method, cache: "no-store", signal: AbortSignal.timeout(timeoutMs) };
  if (body !== undefined) {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  let answer;
  let text;
  try {
    answer = await fetch(path, options);
    if (answer.ok) text = await answer.text();
  } catch (error) {
    throw new Unreachable(error.name === "TimeoutError"
      ? `There was no answer within ${timeoutMs / 1000} s.` : "The connection was refused or has ended.");
  }
  if (!answer.ok) throw await refusalOf(answer);
  return text;
}

async function ask(method, path, body, timeoutMs) {
  return parseJson(await askText(method, path, body, timeoutMs));
}

// One page of what a statement answers: { columns, rows, paging_state, warnings }.
function runCql(query, { keyspace, pageSize, pagingState, timeoutMs } = {}) {
  const body = { query };
  if (keyspace) body.keyspace = keyspace;
  if (pageSize) body.page_size = pageSize;
  if (pagingState) body.paging_state = pagingState;
  return ask("POST", "/api/query", body, timeoutMs);
}

const poller = {
  kTickMs: 1000,
  kBackOffMsMax: 30_000,
  // Of the time, so much at most goes into one source that says nothing else: what takes long, as the metrics
  // of a thousand tables, is asked for less often.
  kShare: 0.05,

  sources: [],
  timer: null,
  isAsking: false,
  failures: 0,
  lostSince: null,
  nextAt: 0,
  lastAt: -Infinity,
  error: null,

  // Asked every `periodMs` while `isWanted`. `run` shows what it is refused itself, answers whether it
  // was answered, and throws what is for now.
  add(source) {
    this.sources.push({ ...source, dueAt: 0 });
  },

  start() {
    document.addEventListener("visibilitychange", () => this.wake());
    this.wake();
  },

  // Something else is shown, or the user asks for it: what is wanted is asked for soon.
  wake() {
    clearTimeout(this.timer);
    this.timer = null;
    this.onState();
    if (!document.hidden && !this.isAsking) this.schedule(0);
  },

  renew(name) {
    for (const source of this.sources) if (source.name === name) source.dueAt = 0;
    this.wake();
  },

  schedule(delayMs) {
    this.nextAt = Math.max(performance.now() + delayMs, this.lastAt + this.kTickMs);
    this.timer = setTimeout(() => this.tick(), this.nextAt - performance.now());
  },

  async tick() {
    if (document.hidden) return;
    const now = performance.now();
    const [source] = this.sources.filter((one) => one.dueAt <= now && one.isWanted())
      .sort((a, b) => a.dueAt - b.dueAt);
    let delay = this.kTickMs;
    if (source) {
      this.isAsking = true;
      this.lastAt = now;
      delay = await this.runOne(source, now);
      this.isAsking = false;
    }
    this.onState();
    if (!document.hidden) this.schedule(delay);
  },

  // How long to wait behind it.
  async runOne(source, begun) {
    try {
      const wasAnswered = await source.run();
      this.failures = 0;
      this.lostSince = null;
      const period = wasAnswered ? source.periodMs : this.kBackOffMsMax;
      source.dueAt = begun + Math.max(period, (performance.now() - begun) / (source.share ?? this.kShare));
      return this.kTickMs;
    } catch (error) {
      if (!isForNow(error)) {
        source.dueAt = begun + this.kBackOffMsMax;
        console.error(error);
        return this.kTickMs;
      }
      this.failures += 1;
      this.lostSince ??= Date.now();
      this.error = error;
      return Math.max(Math.min(this.kTickMs * 2 ** this.failures, this.kBackOffMsMax),
        (error.retrySeconds ?? 0) * 1000);
    }
  },

  // Set by what shows it.
  onState() {},
};

// A source's own refusal, shown where its figures would be.
async function shown(problem, action) {
  try {
    await action();
    showProblem(problem, null);
    return true;
  } catch (error) {
    if (isForNow(error)) throw error;
    showProblem(problem, error);
    return false;
  }
}
