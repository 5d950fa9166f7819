// @ts-check
/** Searches: the nodes that match a question, by which paths, and what else does. */

import { showAnswer } from "../asking/answer.js";
import { follow, get, newKey, path, post } from "../api.js";
import { counted, figure, fill, h, problem, sentence, short, table } from "../dom.js";
import { confirmedCost } from "../help.js";
import { openNode } from "../panel.js";
import { mayAsk } from "../rights.js";

const MOST_TEXT = 280;

/** What each mode looks at. None calls a language model. */
export const SEARCHES = {
  "": "as configured",
  naive: "texts alone",
  local: "nodes and their surroundings",
  global: "partitions and earlier findings",
  hybrid: "local and global",
  mix: "local, global, and texts",
  multipath: "all paths, fused",
  triplets: "relationships",
  structural: "nodes by their place in the graph",
  cypher: "counts, lists, and rankings, as a Cypher statement",
};

/** @param {import("../app.js").Page} page */
export async function searchView(page) {
  const { view, query, graph } = page;
  if (!graph) {
    fill(view, h("h1", {}, "Search"), h("p", {}, "There is no graph yet. ", h("a", { href: "/graphs" }, "Add one.")));
    return;
  }
  const words = h("input", { id: "words", required: true, maxlength: 20000, size: 44 });
  words.value = query.get("q") || "";
  const mode = h("select", { id: "how" }, Object.entries(SEARCHES).map(([name, means]) =>
    h("option", { value: name, selected: name === query.get("how") }, name ? `${name}: ${means}` : means)));
  const found = h("section", { "aria-live": "polite", "aria-label": "Found" });
  fill(view,
    h("h1", {}, `Search ${graph}`),
    h("form", { onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      const next = new URLSearchParams({ graph, q: words.value, how: mode.value });
      page.go(`/search?${next}`);
    } },
    h("div", { class: "row" },
      h("label", { for: "words" }, "What to look for", words),
      h("label", { for: "how" }, "Mode", mode),
      h("button", { class: "act main" }, "Search"))),
    h("p", { class: "note" }, "A search shows the best matches and calls no language model. It cannot say what is missing; a question that reads partitions can."),
    found);
  if (!words.value.trim()) {
    words.focus();
    return;
  }
  fill(found, h("p", { class: "note" }, "Searching…"));
  try {
    const asked = { question: words.value, graph, mode: mode.value || null };
    drawFound(page, found, await post(path(["search"]), asked));
  } catch (error) {
    fill(found, problem(/** @type {any} */ (error)));
  }
}

/**
 * @param {import("../app.js").Page} page
 * @param {HTMLElement} place
 * @param {any} told
 */
function drawFound(page, place, told) {
  const { graph, me } = page;
  const ask = new URLSearchParams({ graph, question: told.question });
  const answer = h("section", { "aria-live": "polite", "aria-label": "Answer" });
  const begin = h("button", { type: "button", class: "act", onclick: () => answerIt() }, "Answer from these");

  async function answerIt() {
    begin.disabled = true;
    try {
      const run = await askFromSearch(page, told.question);
      if (!run) begin.disabled = false;
      else {
        page.query.set("run", run);
        page.rename(`/search?${page.query}`);
        showRun(page, answer, run);
      }
    } catch (error) {
      begin.disabled = false;
      fill(answer, problem(/** @type {any} */ (error)));
    }
  }

  const run = page.query.get("run");
  if (run) {
    begin.disabled = true;
    showRun(page, answer, run);
  }
  fill(place,
    h("p", {}, `${told.rows ? counted(told.rows.rows.length, "row") : counted(told.items.length, "node")} in ${figure(told.seconds, 2)} s by ${told.mode}`,
      told.reason ? `: ${told.reason}. ` : ". ",
      mayAsk(me) && h("a", { href: `/?${ask}` }, "Ask the partitions")),
    mayAsk(me) && h("div", { class: "tools" }, begin,
      h("span", { class: "note" }, "Calls a model once. An answer can be rated, which searches then weigh.")),
    answer,
    told.warnings.map((/** @type {string} */ one) => h("p", { class: "note" }, sentence(one))),
    told.rows ? rowsOf(told.rows) : told.items.length ? h("ol", { class: "found" }, told.items.map((/** @type {any} */ one) => hit(page, one))) : h("p", {}, told.changed ? "Nothing matches, but the database has changed since the graph was partitioned." : "Nothing matches."),
    told.facts.length ? [h("h2", {}, "Relationships"), h("ul", { class: "found" }, told.facts.map((/** @type {any} */ one) => fact(page, one)))] : null,
    told.units.length ? [h("h2", {}, "Partitions"), h("ul", { class: "found" }, told.units.map((/** @type {any} */ one) => unit(graph, one)))] : null,
    told.findings.length ? [h("h2", {}, "Findings of earlier runs"), h("ul", { class: "found" }, told.findings.map((/** @type {any} */ one) =>
      h("li", {}, h("b", { class: "part" }, `P${one.partition} `), one.text, " ", h("a", { href: `/run?id=${one.run}` }, "its run"))))] : null,
    h("h2", {}, "How each path went"),
    table("Paths", ["Path", "Method", "Hits", "Seconds", "Problem"], told.paths.map((/** @type {any} */ one) => [
      one.name, one.method, figure(one.count), figure(one.seconds, 3), one.error || "–",
    ]), [2, 3]));
}

