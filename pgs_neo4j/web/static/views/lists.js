// @ts-check
/** Lists: runs, graphs, jobs, costs, and checks of the setup. */

import { get, path, post } from "../api.js";
import { badge, counted, figure, fill, h, moment, money, problem, table, unprovenAside } from "../dom.js";
import { watchJob } from "../progress.js";
import { mayChange, mayChangeAll, mayLookAround } from "../rights.js";

/** @param {import("../app.js").Page} page */
export async function runsView({ view, graph }) {
  const runs = await get(path(["runs"], { graph, limit: 100 }));
  fill(view, h("h1", {}, "Runs"),
    runs.length ? table("Runs", ["Question", "Session", "State", "Nodes read", "Cost", "Started"], runs.map((/** @type {any} */ run) => [
      h("a", { href: `/run?id=${run.run}` }, run.question), run.session, badge(run.status, run.status),
      `${figure(run.nodes_read)}${unprovenAside(run.nodes_unproven)}`, money(run.cost), moment(run.started_at),
    ]), [3, 4]) : h("p", {}, "No run yet. ", h("a", { href: "/" }, "Ask a question.")));
}

/** @param {import("../app.js").Page} page */
export async function graphsView(page) {
  const { view, graphs, me } = page;
  const found = h("section", { "aria-live": "polite" });
  fill(view, h("h1", {}, "Graphs"),
    graphs.length ? table("Graphs", ["Graph", "Labels", "Nodes", "Partitions"], graphs.map((one) => [
      h("a", { href: `/map?graph=${encodeURIComponent(one.name)}` }, one.name), one.labels.join(", ") || "all",
      figure(one.nodes), figure(one.partitions),
    ]), [2, 3]) : h("p", {}, "No graph yet."),
    mayLookAround(me) ? h("button", { type: "button", class: "act", onclick: () => inspect() }, "See what the database holds") : null,
    found);

  async function inspect() {
    fill(found, h("p", { class: "note" }, "Looking…"));
    try {
      const told = await get(path(["inspect"]));
      fill(found, h("h2", {}, "The database"),
        h("p", {}, `${counted(told.nodes, "node")}, ${counted(told.relationships, "relationship")}.`),
        table("Labels", ["Label", "Nodes", "Text"], told.labels.map((/** @type {any} */ one) => [
          one.label, figure(one.count),
          one.properties.filter((/** @type {any} */ each) => each.prose).map((/** @type {any} */ each) => each.name).join(", "),
        ]), [1]),
        mayChangeAll(me) ? adding(page, told) : null);
    } catch (error) {
      fill(found, problem(/** @type {any} */ (error)));
    }
  }
}

/**
 * @param {import("../app.js").Page} page
 * @param {any} told
 */
function adding(page, told) {
  // Parts of the database that no relationship connects are graphs of their own; the largest is first.
  const domains = told.domains.length > 1 ? told.domains : [];
  const mappings = [...domains.map((/** @type {any} */ one) => one.mapping), told.mapping];
  const name = h("input", { id: "name", required: true, maxlength: 64, pattern: "[a-z][a-z0-9_.\\-]*" });
  const chosen = h("input", { id: "labels", placeholder: "all" });
  const text = h("input", { id: "text" });
  const names = h("input", { id: "titles" });
  const ids = h("input", { id: "keys" });
  const part = h("select", { id: "part", onchange: () => prefill(mappings[part.selectedIndex]) },
    [...domains.map((/** @type {any} */ one) => shortList(one.labels)), "all of the database"].map((one) => h("option", {}, one)));
  prefill(mappings[0]);

  /** @param {any} mapping */
  function prefill({ labels, text: texts, titles, title, keys, key }) {
    chosen.value = labels.join(", ");
    text.value = texts.join(", ");
    names.value = [...titles, title].filter(Boolean).join(", ");
    ids.value = [...keys, key].filter(Boolean).join(", ");
  }
  const said = h("div");
  return h("form", { onsubmit: async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      const labels = parts(chosen.value); // left out, they are all; an empty list is refused
      const [named, known] = [byLabel(names.value), byLabel(ids.value)];
      await post(path(["graphs"]), { name: name.value, ...labels.length ? { labels } : {},
        text: parts(text.value), titles: named.labeled, title: named.plain, keys: known.labeled, key: known.plain });
      await page.renew(`/?graph=${encodeURIComponent(name.value)}`);
    } catch (error) {
      fill(said, problem(/** @type {any} */ (error)));
    }
  } },
  h("h2", {}, "Add a graph"),
  h("p", { class: "note" }, "A graph is a view of the database. Nothing of your data changes."),
  h("div", { class: "row" },
    h("label", { for: "name" }, "Name", name),
    domains.length ? h("label", { for: "part" }, "Part of the database", part) : null,
    h("label", { for: "labels" }, "Labels", chosen),
    h("label", { for: "text" }, "Properties with text", text),
    h("label", { for: "titles" }, "Titles", names),
    h("label", { for: "keys" }, "Keys", ids),
    h("button", { class: "act main" }, "Add")),
  said);
}

/**
 * Tells LABEL.PROPERTY from a property of all labels; of these, the last one counts.
 * @param {string} text
 */
function byLabel(text) {
  const all = parts(text);
  const plain = all.filter((part) => !part.includes("."));
  return { labeled: all.filter((part) => part.includes(".")), plain: plain.at(-1) ?? null };
}

