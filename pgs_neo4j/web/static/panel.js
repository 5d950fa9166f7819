// @ts-check
/** A node: its text with quoted words marked, what is around it, and the findings that cite it. */

import { get, path } from "./api.js";
import { counted, figure, fill, h, moment, problem, s, short } from "./dom.js";

const MOST_DRAWN = 24;
const PAGE = 50;

/** @param {import("./app.js").Page} page */
export async function nodeView(page) {
  page.view.classList.add("nodeview");
  fill(page.view, h("h1", {}, "Node"), await nodeParts(page, page.query.get("id") || ""));
}

/**
 * Opens a node beside the view.
 *
 * @param {import("./app.js").Page} page
 * @param {string} id
 */
export async function openNode(page, id) {
  const { panel } = page;
  panel.hidden = false;
  const close = h("button", { type: "button", class: "close", onclick: () => {
    panel.hidden = true;
  } }, "Close");
  fill(panel, close, h("p", { class: "note" }, "Loading…"));
  try {
    fill(panel, close, await nodeParts(page, id));
    /** @type {HTMLElement | null} */ (panel.querySelector("h2"))?.focus();
  } catch (error) {
    fill(panel, close, problem(/** @type {any} */ (error)));
  }
}

/**
 * @param {import("./app.js").Page} page
 * @param {string} id
 * @returns {Promise<HTMLElement[]>}
 */
async function nodeParts(page, id) {
  const { graph } = page;
  const [node, around, findings] = await Promise.all([
    get(path(["graphs", graph, "nodes", id])),
    get(path(["graphs", graph, "nodes", id, "neighbors"], { limit: PAGE })),
    get(path(["graphs", graph, "nodes", id, "findings"], { limit: 20 })),
  ]);
  const quotes = findings.flatMap((/** @type {any} */ one) => one.quotes);
  const place = node.partition === null ? null
    : h("a", { href: `/map?graph=${encodeURIComponent(graph)}&partition=${node.partition}` },
        `P${node.partition} ${node.partition_label || ""}`);
  return [
    h("h2", { class: "title", tabindex: "-1" }, node.title || "Untitled"),
    h("p", { class: "note" }, [node.labels.join(", "), node.key].filter(Boolean).join(" · ")),
    h("p", {}, place ? ["In ", place] : h("span", { class: "note" }, "It is in no partition yet."),
      " · ", h("a", { href: `/node?graph=${encodeURIComponent(graph)}&id=${encodeURIComponent(id)}` }, "Link to this node")),
    node.text ? h("div", { class: "text", tabindex: "0", role: "region", "aria-label": "Text" }, marked(node.text, quotes)) : h("p", { class: "note" }, "It has no text."),
    properties(node),
    ...neighbors(page, id, node, around),
    h("h2", {}, "Findings that cite it"),
    findings.length ? h("ul", { class: "found" }, findings.map(finding)) : h("p", { class: "note" }, "None yet."),
  ];
}

/** @param {any} one */
function finding(one) {
  return h("li", {}, one.text, h("br"),
    h("a", { href: `/run?id=${one.run}` }, one.question),
    h("span", { class: "note" }, ` · session ${one.session}, ${moment(one.started_at)}`,
      one.supported ? "" : " · not supported by a valid citation"));
}

/** @param {any} node */
function properties(node) {
  const rows = Object.entries(node.properties);
  if (!rows.length) return h("p", { class: "note" }, "No other properties.");
  const left = node.properties_left_out;
  return h("details", {},
    h("summary", {}, rows.length === 1 ? "1 property" : `${rows.length} properties`),
    h("dl", { class: "record" }, rows.flatMap(([name, value]) => [
      h("dt", {}, name), h("dd", {}, typeof value === "string" ? value : JSON.stringify(value)),
    ])),
    left ? h("p", { class: "note" }, `${figure(left)} more are not shown.`) : null);
}

/**
 * @param {import("./app.js").Page} page
 * @param {string} id
 * @param {any} node
 * @param {any} first
 */
