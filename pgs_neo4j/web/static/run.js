// @ts-check
/** A run: live while it is in progress, then its answer. */

import { arcKey, arcsBetween } from "./arcs.js";
import { ApiError, follow, get, path, post, remove } from "./api.js";
import { drawBoard } from "./canvas.js";
import { badge, counted, figure, fill, h, legend, money, problem, strip } from "./dom.js";
import { openNode } from "./panel.js";
import { mayAsk } from "./rights.js";

const RESUMABLE = ["cancelled", "failed", "interrupted", "silent", "stopped", "stopping"];
const STATES = {
  queued: "waits for its turn", running: "in progress", answered: "answered", failed: "failed",
  cancelled: "cancelled", silent: "its process is gone", stopping: "the server is stopping",
  complete: "answered", interrupted: "interrupted", stopped: "stopped by a limit",
};

/** @type {[string, string][]} */
const SHADES = [["routed", "chosen"], ["reading", "being read"], ["read", "read"], ["failed", "failed"], ["flagged", "flagged"], ["unread", "not chosen"]];

/**
 * @typedef {{state: string, elsewhere: boolean, place: number, phase: string, text: string, warnings: string[],
 *   usage: any, failure: any, parts: Map<number, any>, checked: any, coverage: any}} Course
 */

/** The server alone makes HTML of texts, in the module that makes the pages of answers. */
const policy = /** @type {any} */ (window).trustedTypes?.createPolicy("pgs", {
  createHTML: (/** @type {string} */ html) => html,
});

