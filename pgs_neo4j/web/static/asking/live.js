// @ts-check
/** A run in progress: its map, its partitions, what they report, and the text of its answer. */

import { arcKey, arcsBetween } from "../map/arcs.js";
import { get, path } from "../api.js";
import { drawBoard } from "../map/canvas.js";
import { badge, counted, figure, fill, h, legend, money, unprovenNote } from "../dom.js";
import { reportDetails } from "./reports.js";
import { unprovenShade } from "../map/places.js";
import { waitLine } from "./waits.js";

/**
 * Returns what the colors of the map mean.
 *
 * @param {any[]} parts
 * @returns {[string, string][]}
 */
const shades = (parts) => [
  ["routed", "chosen"],
  ["reading", parts.some((part) => stateOf(part) === "partial") ? "being read, or read in part" : "being read"],
  ["read", "read"],
  ...unprovenShade(parts.some((part) => part.nodes_unproven)),
  ["failed", "failed"], ["flagged", "flagged"], ["unread", "not chosen"],
];

/** How the map shows partitions, by what became of them. @type {Record<string, import("../map/places.js").State>} */
const STATES = {
  swept: "read", accepted: "read", read: "read", cached: "read", partial: "partial", failed: "failed",
  routed: "routed", reading: "reading", flagged: "flagged",
};

/**
 * Shows in an element what the events of a run tell. `take` takes one, and `stop` ends what moves.
 *
 * @param {import("../app.js").Page} page
 * @param {HTMLElement} body
 * @param {any} told what the server knows of the run
 */
