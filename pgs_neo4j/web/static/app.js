// @ts-check
/** The page: logs in, shows the view that the address names, and reacts to keys. */

import { ApiError, get, path, post } from "./api.js";
import { askView } from "./asking/ask.js";
import { fill, h, problem, sentence } from "./dom.js";
import { documentView, documentsView } from "./documents/documents.js";
import { generationsView } from "./views/generations.js";
import { helpDialog } from "./help.js";
import { costView, doctorView, graphsView, jobView, jobsView, runsView } from "./views/lists.js";
import { mapView } from "./map/atlas.js";
import { nodeView } from "./panel.js";
import { mayLookAround } from "./rights.js";
import { runView } from "./asking/run.js";
import { searchView } from "./views/search.js";
import { sessionView, sessionsView } from "./views/sessions.js";

/**
 * What every view gets: the query of the address, who is here, the chosen graph, and how to go
 * elsewhere. `rename` changes the address of the view, which stays. `renew` goes elsewhere when the
 * list of graphs has changed. `leave` is called when another view takes the place of this one.
 *
 * @typedef {{
 *   view: HTMLElement, panel: HTMLElement, query: URLSearchParams, me: any, graphs: any[],
 *   graph: string, go: (way: string) => void, say: (text: string) => void,
 *   rename: (way: string) => void, renew: (way: string) => Promise<void>,
 *   leave: (stop: () => void) => void
 * }} Page
 */

/** @type {Record<string, {title: string, show: (page: Page) => Promise<void> | void, nav?: string}>} */
const VIEWS = {
  "/": { title: "Ask", show: askView, nav: "Ask" },
  "/search": { title: "Search", show: searchView, nav: "Search" },
  "/map": { title: "Map", show: mapView, nav: "Map" },
  "/runs": { title: "Runs", show: runsView, nav: "Runs" },
  "/run": { title: "Run", show: runView },
  "/sessions": { title: "Sessions", show: sessionsView, nav: "Sessions" },
  "/session": { title: "Session", show: sessionView },
  "/node": { title: "Node", show: nodeView },
  "/graphs": { title: "Graphs", show: graphsView, nav: "Graphs" },
  "/generations": { title: "Generations", show: generationsView, nav: "Generations" },
  "/documents": { title: "Documents", show: documentsView, nav: "Documents" },
  "/document": { title: "Document", show: documentView },
  "/jobs": { title: "Jobs", show: jobsView, nav: "Jobs" },
  "/job": { title: "Job", show: jobView },
  "/cost": { title: "Cost", show: costView, nav: "Cost" },
  "/doctor": { title: "Doctor", show: doctorView, nav: "Doctor" },
};

const frame = /** @type {HTMLElement} */ (document.getElementById("frame"));
const view = /** @type {HTMLElement} */ (document.getElementById("view"));
const panel = /** @type {HTMLElement} */ (document.getElementById("panel"));
const status = /** @type {HTMLElement} */ (document.getElementById("status"));

/** @type {any} */
let me = null;
/** @type {any[]} */
let graphs = [];
/** @type {(() => void)[]} */
let stops = [];
let shown = 0;
/** The address of the view, without a place in it. */
let shownWay = "";

const hereWay = () => location.pathname + location.search;

/** What the server shows as pages of their own. */
const OTHER_PAGES = /^\/(api|manual)(\/|$)/;

const SAID_MS = 6000;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let saying;

/** @param {string} text */
function say(text) {
  clearTimeout(saying);
  status.textContent = text;
  if (text) saying = setTimeout(() => say(""), SAID_MS);
}

/** @param {string} way */
function go(way) {
  history.pushState(null, "", way);
  show();
}

/** @param {string} way */
function rename(way) {
  history.replaceState(null, "", way);
  shownWay = hereWay();
}

/** @param {string} way */
async function renew(way) {
  graphs = await get(path(["graphs"]));
  go(way);
}

/** Ends what the view does, and returns the number of the next one. */
function leaveView() {
  for (const stop of stops.splice(0)) stop();
  panel.hidden = true;
  shownWay = hereWay();
  return ++shown;
}

async function show() {
  const mine = leaveView();
  const query = new URLSearchParams(location.search);
  const found = VIEWS[location.pathname];
  const graph = chosenGraph(query);
  drawFrame(graph);
  say("");
  view.className = "";
  document.title = found ? `${found.title} – pgs` : "pgs";
  fill(view, h("p", { class: "note" }, "Loading…"));
  if (!found) {
    fill(view, h("h1", {}, "Nothing is here"), h("p", {}, h("a", { href: "/" }, "Ask a question")));
    return;
  }
  /** @param {() => void} stop */
  const leave = (stop) => (mine === shown ? stops.push(stop) : stop());
  try {
    await found.show({ view, panel, query, me, graphs, graph, go, say, rename, renew, leave });
  } catch (error) {
    if (mine === shown) fail(error);
  }
}

