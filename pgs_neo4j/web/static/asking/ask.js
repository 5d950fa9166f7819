// @ts-check
/** Asks a question, after its plan if wanted. */

import { ApiError, newKey, path, post } from "../api.js";
import { counted, figure, fill, h, money, problem, strip, table } from "../dom.js";
import { confirmedCost } from "../help.js";
import { watchJob } from "../progress.js";
import { mayAsk, mayChange, mayChangeAll, mayLookAround } from "../rights.js";
import { SEARCHES } from "../views/search.js";

const MODES = {
  full: "choose among all partitions",
  targeted: "choose among the partitions that the session has not read",
  continue: "read the partitions that the session has not read",
  search: "answer from the best matches alone, which says nothing of the rest",
};

/** Searches for whose keywords the model of the sweeps is asked first. */
const KEYWORDED = ["local", "global", "mix", "multipath"];

/**
 * Says which calls a way of asking costs.
 *
 * @param {string | null} how the search that an answer rests on, null for sweeps
 */
function costOf(how) {
  if (how === null) return "It costs a call for each pass over a partition, and those of the synthesis.";
  if (how === "") return "It costs one call, or two if the search needs keywords.";
  if (how === "cypher") return "It costs two calls, for the statement and for the answer, and at most two more if the statement has to be written again.";
  return KEYWORDED.includes(how) ? "It costs two calls: for the keywords, and for the answer." : "It costs one call.";
}

/** @param {import("../app.js").Page} page */
export function askView(page) {
  const { view, query, graph, me } = page;
  if (!page.graphs.length) {
    drawFirst(page);
    return;
  }
  const question = h("textarea", { id: "question", required: true, maxlength: 20000, rows: 4 });
  question.value = query.get("question") || "";
  const session = h("input", { id: "session", maxlength: 120, required: true });
  session.value = query.get("session") || "default";
  const mode = h("select", { id: "mode" }, Object.entries(MODES).map(([name, means]) =>
    h("option", { value: name, selected: name === query.get("mode") }, `${name}: ${means}`)));
  const how = h("select", { id: "how" }, Object.entries(SEARCHES).map(([name, means]) =>
    h("option", { value: name, selected: name === query.get("how") }, name ? `${name}: ${means}` : means)));
  const all = h("input", { id: "all", type: "checkbox" });
  const partitions = h("input", { id: "partitions", type: "number", min: 1, step: 1 });
  const cost = h("input", { id: "cost", type: "number", min: 0.0001, step: "any" });
  const planned = h("section", { "aria-live": "polite", "aria-label": "Plan" });
  const may = mayAsk(me);

  /** @returns {Record<string, unknown>} */
  function asked() {
    const body = /** @type {Record<string, unknown>} */ ({
      question: question.value, graph, session: session.value.trim() || "default",
    });
    if (searches()) Object.assign(body, { answer_from: "search", search_mode: how.value || null });
    else Object.assign(body, { mode: mode.value, full_sweep: all.checked });
    if (partitions.value && !searches()) body.max_sweep_partitions = Number(partitions.value);
    if (cost.value) body.max_cost = Number(cost.value);
    return body;
  }

  function searches() {
    return mode.value === "search";
  }

  /** Shows the fields that the mode has. */
  function fit() {
    ofSearch.hidden = !searches();
    for (const field of ofSweeps) field.hidden = searches();
    fill(costs, `${costOf(searches() ? how.value : null)} Plan tells tokens and money, and replaces no partitions.`);
  }

  /** Returns the plan, and shows it. */
  async function planOf(/** @type {object} */ body) {
    const told = await post(path(searches() ? ["search", "plan"] : ["plan"]), body);
    if (searches()) drawSearchPlan(planned, told);
    else drawPlan(planned, told);
    return told.cost ? told.cost.high : told.high;
  }

  /** @param {() => Promise<void>} what */
  async function carry(what) {
    if (!question.value.trim()) {
      question.focus();
      page.say("Enter a question.");
      return;
    }
    for (const button of form.querySelectorAll("button")) button.disabled = true;
    try {
      await what();
    } catch (error) {
      fill(planned, problem(/** @type {ApiError} */ (error)));
    } finally {
      for (const button of form.querySelectorAll("button")) button.disabled = !may;
    }
  }

  async function plan() {
    fill(planned, h("p", { class: "note" }, "Planning…"));
    await planOf(asked());
  }

  async function ask() {
    const body = asked();
    const most = me.confirm_cost;
    if (most !== null && most !== undefined) {
      fill(planned, h("p", { class: "note" }, "Planning…"));
      if (!(await confirmedCost(me, await planOf(body)))) return;
    }
    const run = await post(path(["runs"]), body, { "Idempotency-Key": newKey() });
    page.go(`/run?id=${run.run}`);
  }

  const costs = h("p", { id: "costs", class: "note", "aria-live": "polite" });
  const ofSearch = h("label", { for: "how" }, "Search by", how);
  const ofSweeps = [
    h("label", { for: "partitions" }, "Most partitions", partitions),
    h("label", { class: "inline", for: "all" }, all, "Read every partition"),
  ];
  mode.addEventListener("change", fit);
  how.addEventListener("change", fit);
  const form = h("form", { onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    carry(ask);
  } },
  h("label", { for: "question" }, "Question"), question,
  h("p", { class: "note" }, "All of the graph that matters is read for it, not only the best matches."),
  h("div", { class: "row" },
    h("label", { for: "mode" }, "Mode", mode),
    ofSearch,
    h("label", { for: "session" }, "Session", session)),
  h("div", { class: "row" },
    h("label", { for: "cost" }, "Most that it may cost", cost),
    ...ofSweeps),
  costs,
  h("div", { class: "tools" },
    h("button", { type: "button", class: "act", disabled: !may, onclick: () => carry(plan) }, "Plan"),
    h("button", { class: "act main", disabled: !may }, "Ask")),
  may ? null : h("p", { class: "note" }, "You may look here, but not ask."));
  fit();
  fill(view, h("h1", {}, `Ask ${graph}`), form, planned);
  question.focus();
  if (may && question.value.trim() && query.get("mode") === "continue") carry(plan);
}

