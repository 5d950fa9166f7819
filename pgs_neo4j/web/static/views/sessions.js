// @ts-check
/** Sessions: their runs in order, and how their coverage of the graph grows. */

import { get, path } from "../api.js";
import { badge, counted, figure, fill, h, moment, money, table, unprovenAside, unprovenNote } from "../dom.js";

/** @param {import("../app.js").Page} page */
export async function sessionsView({ view, graph }) {
  const sessions = await get(path(["sessions"], { graph }));
  fill(view, h("h1", {}, "Sessions"),
    h("p", { class: "note" }, "What a session has read stays read: further questions continue with the rest of the graph."),
    sessions.length ? table("Sessions", ["Session", "Graph", "Runs", "Read", "Last used"], sessions.map((/** @type {any} */ one) => [
      h("a", { href: wayTo(one.graph, one.session) }, one.session),
      one.graph, figure(one.runs), covered(one.coverage), moment(one.updated_at),
    ]), [2]) : h("p", {}, "No session yet. ", h("a", { href: "/" }, "Ask a question.")));
}

/** @param {import("../app.js").Page} page */
export async function sessionView({ view, query, graph }) {
  const session = query.get("session") || "default";
  const told = await get(path(["graphs", query.get("graph") || graph, "sessions", session]));
  const more = new URLSearchParams({ graph: told.graph, session, mode: "continue" });
  fill(view, h("h1", {}, `Session ${session}`),
    h("p", {}, covered(told.coverage)),
    h("div", { class: "tools" },
      h("a", { class: "act main", href: `/?${more}` }, "Continue"),
      h("a", { class: "act", href: `/map?graph=${encodeURIComponent(told.graph)}&session=${encodeURIComponent(session)}` }, "On the map")),
    told.runs.map((/** @type {any} */ run) => h("section", {},
      h("h2", {}, h("a", { href: `/run?id=${run.id}` }, run.question)),
      h("p", { class: "note" }, badge(run.status, run.status), ` ${run.mode} · ${moment(run.started_at)} · `,
        `${counted(run.nodes_read || 0, "node")} read${unprovenNote(run.nodes_unproven)} · cost ${money(run.cost)}`),
      run.thesis ? h("p", {}, run.thesis) : null,
      run.error ? h("p", { class: "note" }, run.error) : null)));
}

/**
 * @param {string} graph
 * @param {string} session
 */
function wayTo(graph, session) {
  return `/session?graph=${encodeURIComponent(graph)}&session=${encodeURIComponent(session)}`;
}

/** @param {any} coverage */
function covered(coverage) {
  if (!coverage) return h("span", { class: "note" }, "nothing of the current partitions");
  const text = `${figure(coverage.nodes_read)} of ${counted(coverage.nodes_total, "node")}${unprovenAside(coverage.nodes_unproven)}, `
    + `${figure(coverage.partitions_swept)} of ${counted(coverage.partitions_total, "partition")}`;
  return h("span", {},
    h("progress", { max: Math.max(coverage.nodes_total, 1), value: coverage.nodes_read, "aria-label": text }), ` ${text}`);
}
