// Which part is shown, in which theme, and whether the server is there.

const kViews = ["overview", "tables", "journal", "controls", "cql"];

let view = kViews[0];

function shownView() { return view; }

// An address that names no part leaves what is shown. No element has a part's name: the browser would
// scroll to it.
function showView() {
  const named = location.hash.slice(1);
  if (kViews.includes(named) && named !== view) {
    view = named;
    scrollTo(0, 0);
  }
  for (const name of kViews) byId(`view-${name}`).hidden = name !== view;
  for (const link of document.querySelectorAll("nav a")) {
    const isShown = link.hash === `#${view}`;
    if (isShown) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    if (isShown) document.title = `liststore: ${link.textContent}`;
  }
  overview.draw();
  poller.wake();
}

// Storage may be forbidden: the theme then lasts as long as the page.
function startTheme() {
  const select = byId("theme");
  const apply = () => {
    if (select.value === "") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = select.value;
  };
  try {
    select.value = localStorage.getItem("liststore-theme") ?? "";
  } catch { /* as above */ }
  apply();
  select.addEventListener("change", () => {
    apply();
    try {
      localStorage.setItem("liststore-theme", select.value);
    } catch { /* as above */ }
  });
}

function showState() {
  const isLost = poller.lostSince !== null;
  const state = document.hidden ? "paused" : isLost ? "lost" : poller.lastAt > 0 ? "live" : "connecting";
  byId("state").dataset.state = state;
  const isRefused = poller.error instanceof Refusal;
  setText(byId("state"), state !== "lost" ? state : isRefused ? "asked to wait" : "not reachable");
  byId("lost").hidden = !isLost;
  if (!isLost) return;
  const seconds = Math.max(0, Math.ceil((poller.nextAt - performance.now()) / 1000));
  setText(byId("lost-title"), `${isRefused ? "The server asks to wait" : "The server is not reachable"} since ${
    new Date(poller.lostSince).toLocaleTimeString()}.`);
  setText(byId("lost-why"), poller.error.message);
  setText(byId("lost-next"), poller.isAsking || seconds === 0 ? "Trying\u2026" : `Next try in ${seconds} s.`);
}

startTheme();
poller.onState = showState;
setInterval(showState, 1000);
byId("lost-retry").addEventListener("click", () => poller.wake());
addEventListener("hashchange", showView);
for (const part of [overview, tables, journal, clock, data, faults, statements]) part.start();
showView();
poller.start();
