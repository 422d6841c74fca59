// Chart: lines over the last minutes, drawn as SVG. The legend says the newest figures, or those under the
// pointer or of the arrow keys, as text.

const kChartHeight = 170;
const kChartMargin = { top: 8, right: 10, bottom: 20, left: 62 };
// A gap of the line: nothing was asked for so long.
const kGapMs = 10_000;

// 0, and some round numbers up to one that is not below `most`.
function linearTicks(most, base) {
  const top = most > 0 ? most : 1;
  const power = base ** Math.floor(Math.log(top / 3) / Math.log(base));
  const factors = base === 1024 ? [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] : [1, 2, 5, 10];
  const step = power * factors.find((factor) => power * factor * 3 >= top);
  return [0, 1, 2, 3].map((i) => i * step);
}

// Powers of ten around what there is.
function logTicks(least, most) {
  const first = Math.floor(Math.log10(least));
  const last = Math.max(first + 1, Math.ceil(Math.log10(most)));
  return Array.from({ length: last - first + 1 }, (_, i) => Number(`1e${first + i}`));
}

class Chart {
  // options: title, format (a figure as text), isLog, base (of the ticks), series: { label, valueOf (of a
  // point; null: none), color, line ("dashed", "dotted"; else solid), isLimit (in the picture once it is near) }.
  constructor(options) {
    this.options = options;
    this.points = [];
    this.cursorAt = null;
    this.legend = options.series.map(({ label, color, line }) => {
      const value = el("b");
      return { value, item: el("li", { class: line }, el("i", { class: `series-${color}` }), `${label} `, value) };
    });
    this.when = el("span", { class: "muted" });
    this.svg = svg("svg", { role: "img", "aria-label": `${options.title}, the last five minutes`, tabindex: "0" });
    this.element = el("figure", {},
      el("figcaption", {}, el("h3", {}, options.title), this.when,
        el("ul", { class: "legend" }, this.legend.map(({ item }) => item))), this.svg);
    this.svg.addEventListener("pointermove", (event) => this.pointTo(event));
    for (const kind of ["pointerleave", "blur"]) this.svg.addEventListener(kind, () => this.setCursor(null));
    this.svg.addEventListener("keydown", (event) => this.onKey(event));
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  show(points, now) {
    this.points = points;
    this.now = now;
    this.draw();
  }

  setCursor(at) {
    this.cursorAt = at;
    this.draw();
  }

  nearest(at) {
    return this.points.reduce((best, point) => (
      best === null || Math.abs(point.at - at) < Math.abs(best.at - at) ? point : best), null);
  }

  pointTo(event) {
    const box = this.svg.getBoundingClientRect();
    const share = (event.clientX - box.left - kChartMargin.left) /
      (box.width - kChartMargin.left - kChartMargin.right);
    const point = this.nearest(this.now - (1 - share) * history.kSpanMs);
    if (point !== null) this.setCursor(point.at);
  }

  onKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") this.setCursor(null);
    if (step === undefined || this.points.length === 0) return;
    event.preventDefault();
    const last = this.points.length - 1;
    const from = this.cursorAt === null ? last : this.points.indexOf(this.nearest(this.cursorAt));
    this.setCursor(this.points[Math.max(0, Math.min(last, from + step))].at);
  }

  ticks() {
    const { series, isLog, base } = this.options;
    const valuesOf = (wanted) => this.points.flatMap((point) => wanted.map(({ valueOf }) => valueOf(point)))
      .filter((value) => value !== null && value !== undefined);
    const values = valuesOf(series.filter(({ isLimit }) => !isLimit));
    // Far from its limit a line would lie on the floor.
    const limit = Math.max(0, ...valuesOf(series.filter(({ isLimit }) => isLimit)));
    if (limit > 0 && Math.max(0, ...values) * 4 > limit) values.push(limit);
    if (isLog) {
      const above = values.filter((value) => value > 0);
      return above.length > 0 ? logTicks(Math.min(...above), Math.max(...above)) : [1e-4, 1e-3, 1e-2];
    }
    return linearTicks(Math.max(0, ...values), base ?? 10);
  }

  // Parts of a line between gaps, as the path of an SVG.
  pathOf(valueOf, x, y) {
    let path = "";
    let last = null;
    for (const point of this.points) {
      const value = valueOf(point);
      if (value === null || value === undefined) {
        last = null;
        continue;
      }
      const isGap = last === null || point.at - last > kGapMs;
      path += `${isGap ? "M" : "L"}${x(point.at).toFixed(1)},${y(value).toFixed(1)}`;
      // A point between two gaps is seen as well.
      if (isGap) path += "h.5";
      last = point.at;
    }
    return path;
  }

  draw() {
    const width = this.svg.clientWidth;
    if (width === 0 || this.now === undefined) return;
    const { left, right, top, bottom } = kChartMargin;
    const ticks = this.ticks();
    const scale = this.options.isLog ? Math.log : (value) => value;
    const [low, high] = [scale(ticks[0]), scale(ticks.at(-1))];
    const x = (at) => width - right - ((this.now - at) / history.kSpanMs) * (width - left - right);
    const y = (value) => top + (1 - (scale(Math.max(value, ticks[0])) - low) / (high - low)) *
      (kChartHeight - top - bottom);
    const { format, series } = this.options;
    const grid = ticks.flatMap((tick) => [
      svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, format(tick))]);
    const minutes = [5, 4, 3, 2, 1, 0].filter((minute) => width > 420 || minute % 2 === 1 || minute === 0);
    const anchors = { 0: "end", 5: "start" };
    const times = minutes.map((minute) => svg("text",
      { x: x(this.now - minute * 60_000), y: kChartHeight - 4, "text-anchor": anchors[minute] ?? "middle" },
      minute === 0 ? "now" : `\u2212${minute} min`));
    const lines = series.filter(({ isLimit, valueOf }) => !isLimit || valueOf(this.points.at(-1)) <= ticks.at(-1))
      .map(({ valueOf, color, line }) => svg("path",
        { class: `series-${color} ${line ?? ""}`, d: this.pathOf(valueOf, x, y) }));
    const point = this.cursorAt === null ? this.points.at(-1) ?? null : this.nearest(this.cursorAt);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${kChartHeight}`);
    this.svg.replaceChildren(...grid, ...times, ...lines, ...this.cursor(point, x, y));
    series.forEach(({ valueOf }, i) => {
      setText(this.legend[i].value, format(point === null ? null : valueOf(point)));
    });
    setText(this.when, this.cursorAt === null || point === null ? ""
      : `${Math.round((this.now - point.at) / 1000)} s ago`);
  }

  cursor(point, x, y) {
    if (this.cursorAt === null || point === null) return [];
    const at = x(point.at);
    const line = svg("line", { class: "cursor", x1: at, x2: at, y1: kChartMargin.top,
      y2: kChartHeight - kChartMargin.bottom });
    return [line, ...this.options.series.filter(({ isLimit }) => !isLimit).flatMap(({ valueOf, color }) => {
      const value = valueOf(point);
      return value === null || value === undefined ? []
        : [svg("circle", { class: `series-${color}`, cx: at, cy: y(value), r: 3.5 })];
    })];
  }
}