/**
 * Names the first labels of a part, and how many more there are.
 * @param {string[]} labels
 */
function shortList(labels) {
  const rest = labels.length - 4;
  return labels.slice(0, 4).join(", ") + (rest > 0 ? `, and ${rest} more` : "");
}

/** @param {string} text */
function parts(text) {
  return text.split(",").map((part) => part.trim()).filter(Boolean);
}

/** @param {import("../app.js").Page} page */
export async function jobsView(page) {
  const { view, graph, me, query } = page;
  const rows = h("div", { "aria-live": "polite" });
  const live = h("div");
  const told = h("div");
  const changed = h("input", { type: "checkbox", id: "changed" });
  const start = h("button", { type: "button", class: "act", onclick: () => {
    watch(post(path(["jobs"]), { graph, if_changed: changed.checked }));
  } }, "Repartition now");
  const may = mayChange(me) && graph;

  /** Draws both lists, and returns the jobs in progress. */
  async function draw() {
    const [jobs, active] = await Promise.all([
      get(path(["jobs"], { graph })), get(path(["jobs", "live"], { graph })),
    ]);
    fill(rows, jobs.length ? table("Jobs", ["Job", "Kind", "Outcome", "Started", "Ended"], jobs.map(jobRow))
      : h("p", {}, "No job yet. Jobs partition graphs again, or ingest files: see ", h("code", {}, "pgs schedule"), "."));
    const others = active.filter((/** @type {any} */ one) => one.job !== query.get("live"));
    fill(live, others.length ? h("ul", { class: "found" }, others.map((/** @type {any} */ one) => h("li", {},
      `A job of this server is in progress (${one.kind} on ${one.graph}). `,
      h("a", { href: wayTo(one.job) }, "Follow it")))) : null);
    return active;
  }

  /** @param {string} job */
  const wayTo = (job) => `/jobs?${new URLSearchParams({ graph, live: job })}`;

  /** @param {Promise<any>} started a job, which the address names from then on */
  async function watch(started) {
    start.disabled = true;
    try {
      const job = await started;
      query.set("live", job.job);
      page.rename(wayTo(job.job));
      await watchJob(page, told, job);
      await draw();
    } catch (error) {
      fill(told, problem(/** @type {any} */ (error)));
    } finally {
      start.disabled = false;
    }
  }

  fill(view, h("h1", {}, "Jobs"),
    may ? h("div", { class: "tools" },
      h("label", { class: "inline", for: "changed" }, changed, `Only if the data of ${graph} changed`), start) : null,
    told, live, rows);
  const wanted = (await draw()).find((/** @type {any} */ one) => one.job === query.get("live"));
  if (wanted) watch(Promise.resolve(wanted));
}

/** @param {any} one */
function jobRow(one) {
  return [
    h("a", { href: `/job?id=${encodeURIComponent(one.id)}` }, one.id), one.kind,
    badge(one.silent ? "its process is gone" : one.outcome, one.outcome), moment(one.started_at), moment(one.finished_at),
  ];
}

/** @param {import("../app.js").Page} page */
export async function jobView({ view, query }) {
  const job = await get(path(["jobs", query.get("id") || ""]));
  const rows = Object.entries(job).filter(([, value]) => value !== null && value !== "");
  fill(view, h("h1", {}, `Job ${job.id}`),
    h("dl", { class: "record" }, rows.flatMap(([name, value]) => [
      h("dt", {}, name.replaceAll("_", " ")),
      h("dd", {}, typeof value === "object" ? h("code", {}, JSON.stringify(value)) : String(value)),
    ])));
}

/** @param {import("../app.js").Page} page */
export async function costView({ view }) {
  const costs = await get(path(["cost"], { days: 30 }));
  const total = costs.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.cost, 0);
  const unpriced = costs.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.unpriced, 0);
  fill(view, h("h1", {}, "Cost"),
    h("p", {}, `${money(total)} in the last 30 days.`,
      unpriced ? ` ${figure(unpriced)} of these asked a model without prices; the sum leaves them out.` : ""),
    costs.length ? table("Cost by day", ["Day (UTC)", "For", "Graph", "Session", "Model", "Runs", "Calls", "From the cache", "Tokens", "Cached input", "Written to the cache", "Cost"], costs.map((/** @type {any} */ one) => [
      one.day, one.task, one.graph || "–", one.session || "–", one.model || "–", figure(one.runs), figure(one.calls), figure(one.cached),
      figure(one.input_tokens + one.output_tokens), figure(one.cache_read_tokens), figure(one.cache_write_tokens), one.unpriced && !one.cost ? "unknown" : money(one.cost),
    ]), [5, 6, 7, 8, 9, 10, 11]) : h("p", {}, "Nothing was asked."));
}

/** @param {import("../app.js").Page} page */
export async function doctorView({ view }) {
  fill(view, h("h1", {}, "Doctor"), h("p", { class: "note" }, "Loading…"));
  const checks = await get(path(["doctor"]));
  /** @type {Record<string, string>} */
  const kinds = { ok: "confirmed", warning: "warn", failed: "failed", error: "failed" };
  fill(view, h("h1", {}, "Doctor"),
    table("Checks", ["Check", "Result", "Detail", "Fix"], checks.map((/** @type {any} */ one) => [
      one.name, badge(one.status, kinds[one.status] || ""), one.detail, one.fix,
    ])));
}
