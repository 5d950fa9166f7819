// @ts-check
/** The line that says how long the calls of a run wait and how far replies are, since both look like a hang. */

import { figure, h } from "../dom.js";

/** What some reasons mean. @type {Record<string, string>} */
const MEANINGS = { 429: "the endpoint is busy", "endpoint failed": "the endpoint failed" };

/** Events after which nothing waits any more. */
const ENDS = ["answered", "failed", "cancelled", "stopping"];

/** Returns the line, which is hidden while nothing waits, and what takes the events of a run. */
export function waitLine() {
  /** @type {Map<string, {who: string, reason: string, until: number}>} by who waits */
  const waits = new Map();
  /** @type {Map<string, number>} tokens so far, by who writes */
  const growing = new Map();
  const line = h("p", { class: "note waits", hidden: true });
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let ticking;

  function draw() {
    const now = Date.now();
    for (const [who, { until }] of waits) if (until <= now) waits.delete(who);
    const [last] = [...waits.values()].sort((one, other) => other.until - one.until);
    const [writer] = growing;
    line.hidden = !last && !writer;
    if (!last) {
      clearInterval(ticking);
      ticking = undefined;
      if (writer) {
        const more = growing.size > 1 ? `, and ${figure(growing.size - 1)} more at work` : "";
        line.textContent = `${writer[0]} writes: ${figure(writer[1])} tokens so far${more}.`;
      }
      return;
    }
    const others = waits.size > 1 ? `, and ${figure(waits.size - 1)} more` : "";
    line.textContent = `${last.who} waits ${figure(Math.ceil((last.until - now) / 1000))} s: ${last.reason}${others}.`;
    ticking ??= setInterval(draw, 1000);
  }

  /**
   * @param {string} who
   * @param {{reason: string, wait_s: number, until: string}} wait
   */
  function add(who, { reason, wait_s: seconds, until }) {
    // By the clock of the server, since a page that is loaded again also hears of former waits.
    const end = Math.min(Date.parse(until), Date.now() + 1000 * seconds);
    waits.set(who, { who, reason: MEANINGS[reason] || reason, until: end });
  }

  /** @param {{name: string, data: any}} event */
  function take({ name, data }) {
    if (name === "calls_held") add("The run", data);
    else if (name === "reply_grew") {
      const who = data.partition === null ? `The call to ${data.task}` : `P${data.partition}`;
      if (data.tokens) growing.set(who, data.tokens);
      else growing.delete(who);
    } else if (name === "call_retried") add(data.partition === null ? `The call to ${data.task}` : `P${data.partition}`, data);
    else if (name === "pass_finished" || name === "sweep_finished") waits.delete(`P${data.partition}`);
    else if (ENDS.includes(name)) {
      waits.clear();
      growing.clear();
    }
    draw();
  }

  return { line, take, stop: () => clearInterval(ticking) };
}