/**
 * Shows what a question would read and cost.
 *
 * @param {HTMLElement} place
 * @param {any} plan
 */
export function drawPlan(place, plan) {
  fill(place,
    h("h2", {}, "Plan"),
    strip([
      ["Partitions", range(plan, "partitions")],
      ["Model calls", `${range(plan, "calls")}${plan.cached ? `, and ${figure(plan.cached)} from the cache` : ""}`],
      ["Tokens in", range(plan, "input_tokens")],
      ["Tokens out", range(plan, "output_tokens")],
      ["Cost", plan.most.cost === null ? price(plan.cost) : range(plan, "cost", money)],
      ["Model", plan.sweep_model],
    ]),
    ...contexts(plan),
    [plan.partitions_note, plan.budget, plan.note, plan.advice].filter(Boolean).map((text) => h("p", { class: "note" }, text)),
    plan.sweeps.length
      ? table("Partitions that would be read", ["Partition", "Nodes", "Passes", "Input tokens", "Why"],
          plan.sweeps.map((/** @type {any} */ one) => [
            `P${one.partition}`, figure(one.nodes), figure(one.passes), figure(one.input_tokens), one.reason,
          ]), [1, 2, 3])
      : h("p", {}, "Nothing would be read."));
}

/**
 * Shows what an answer from a search alone would show and cost.
 *
 * @param {HTMLElement} place
 * @param {any} plan
 */
function drawSearchPlan(place, plan) {
  fill(place,
    h("h2", {}, "Plan"),
    strip([
      ["Search", plan.mode],
      ["Shown", `${counted(plan.nodes, "node")}, ${counted(plan.relationships, "relationship")}`],
      ["Model calls", figure(plan.calls)],
      ["Tokens", `${figure(plan.input_tokens)} in, about ${figure(plan.output_tokens)} out`],
      ["Cost", price(plan)],
      ["Model", plan.model],
    ]),
    ...contexts(plan),
    plan.budget ? h("p", { class: "note" }, plan.budget) : null);
}

/**
 * Returns what each model can take at once, and what to do where that is little.
 *
 * @param {{contexts?: Record<string, string>, context_advice?: string[]}} plan
 */
function contexts({ contexts = {}, context_advice: advice = [] }) {
  const models = Object.entries(contexts);
  return [
    models.length ? strip(models.map(([name, text]) => ["Context", `${name}: ${text}`])) : null,
    ...advice.map((text) => h("p", { class: "note" }, text)),
  ];
}

/**
 * Returns what a run is likely to take, without and with flags, and the most that it may take.
 *
 * @param {any} plan
 * @param {string} what
 * @param {(value: number) => string} shown
 */
function range({ without_flags: least, with_flags: likely, most }, what, shown = figure) {
  const [from, to, top] = [least[what], likely[what], most[what]].map((value) => shown(value));
  const about = from === to ? from : `${from} to ${to}`;
  return top === to ? about : `${about}, at most ${top}`;
}

/** @param {{low: number | null, high: number | null}} cost */
function price({ low, high }) {
  if (high === null) return "unknown: the model has no prices";
  return low === high ? money(high) : `${money(low)} to ${money(high)}`;
}

/** @param {import("../app.js").Page} page */
function drawFirst(page) {
  const { view, me } = page;
  const all = mayChangeAll(me);
  const told = h("div", { "aria-live": "polite" });
  const start = h("button", { type: "button", class: "act main", onclick: () => build() }, "Build the demo");

  async function build() {
    start.disabled = true;
    try {
      const begun = await post(path(["demo"]));
      const end = await watchJob(page, told, begun);
      if (end) await page.renew(`/?${new URLSearchParams({ graph: begun.graph, question: begun.questions[0] })}`);
    } catch (error) {
      fill(told, problem(/** @type {ApiError} */ (error)));
    }
    start.disabled = false;
  }

  fill(view,
    h("h1", {}, "No graph is here yet"),
    h("p", {}, "A graph is a view of your Neo4j database: which labels and relationships belong to it, and where its text stands."),
    mayChange(me)
      ? [
          h("ul", {},
            all && h("li", {}, h("a", { href: "/graphs" }, "See what the database holds, and add a graph.")),
            h("li", {}, h("a", { href: "/documents" }, "Make a graph of files.")),
            all && h("li", {}, "Or try the demo: the modules, classes, and functions of Python's standard library, written into this database.")),
          all && h("div", { class: "tools" }, start), told]
      : h("p", {}, mayLookAround(me)
          ? ["This server only reads. In a terminal, ", h("code", {}, "pgs demo"), " makes a graph to try, and ", h("code", {}, "pgs inspect"), " proposes one of your own."]
          : ["Your token shows no graph. Ask whoever runs this server for one, or try ", h("code", {}, "pgs demo"), " on your own machine."]),
    h("p", { class: "note" }, `${counted(0, "graph")} visible to ${me.name}.`));
}