/** @param {import("./app.js").Page} page */
export async function runView(page) {
  const { view, query } = page;
  const id = query.get("id") || "";
  const told = await get(path(["runs", id]));
  const inner = { ...page, graph: told.graph };
  /** @type {Course} */
  const course = {
    state: told.state, elsewhere: !!told.elsewhere, place: 0, phase: "", text: "", warnings: [], usage: null, failure: null,
    parts: new Map(), checked: null, coverage: null,
  };
  /** @type {{from: number, to: number}[]} the partitions that flags come from and name */
  const flags = [];
  const head = h("div");
  const body = h("div");
  const question = h("h1", {}, told.question);
  fill(view, question, head, body);
  document.title = `${told.question.slice(0, 60)} – pgs`;
  const board = h("div", { class: "board" });
  const findings = h("ul", { class: "found" });
  const text = h("pre", { class: "stream" });
  /** @type {ReturnType<typeof drawBoard> | null} */
  let drawn = null;
  page.leave(() => drawn?.stop());

  function drawHead() {
    const live = ["queued", "running"].includes(course.state);
    const may = mayAsk(page.me);
    const usage = course.usage;
    fill(head,
      strip([
        ["State", stateOf(course)],
        live && course.phase ? ["Now", course.phase] : null,
        usage ? ["Calls", `${figure(usage.calls)}${usage.cached ? `, ${figure(usage.cached)} from the cache` : ""}`] : null,
        usage ? ["Tokens", figure(usage.tokens)] : null,
        usage ? ["Cost", money(usage.cost)] : null,
        course.coverage ? ["Read", `${figure(course.coverage.nodes_read)} of ${figure(course.coverage.nodes_total)} nodes`] : null,
      ]),
      course.failure ? problem(course.failure) : null,
      h("div", { class: "tools" },
        live && may && !course.elsewhere ? h("button", { type: "button", class: "act", onclick: stop }, "Stop") : null,
        !live && may && RESUMABLE.includes(course.state) ? h("button", { type: "button", class: "act main", onclick: resume }, "Resume") : null));
  }

  async function stop() {
    page.say("Stopping…");
    await remove(path(["runs", id])).catch((/** @type {ApiError} */ error) => page.say(error.message));
  }

  async function resume() {
    try {
      await post(path(["runs", id, "resume"]));
      page.go(`/run?id=${id}`);
    } catch (error) {
      course.failure = error;
      drawHead();
    }
  }

  function drawLive() {
    const parts = [...course.parts.values()].sort((one, other) => one.partition - other.partition);
    fill(body,
      drawn ? [board, legend(SHADES), flags.length ? flagKeys() : null] : null,
      parts.length ? [
        h("h2", {}, counted(parts.length, "partition")),
        h("ul", { class: "found" }, parts.map((part) => h("li", {},
          h("b", { class: "part" }, `P${part.partition} `), badge(part.status, part.status), " ",
          part.nodes ? `${figure(part.nodes_read)} of ${counted(part.nodes, "node")}` : part.reason || ""))),
      ] : null,
      findings.childElementCount ? [h("h2", {}, "Findings so far"), findings] : null,
      course.checked ? h("p", { class: "note" }, checkedLine(course.checked)) : null,
      course.text ? [h("h2", {}, "Answer"), text] : null,
      course.warnings.length ? h("ul", {}, course.warnings.map((one) => h("li", {}, one))) : null);
    drawn?.redraw();
  }

  const flagKeys = () => h("ul", { class: "legend" },
    arcKey("chased", "a flag that is followed up"), arcKey("open", "an open flag"));

  /** @param {{partition: number, targets?: number[]}} sweep that ended */
  function addFlags({ partition, targets = [] }) {
    for (const target of targets) {
      flags.push({ from: partition, to: target });
      if (!course.parts.has(target)) {
        course.parts.set(target, { partition: target, status: "flagged", reason: `P${partition} points to it` });
      }
    }
  }

  /** @param {number} target */
  const isOpen = (target) => ["flagged", "routed"].includes(course.parts.get(target)?.status);

  async function drawMap() {
    try {
      const atlas = await get(path(["graphs", told.graph, "map"]));
      const arc = arcsBetween(atlas);
      const states = { swept: "read", accepted: "read", read: "read", cached: "read", partial: "partial", failed: "failed", routed: "routed", reading: "reading", flagged: "flagged" };
      drawn = drawBoard(board, atlas, {
        drawing: "areas",
        stateOf: (place) => {
          const found = place.partitions.map((one) => course.parts.get(one)?.status).filter(Boolean);
          const best = found.find((one) => one === "reading") || found[0];
          return /** @type {any} */ (states)[best] || "unread";
        },
        arcs: () => flags.flatMap(({ from, to }) => arc(from, to, isOpen(to) ? "open" : "chased")),
        onPick: (place) => page.go(`/map?graph=${encodeURIComponent(told.graph)}&partition=${place.partitions[0]}`),
      });
      drawLive();
    } catch {
      drawn = null; // a graph without partitions has no map; its run is followed all the same
    }
  }

  /** @param {import("./api.js").Told} event */
  function take({ name, data }) {
    switch (name) {
      case "accepted": course.state = "running"; break;
      case "queued": [course.state, course.place] = ["queued", data.place]; break;
      case "run_started": [course.state, course.place] = ["running", 0]; break;
      case "phase_started": course.phase = data.phase || ""; break;
      case "routed":
        for (const route of data.routes) {
          course.parts.set(route.partition, { ...route, status: "routed" });
        }
        break;
      case "sweep_started": course.parts.set(data.partition, { ...course.parts.get(data.partition), partition: data.partition, status: "reading" }); break;
      case "sweep_finished":
        course.parts.set(data.partition, data);
        addFlags(data);
        findings.append(...data.findings.map((/** @type {string} */ one) =>
          h("li", {}, h("b", { class: "part" }, `P${data.partition} `), one)));
        break;
      case "usage": course.usage = data; break;
      case "checked": course.checked = data; break;
      case "text_streamed":
        course.text += data.text;
        text.append(data.text);
        break;
      case "warned": course.warnings.push(data.message || data.text || ""); break;
      case "snapshot":
        [course.state, course.elsewhere] = [data.state, !!data.elsewhere];
        if (data.error) course.failure = { message: data.error, fix: "" };
        for (const sweep of data.sweeps || []) course.parts.set(sweep.partition, sweep);
        if (data.calls !== null && data.calls !== undefined) {
          course.usage = { calls: data.calls, tokens: (data.input_tokens || 0) + (data.output_tokens || 0), cached: 0, cost: data.cost };
        }
        if (data.answered) {
          showAnswer(false);
          return;
        }
        break;
      case "answered":
        course.state = "answered";
        course.coverage = data.coverage;
        course.usage = data;
        drawHead();
        showAnswer(true);
        return;
      case "failed":
      case "cancelled":
      case "stopping":
        course.state = name;
        if (data.error) course.failure = { message: data.error, fix: data.fix || "" };
        break;
      default:
    }
    drawHead();
    drawLive();
  }

  /** @param {boolean} fresh */
  async function showAnswer(fresh) {
    drawn?.stop();
    drawn = null;
    drawHead();
    try {
      const html = await get(path(["runs", id, "answer.fragment"]));
      const place = h("div");
      place.innerHTML = policy ? policy.createHTML(html) : html;
      question.remove(); // the answer begins with it
      fill(body, exports(id, inner, told), place, mayAsk(page.me) && feedback(id, told.outcome));
      place.addEventListener("click", openCited);
      if (location.hash) location.replace(location.hash); // what it names is there only now
      if (fresh) page.say("The answer is here.");
    } catch (error) {
      fill(body, problem(/** @type {ApiError} */ (error)));
    }
  }

  /** @param {Event} event */
  function openCited(event) {
    const button = event.target instanceof Element ? event.target.closest("button.cite") : null;
    const shown = button && document.getElementById(button.getAttribute("popovertarget") || "");
    const node = shown?.getAttribute("data-node");
    if (!node) return; // its text stands in the answer, and opens over it
    event.preventDefault();
    openNode(inner, node);
  }

  drawHead();
  const stopFollowing = follow(path(["runs", id, "events"]), take, (problem) => page.say(problem));
  page.leave(stopFollowing);
  if (["queued", "running"].includes(told.state)) await drawMap();
}