/**
 * Returns the statement that was read, and its rows.
 *
 * @param {any} read
 */
function rowsOf({ statement, columns, rows, truncated, empty }) {
  const cell = (/** @type {any} */ value) => (value !== null && typeof value === "object" ? JSON.stringify(value) : String(value));
  return [
    h("h2", {}, "Statement"),
    h("pre", {}, h("code", {}, statement)),
    rows.length ? table("Rows", ["Row", ...columns], rows.map((/** @type {any[]} */ row, /** @type {number} */ at) => [
      `R${at + 1}`, ...row.map((value) => short(cell(value), MOST_TEXT)),
    ])) : h("p", {}, "It returned no rows."),
    truncated ? h("p", { class: "note" }, "There are more rows.") : null,
    empty.map((/** @type {string} */ one) => h("p", { class: "note" }, sentence(one))),
  ];
}

/**
 * Asks for an answer from what the search finds; resolves to its run, or "" if that costs too much.
 *
 * @param {import("../app.js").Page} page
 * @param {string} question
 * @returns {Promise<string>}
 */
async function askFromSearch({ graph, query, me }, question) {
  const body = { question, graph, answer_from: "search", search_mode: query.get("how") || null };
  const most = me.confirm_cost;
  if (most !== null && most !== undefined) {
    const plan = await post(path(["search", "plan"]), body);
    if (!(await confirmedCost(me, plan.high))) return "";
  }
  return (await post(path(["runs"]), body, { "Idempotency-Key": newKey() })).run;
}

/**
 * Shows the answer of a run, which can be rated, when it is there.
 *
 * @param {import("../app.js").Page} page
 * @param {HTMLElement} place
 * @param {string} run
 */
function showRun(page, place, run) {
  const text = h("pre", { class: "stream" });
  fill(place, h("p", { class: "note" }, "Answering… ", h("a", { href: `/run?id=${run}` }, "its run")), text);
  /** @param {import("../api.js").Told} event */
  async function take({ name, data }) {
    if (name === "text_streamed") text.append(data.text);
    else if (name === "answered") await showAnswer(page, place, await get(path(["runs", run])));
    else if (name === "snapshot" && data.answered) await showAnswer(page, place, data);
    else if (data.error) fill(place, problem({ message: data.error, fix: data.fix || "" }));
    else if (name === "cancelled") fill(place, problem({ message: "the run was cancelled", fix: "" }));
  }
  page.leave(follow(path(["runs", run, "events"]), take, page.say));
}

/**
 * @param {import("../app.js").Page} page
 * @param {any} one
 */
function hit(page, one) {
  const paths = Object.entries(one.scores).map(([name, score]) => `${name} ${figure(score, 2)}`).join(" · ");
  return h("li", {},
    h("button", { type: "button", class: "link", onclick: () => openNode(page, one.id) }, one.title || "Untitled"),
    h("span", { class: "note" }, ` ${one.labels.join(", ")}`), h("br"),
    short(one.text, MOST_TEXT), h("br"),
    h("span", { class: "note" }, `score ${figure(one.score, 3)}: ${paths}`, one.way ? `; ${one.way}` : ""));
}

/**
 * @param {import("../app.js").Page} page
 * @param {any} one
 */
function fact(page, one) {
  /**
   * @param {string} id
   * @param {string} title
   */
  const end = (id, title) => h("button", { type: "button", class: "link", onclick: () => openNode(page, id) }, title || "Untitled");
  return h("li", {}, end(one.source, one.source_title), ` ${one.name || one.type} `, end(one.target, one.target_title), one.text ? `: ${one.text}` : null);
}

/**
 * @param {string} graph
 * @param {any} one
 */
function unit(graph, one) {
  const at = one.level ? `within=${one.id}` : `partition=${one.id}`;
  return h("li", {},
    h("a", { href: `/map?graph=${encodeURIComponent(graph)}&${at}` }, `${one.level ? "Group" : "P"}${one.level ? " " : ""}${one.id} ${one.label}`),
    h("span", { class: "note" }, ` ${counted(one.size, "node")}, score ${figure(one.score, 3)}`), h("br"),
    one.domain_state || one.abstract);
}
