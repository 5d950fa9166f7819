// @ts-check
/** A run: live while it is in progress, then its answer. */

import { showAnswer } from "./answer.js";
import { follow, get, path, post, remove } from "../api.js";
import { cacheNote, counted, figure, fill, h, money, problem, strip, unprovenNote } from "../dom.js";
import { showLive } from "./live.js";
import { mayAsk } from "../rights.js";

const RESUMABLE = ["cancelled", "failed", "interrupted", "silent", "stopped", "stopping"];
const STATES = {
  queued: "waits for its turn", running: "in progress", answered: "answered", failed: "failed",
  cancelled: "cancelled", silent: "its process is gone", stopping: "the server is stopping",
  complete: "answered", interrupted: "interrupted", stopped: "stopped by a limit",
};

/**
 * @typedef {{state: string, elsewhere: boolean, place: number, phase: string, usage: any,
 *   failure: any, coverage: any, own: any, contexts: Record<string, string>}} Course
 */

/** @param {import("../app.js").Page} page */
export async function runView(page) {
  const { view, query } = page;
  const id = query.get("id") || "";
  const told = await get(path(["runs", id]));
  const inner = { ...page, graph: told.graph };
  /** @type {Course} */
  const course = {
    state: told.state, elsewhere: !!told.elsewhere, place: 0, phase: "", usage: null, failure: null, coverage: null, own: null, contexts: {},
  };
  const head = h("div");
  const body = h("div");
  const question = h("h1", {}, told.question);
  fill(view, question, head, body);
  document.title = `${told.question.slice(0, 60)} – pgs`;
  const live = showLive(inner, body, told);

  function drawHead() {
    const active = ["queued", "running"].includes(course.state);
    const may = mayAsk(page.me);
    const usage = course.usage;
    fill(head,
      strip([
        ["State", stateOf(course)],
        active && course.phase ? ["Now", course.phase] : null,
        usage ? ["Calls", `${figure(usage.calls)}${usage.cached ? `, ${figure(usage.cached)} from the cache` : ""}`] : null,
        usage ? ["Tokens", `${figure(usage.tokens)}${cacheNote(usage)}`] : null,
        usage ? ["Cost", money(usage.cost)] : null,
        course.own ? ["Read for this answer", readOf(course.own)] : null,
        course.coverage ? ["Read in this session", readOf(course.coverage)] : null,
        ...Object.entries(course.contexts).map(([name, text]) => /** @type {[string, string]} */ (["Context", `${name}: ${text}`])),
      ]),
      course.failure ? problem(course.failure) : null,
      h("div", { class: "tools" },
        active && may && !course.elsewhere ? h("button", { type: "button", class: "act", onclick: stop }, "Stop") : null,
        !active && may && RESUMABLE.includes(course.state) ? h("button", { type: "button", class: "act main", onclick: resume }, "Resume") : null));
  }

  async function stop() {
    page.say("Stopping…");
    await remove(path(["runs", id])).catch((/** @type {import("../api.js").ApiError} */ error) => page.say(error.message));
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

  /** @param {import("../api.js").Told} event */
  function take(event) {
    const { name, data } = event;
    switch (name) {
      case "accepted": course.state = "running"; break;
      case "queued": [course.state, course.place] = ["queued", data.place]; break;
      case "run_started": [course.state, course.place] = ["running", 0]; break;
      case "phase_started": course.phase = data.phase || ""; break;
      case "usage": course.usage = data; break;
      case "contexts": course.contexts = data.contexts; break;
      case "snapshot":
        [course.state, course.elsewhere] = [data.state, !!data.elsewhere];
        if (data.error) course.failure = { message: data.error, fix: "" };
        if (data.calls !== null && data.calls !== undefined) {
          course.usage = { calls: data.calls, tokens: (data.input_tokens || 0) + (data.output_tokens || 0), cached: 0, cache_read_tokens: data.cache_read_tokens, cache_write_tokens: data.cache_write_tokens, cost: data.cost };
        }
        break;
      case "answered":
        [course.state, course.coverage, course.usage] = ["answered", data.coverage, data];
        course.own = data.own_coverage || null;
        break;
      case "failed":
      case "cancelled":
      case "stopping":
        course.state = name;
        if (data.error) course.failure = { message: data.error, fix: data.fix || "" };
        break;
      default:
    }
    drawHead();
    if (name === "snapshot" && data.answered) end(data, false);
    else if (name === "answered") get(path(["runs", id])).catch(() => told).then((record) => end(record, true));
    else live.take(event);
  }

  /**
   * @param {any} record of the run; the former one may be older than its session
   * @param {boolean} fresh
   */
  async function end(record, fresh) {
    live.stop();
    if (!(await showAnswer(inner, body, record))) return;
    question.remove(); // the answer begins with it
    if (fresh) page.say("The answer is here.");
  }

  drawHead();
  page.leave(follow(path(["runs", id, "events"]), take, (problem) => page.say(problem)));
}

/** @param {Course} course */
function stateOf({ state, place, elsewhere }) {
  if (state === "queued" && place) return `waits at place ${place}`;
  const words = STATES[/** @type {keyof typeof STATES} */ (state)] || state;
  return elsewhere ? `${words} in another process, which can stop it` : words;
}

/**
 * Says how many nodes were read.
 *
 * @param {any} coverage
 */
function readOf(coverage) {
  return `${figure(coverage.nodes_read)} of ${counted(coverage.nodes_total, "node")}${unprovenNote(coverage.nodes_unproven)}`;
}