/** @param {Course} course */
function stateOf({ state, place, elsewhere }) {
  if (state === "queued" && place) return `waits at place ${place}`;
  const words = STATES[/** @type {keyof typeof STATES} */ (state)] || state;
  return elsewhere ? `${words} in another process, which can stop it` : words;
}

/**
 * @param {string} id
 * @param {import("./app.js").Page} page
 * @param {any} told
 */
function exports(id, page, told) {
  const session = told.session || "default";
  const more = new URLSearchParams({ graph: told.graph, session, mode: "continue", question: told.question });
  return h("div", { class: "tools" },
    mayAsk(page.me) && h("a", { class: "act main", href: `/?${more}` }, "Continue with the rest"),
    h("a", { class: "act", href: `/session?graph=${encodeURIComponent(told.graph)}&session=${encodeURIComponent(session)}` }, `Session ${session}`),
    ["html", "md", "json"].map((kind) => h("a", {
      class: "act", href: `/api/runs/${id}/answer.${kind}`, download: `${id}.${kind}`,
    }, { html: "Save as a page", md: "as Markdown", json: "as JSON" }[kind])));
}

/** What a reader may think of an answer. */
const OUTCOMES = { accepted: "Useful", rework: "Needs rework", rejected: "Wrong" };

/**
 * Returns buttons that say whether an answer was useful.
 *
 * @param {string} id
 * @param {string | null} former
 */
function feedback(id, former) {
  const told = h("p", { class: "note", "aria-live": "polite" });
  const buttons = Object.entries(OUTCOMES).map(([outcome, means]) => {
    const button = h("button", { type: "button", class: "act", "aria-pressed": outcome === former ? "true" : "false", onclick: () => give(outcome, button) }, means);
    return button;
  });

  /**
   * @param {string} outcome
   * @param {HTMLElement} button
   */
  async function give(outcome, button) {
    try {
      const done = await post(path(["runs", id, "feedback"]), { outcome, replace: true });
      for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
      fill(told, `Thank you. The weights of ${counted(done.nodes, "node")} and ${counted(done.triplets, "relationship")} follow.`);
    } catch (error) {
      fill(told, problem(/** @type {ApiError} */ (error)));
    }
  }

  return h("section", { "aria-label": "Feedback" },
    h("h2", {}, "Was it useful?"),
    h("p", { class: "note" }, "Searches weigh what the answer cites by it."),
    h("div", { class: "tools" }, buttons), told);
}

/** @param {any} checked */
function checkedLine(checked) {
  return `Checked: ${counted(checked.absences, "absence")}, ${figure(checked.contradicted)} contradicted; `
    + `${counted(checked.flags, "flag")} followed up; ${counted(checked.convergences, "convergence")}.`;
}
