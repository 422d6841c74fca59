// Figures and values as people read them.

const kCount = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const kShort = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

// A value that is not known.
const kUnknown = "\u2013";

function formatCount(number) {
  return number === null || number === undefined ? kUnknown : kCount.format(number);
}

function formatRate(number) {
  if (number === null || number === undefined) return kUnknown;
  return number < 10 && number > 0 ? number.toFixed(1) : kShort.format(number);
}

function formatBytes(bytes) {
  if (bytes === null || bytes === undefined) return kUnknown;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let number = bytes;
  while (number >= 1024 && unit + 1 < units.length) {
    number /= 1024;
    ++unit;
  }
  return `${unit === 0 || number >= 100 ? Math.round(number) : number.toPrecision(3)} ${units[unit]}`;
}

function formatSeconds(seconds) {
  if (seconds === null || seconds === undefined) return kUnknown;
  if (seconds < 1e-3) return `${Number((seconds * 1e6).toPrecision(3))} \u00b5s`;
  if (seconds < 1) return `${Number((seconds * 1e3).toPrecision(3))} ms`;
  return `${Number(seconds.toPrecision(3))} s`;
}

// "2026-01-01 00:00:00.000Z", as the server writes an instant -> milliseconds since 1970.
function instantOf(text) {
  return Date.parse(text.replace(" ", "T"));
}

function formatInstant(milliseconds) {
  const text = new Date(milliseconds).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)}`;
}

// A number of JSON whose digits a Number does not keep.
class ExactNumber {
  constructor(text) { this.text = text; }
  toString() { return this.text; }
  toJSON() { return JSON.rawJSON ? JSON.rawJSON(this.text) : this.text; }
}

// Every digit of a bigint or a decimal is kept where the browser tells how it was written.
function parseJson(text) {
  return JSON.parse(text, (_, value, context) => {
    if (typeof value !== "number" || context?.source === undefined) return value;
    return String(value) === context.source || !/\d{16}/.test(context.source.replace(".", ""))
      ? value : new ExactNumber(context.source);
  });
}

function formatValue(value, lengthMax) {
  const text = typeof value === "string" ? value
    : value !== null && typeof value === "object" && !(value instanceof ExactNumber)
      ? JSON.stringify(value) : String(value);
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}\u2026` : text;
}

const isNumberType = (type) => /^(tinyint|smallint|int|bigint|counter|varint|decimal|float|double)$/.test(type);

// The cell of a value that CQL has answered.
function cellOf(value, type, lengthMax) {
  const isNumber = isNumberType(type);
  if (value === null || value === undefined) return el("td", { class: isNumber ? "null number" : "null" }, "null");
  const isShort = /^(timestamp|uuid|timeuuid|boolean|date)$/.test(type);
  const kind = isNumber ? "number" : isShort ? "nowrap" : "text";
  return el("td", { class: kind }, formatValue(value, lengthMax));
}

// Rows of an answer of the API as a table.
function resultTable(label, answer, lengthMax = 500) {
  return tableOf(label,
    answer.columns.map(({ name, type }) => ({ name, type, class: isNumberType(type) ? "number" : null })),
    answer.rows.map((row) => answer.columns.map(({ name, type }) => cellOf(row[name], type, lengthMax))));
}

// Names and texts in statements of CQL.
const quoteName = (name) => `"${name.replaceAll('"', '""')}"`;
const quoteText = (text) => `'${text.replaceAll("'", "''")}'`;