export function showLive(page, body, told) {
  /** @type {Map<number, any>} */
  const parts = new Map();
  /** @type {{from: number, to: number}[]} the partitions that flags come from and name */
  const flags = [];
  /** @type {string[]} */
  const warnings = [];
  /** @type {any} */
  let checked = null;
  /** @type {any} the last rejected reply, and how many there were */
  let rejected = null;
  const board = h("div", { class: "board" });
  const findings = h("ul", { class: "found" });
  const text = h("pre", { class: "stream" });
  const waits = waitLine();
  /** @type {Map<string, HTMLElement>} reports by their links; one that is open stays so */
  const reports = new Map();
  /** @type {(ReturnType<typeof drawBoard> & {generation: string}) | null} */
  let drawn = null;
  let stopped = false;
  let frame = 0;
  /** @type {Map<number, {part: any, row: HTMLElement}>} what is listed, by partition */
  const rows = new Map();
  /** Maps are fetched one after the other, so that the last one that is wanted stays. */
  let drawing = Promise.resolve();

  /** Draws once for all events that come before the next frame. */
  function drawSoon() {
    frame ||= requestAnimationFrame(draw);
  }

  function draw() {
    cancelAnimationFrame(frame);
    frame = 0;
    const held = document.activeElement;
    const listed = [...parts.values()].sort((one, other) => one.partition - other.partition);
    fill(body,
      waits.line,
      rejected ? h("p", { class: "note" }, `${rejected.count === 1 ? "A reply was" : `${figure(rejected.count)} replies were`} rejected; the last, on P${rejected.partition}: ${rejected.reason}.`) : null,
      drawn ? [board, legend(shades(listed)), flags.length ? flagKeys() : null] : null,
      listed.length ? [
        h("h2", {}, counted(listed.length, "partition")),
        h("ul", { class: "found" }, listed.map(rowOf)),
      ] : null,
      findings.childElementCount ? [h("h2", {}, "Findings so far"), findings] : null,
      checked ? h("p", { class: "note" }, checkedLine(checked)) : null,
      text.textContent ? [h("h2", {}, "Answer"), text] : null,
      warnings.length ? h("ul", {}, warnings.map((one) => h("li", {}, one))) : null);
    drawn?.redraw();
    // What is drawn again is the same element, but out of the page for a moment.
    if (held instanceof HTMLElement && held !== document.activeElement && body.contains(held)) held.focus({ preventScroll: true });
  }

  /** Returns the line of a partition, the former one if nothing changed. */
  function rowOf(/** @type {any} */ part) {
    const known = rows.get(part.partition);
    if (known && known.part === part) return known.row;
    const row = h("li", {}, h("b", { class: "part" }, `P${part.partition} `),
      badge(part.status, stateOf(part) === "unproven" ? "unproven" : part.status), " ", progressOf(part), reportOf(part));
    rows.set(part.partition, { part, row });
    return row;
  }

  /** @param {any} part */
  function reportOf({ partition, report }) {
    if (!report) return null;
    const known = reports.get(report) || reportDetails(page, report, `P${partition}`);
    reports.set(report, known);
    return known;
  }

  const flagKeys = () => h("ul", { class: "legend" },
    arcKey("chased", "a flag that is followed up"), arcKey("open", "an open flag"));

  /** @param {any} data of a pass that ended */
  function addPass(data) {
    const part = parts.get(data.partition);
    const { tokens = 0, cost = 0 } = part?.spent || {};
    const used = data.usage ? data.usage.input_tokens + data.usage.output_tokens : 0;
    const spent = { tokens: tokens + used, cost: cost === null || data.cost === null ? null : cost + (data.cost || 0) };
    parts.set(data.partition, { ...part, ...data, done: data.number, spent });
  }

  /** @param {{partition: number, targets?: number[]}} sweep that ended */
  function addFlags({ partition, targets = [] }) {
    for (const target of targets) {
      flags.push({ from: partition, to: target });
      if (!parts.has(target)) {
        parts.set(target, { partition: target, status: "flagged", reason: `P${partition} points to it` });
      }
    }
  }

  /** @param {number} target */
  const isOpen = (target) => ["flagged", "routed"].includes(parts.get(target)?.status);

  /**
   * Draws the map of the graph, unless it is there, or of another generation than the run.
   *
   * @param {string | null | undefined} generation of the run, if it is known
   */
  async function drawMap(generation) {
    const { generation: current } = await get(path(["graphs", told.graph]));
    if (stopped || drawn?.generation === current) return;
    drawn?.stop();
    drawn = null;
    if (!current || (generation && generation !== current)) return;
    const atlas = await get(path(["graphs", told.graph, "map"]));
    if (stopped) return;
    const arc = arcsBetween(atlas);
    const made = drawBoard(board, atlas, {
      drawing: "areas",
      stateOf: (place) => {
        const states = place.partitions.map((one) => stateOf(parts.get(one))).filter(Boolean);
        return states.find((one) => one === "reading") || states[0] || "unread";
      },
      arcs: () => flags.flatMap(({ from, to }) => arc(from, to, isOpen(to) ? "open" : "chased")),
      onPick: (place) => page.go(`/map?graph=${encodeURIComponent(told.graph)}&partition=${place.partitions[0]}`),
    });
    drawn = { ...made, generation: atlas.generation };
  }

  /** @param {() => Promise<string | null | undefined>} generation of the run */
  function wantMap(generation) {
    drawing = drawing.then(async () => {
      if (!stopped) await drawMap(await generation());
      if (!stopped) draw();
    }).catch(() => {}); // the run is followed all the same
  }

  /** @param {import("../api.js").Told} event */
  function take({ name, data }) {
    switch (name) {
      case "routed":
        for (const route of data.routes) parts.set(route.partition, { ...route, status: "routed" });
        // By now the graph has partitions, maybe others than before.
        wantMap(async () => (await get(path(["runs", told.run]))).generation);
        break;
      case "sweep_started": parts.set(data.partition, { ...parts.get(data.partition), ...data, status: "reading" }); break;
      case "pass_finished":
        addPass(data);
        break;
      case "reply_rejected": rejected = { ...data, count: (rejected?.count || 0) + 1 }; break;
      case "sweep_finished":
        parts.set(data.partition, { ...data, spent: parts.get(data.partition)?.spent });
        addFlags(data);
        findings.append(...data.findings.map((/** @type {string} */ one) =>
          h("li", {}, h("b", { class: "part" }, `P${data.partition} `), one)));
        break;
      case "checked": checked = data; break;
      case "text_streamed": text.append(data.text); break;
      case "warned": warnings.push(data.message || data.text || ""); break;
      case "snapshot":
        for (const sweep of data.sweeps || []) parts.set(sweep.partition, sweep);
        if (!drawn && ["queued", "running"].includes(data.state)) wantMap(async () => data.generation);
        break;
      default:
    }
    waits.take({ name, data });
    if (name !== "text_streamed" || !text.isConnected) drawSoon();
  }

  function stop() {
    if (frame) draw();
    stopped = true;
    drawn?.stop();
    waits.stop();
  }

  page.leave(stop);
  if (["queued", "running"].includes(told.state)) wantMap(async () => told.generation);
  return { take, stop };
}

/**
 * Returns how the map shows a partition; nothing if it is not known.
 *
 * @param {any} part
 * @returns {import("../map/places.js").State | undefined}
 */
function stateOf(part) {
  const state = STATES[part?.status];
  if (!part?.nodes_unproven || !["read", "partial"].includes(state)) return state;
  return part.nodes_read ? "partial" : "unproven";
}

/** @param {any} part */
function progressOf(part) {
  if (!part.nodes) return part.reason || "";
  const many = part.passes > 1 && part.status === "reading";
  return [
    part.nodes_read === undefined ? counted(part.nodes, "node") : `${figure(part.nodes_read)} of ${counted(part.nodes, "node")}${unprovenNote(part.nodes_unproven)}`,
    many ? `${figure(part.done || 0)} of ${figure(part.passes)} passes done` : "",
    part.spent?.tokens ? `${figure(part.spent.tokens)} tokens${part.spent.cost ? `, cost ${money(part.spent.cost)}` : ""}` : "",
    part.error ? `pass ${figure(part.done)}: ${part.error}` : "",
  ].filter(Boolean).join(", ");
}

/** @param {any} checked */
function checkedLine(checked) {
  return `Checked: ${counted(checked.absences, "absence")}, ${figure(checked.contradicted)} contradicted; `
    + `${counted(checked.flags, "flag")} followed up; ${counted(checked.convergences, "convergence")}.`;
}