/** @param {URLSearchParams} query */
function chosenGraph(query) {
  const named = query.get("graph") || sessionStorage.getItem("graph") || "";
  const graph = graphs.some((one) => one.name === named) ? named : graphs[0]?.name || "";
  if (query.get("graph") && graph) sessionStorage.setItem("graph", graph);
  return graph;
}

/** @param {unknown} error */
function fail(error) {
  if (error instanceof ApiError && error.status === 401) {
    me = null;
    drawLogin("");
    return;
  }
  const known = error instanceof ApiError ? error : new ApiError(0, { error: String(error) });
  fill(view, h("h1", {}, "That did not work"), problem(known));
}

const manual = () => h("a", { class: "who", href: "/manual" }, "Manual");

/**
 * Shows the values that all nodes have which the caller sees; nothing without a scope.
 *
 * @param {import("./rights.js").Me} who
 */
function scopeChip(who) {
  const values = Object.entries(who.scope).map(([name, value]) => `${name} = ${value}`);
  return values.length ? h("span", { class: "who scope", title: "You see only nodes with these values." }, values.join(", ")) : null;
}

/** @param {string} graph */
function drawFrame(graph) {
  if (!me) {
    fill(frame, h("span", { class: "brand" }, "pgs"), manual());
    return;
  }
  const links = Object.entries(VIEWS)
    .filter(([way, one]) => one.nav && (way !== "/doctor" || mayLookAround(me)))
    .map(([way, one]) =>
      h("li", {}, h("a", {
        href: graph ? `${way}?graph=${encodeURIComponent(graph)}` : way,
        "aria-current": way === location.pathname ? "page" : null,
      }, one.nav)));
  const choice = h("select", { "aria-label": "Graph", onchange: () => {
    sessionStorage.setItem("graph", choice.value);
    const here = ["/search", "/map", "/sessions", "/runs", "/generations", "/documents", "/jobs", "/"].includes(location.pathname) ? location.pathname : "/";
    go(`${here}?graph=${encodeURIComponent(choice.value)}`);
  } }, graphs.map((one) => h("option", { value: one.name, selected: one.name === graph }, one.name)));
  fill(frame,
    h("a", { class: "brand", href: "/" }, "pgs"),
    h("nav", { "aria-label": "Views" }, h("ul", {}, links)),
    graphs.length > 1 ? choice : h("span", { class: "who" }, graph),
    h("span", { class: "who" }, `${me.name}, ${me.role}${me.read_only ? ", read only" : ""}`),
    scopeChip(me),
    manual(),
    h("button", { type: "button", class: "act", "aria-label": "Help", onclick: helpDialog }, "?"));
}

/** @param {string} message */
function drawLogin(message) {
  leaveView();
  drawFrame("");
  document.title = "Log in – pgs";
  const input = h("input", { id: "token", type: "password", autocomplete: "off", required: true });
  fill(view,
    h("h1", {}, "Log in"),
    message ? h("div", { class: "problem", role: "alert" }, h("p", {}, message)) : null,
    h("p", {}, "Open the link that pgs serve printed; it works once. Or enter a token:"),
    h("form", { onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      logIn(input.value.trim());
    } },
    h("div", { class: "row" },
      h("label", { for: "token" }, "Token", input),
      h("button", { class: "act main" }, "Log in"))));
  input.focus();
}

/** @param {string} token */
async function logIn(token) {
  try {
    await post(path(["login"]), { token });
  } catch (error) {
    const known = /** @type {ApiError} */ (error);
    drawLogin(sentence(`${known.message}; ${known.fix}`));
    return;
  }
  await start();
}

const linkedToken = () => new URLSearchParams(location.hash.slice(1)).get("token");

async function start() {
  const token = linkedToken();
  if (token) {
    // Out of the address before anything else, so that nobody copies it.
    history.replaceState(null, "", location.pathname + location.search);
    await logIn(token);
    return;
  }
  try {
    me = await get(path(["me"]));
    graphs = await get(path(["graphs"]));
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) drawLogin("");
    else fail(error);
    return;
  }
  await show();
}

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const way = link.getAttribute("href") || "";
  if (!way.startsWith("/") || OTHER_PAGES.test(way) || link.hasAttribute("download")) return;
  event.preventDefault();
  go(way);
  view.focus();
});

document.addEventListener("keydown", (event) => {
  const at = event.target instanceof Element ? event.target : null;
  if (event.key === "Escape" && !panel.hidden) {
    panel.hidden = true;
    return;
  }
  if (at?.closest("input, textarea, select, dialog[open]") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "?") helpDialog();
  else if (event.key === "/") {
    event.preventDefault();
    const field = document.getElementById("question");
    if (field) field.focus();
    else go("/");
  }
});

window.addEventListener("popstate", () => {
  // Here with a fragment alone: a link to log in, which needs no new page in a tab that shows one,
  // or a place in the view, which the browser finds by itself.
  if (linkedToken()) start();
  else if (hereWay() !== shownWay) show();
});
start();