function neighbors(page, id, node, first) {
  const list = h("ul", { class: "found" });
  const drawing = h("div");
  let after = /** @type {string | null} */ (null);
  let type = "";
  const more = h("button", { type: "button", class: "act", onclick: () => load() }, "More neighbors");
  const types = [...new Set(first.counts.map((/** @type {any} */ one) => one.type))];
  const choice = h("select", { "aria-label": "Type of relationship", onchange: () => {
    type = choice.value;
    after = null;
    fill(list);
    load();
  } }, h("option", { value: "" }, "all types"), types.map((one) => h("option", { value: one }, String(one))));

  /** @param {any} told */
  function take(told) {
    list.append(...told.neighbors.map((/** @type {any} */ one) => h("li", {},
      h("span", { class: "note" }, `${one.outgoing ? "→" : "←"} ${one.name || one.type} `),
      h("button", { type: "button", class: "link", onclick: () => openNode(page, one.element_id) }, one.title || "Untitled"),
      one.fact ? h("span", {}, ` ${one.fact}`) : null)));
    after = told.after;
    more.hidden = after === null;
  }

  async function load() {
    const query = { relationship_type: type, after, limit: PAGE };
    take(await get(path(["graphs", page.graph, "nodes", id, "neighbors"], query)));
  }

  const counts = first.counts.map((/** @type {any} */ one) =>
    `${one.outgoing ? "→" : "←"} ${one.type} ${figure(one.count)}`);
  take(first);
  if (first.neighbors.length) fill(drawing, around(page, node, first.neighbors.slice(0, MOST_DRAWN)));
  return [
    h("h2", {}, "Neighbors"),
    h("p", { class: "note" }, counts.length ? `${first.complete ? "" : "At least "}${counts.join(", ")}` : "None."),
    drawing,
    ...(types.length > 1 ? [h("p", {}, choice)] : []),
    list,
    more,
  ];
}

/**
 * Draws a node in the middle of its neighbors. The list below says the same.
 *
 * @param {import("./app.js").Page} page
 * @param {any} node
 * @param {any[]} others
 */
function around(page, node, others) {
  const center = { x: 200, y: 130 };
  const spots = others.map((other, i) => {
    const angle = (2 * Math.PI * i) / others.length - Math.PI / 2;
    return { other, x: center.x + 145 * Math.cos(angle), y: center.y + 100 * Math.sin(angle) };
  });
  return s("svg", { viewBox: "0 0 400 260", class: "around", role: "img",
    "aria-label": `${node.title} and ${counted(others.length, "neighbor")}` },
  spots.map(({ x, y }) => s("line", { x1: center.x, y1: center.y, x2: x, y2: y })),
  spots.map(({ other, x, y }) => s("g", { onclick: () => openNode(page, other.element_id) },
    s("title", {}, `${other.type}: ${other.title}`),
    s("circle", { cx: x, cy: y, r: 6 }),
    others.length > 12 ? null : s("text", { x, y: y + 18, "text-anchor": "middle" }, short(other.title, 16)))),
  s("circle", { cx: center.x, cy: center.y, r: 9, class: "center" }),
  s("text", { x: center.x, y: center.y - 14, "text-anchor": "middle" }, short(node.title, 40)));
}

/**
 * Returns a text with its quoted parts marked. A quote counts wherever white space differs.
 *
 * @param {string} text
 * @param {string[]} quotes
 * @returns {(string | HTMLElement)[]}
 */
export function marked(text, quotes) {
  /** @type {[number, number][]} */
  const spans = [];
  for (const quote of quotes) {
    const words = quote.trim().split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const found = words[0] ? new RegExp(words.join("\\s+"), "iu").exec(text) : null;
    if (found) spans.push([found.index, found.index + found[0].length]);
  }
  spans.sort((one, other) => one[0] - other[0]);
  /** @type {(string | HTMLElement)[]} */
  const parts = [];
  let at = 0;
  for (const [from, to] of spans) {
    if (to <= at) continue;
    const begin = Math.max(from, at);
    parts.push(text.slice(at, begin), h("mark", {}, text.slice(begin, to)));
    at = to;
  }
  parts.push(text.slice(at));
  return parts;
}
