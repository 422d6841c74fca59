// Elements of the page. Text goes in as text: nothing that the server says is ever read as HTML.

const byId = (id) => document.getElementById(id);

function append(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

// el("button", { type: "button", click: add }, "Add"): a function is a listener, and children are
// nodes or texts; what is null or false is left out.
function el(tag, attributes = {}, ...children) {
  return append(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return append(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// What went wrong, in its place; null: nothing did.
function showProblem(element, error) {
  element.hidden = error === null;
  setText(element, error === null ? "" : error.message);
}

// A table in a box that scrolls by itself, so that the page does not; with the keyboard too.
// columns: { name, type, class }; rows: arrays of nodes or texts.
function tableOf(label, columns, rows) {
  const head = el("tr", {}, columns.map((column) => el("th", { scope: "col", class: column.class },
    column.name, column.type ? el("small", {}, column.type) : null)));
  const body = rows.map((row) => (row instanceof Node ? row : el("tr", {}, row.map((cell, i) => (
    cell instanceof HTMLTableCellElement ? cell : el("td", { class: columns[i].class }, cell))))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    el("table", {}, el("thead", {}, head), el("tbody", {}, body)));
}

// Puts `next` in the place of what `holder` has; the box that scrolled stays where it was. What looks the same
// stays, with the focus and what is selected in it.
function replaceTable(holder, next) {
  const before = holder.querySelector(".scroll");
  if (before !== null && before.isEqualNode(next)) return;
  const hadFocus = before !== null && document.activeElement === before;
  const top = before?.scrollTop ?? 0;
  const left = before?.scrollLeft ?? 0;
  holder.replaceChildren(next);
  if (!next.classList.contains("scroll")) return;
  next.scrollTop = top;
  next.scrollLeft = left;
  if (hadFocus) next.focus({ preventScroll: true });
}

// True where the user said so.
function confirmed(title, text, action) {
  const dialog = byId("confirm");
  setText(byId("confirm-title"), title);
  setText(byId("confirm-text"), text);
  setText(byId("confirm-yes"), action);
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

// Runs what a control does, once at a time, and shows beside it what the server refused.
async function perform(control, problem, action) {
  if (control.disabled) return;
  const hadFocus = document.activeElement === control;
  control.disabled = true;
  try {
    await action();
    showProblem(problem, null);
  } catch (error) {
    showProblem(problem, error);
  } finally {
    control.disabled = false;
    if (hadFocus && document.activeElement === document.body) control.focus();
  }
}
