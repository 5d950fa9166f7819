// @ts-check
/** Shows how far a job of the server is, until it ends. */

import { follow, path, remove } from "./api.js";
import { figure, fill, h, money, problem } from "./dom.js";

/** What the phases of a job do. */
const PHASES = {
  load: "Loading", ingest: "Reading documents", partition: "Partitioning", connect: "Connecting",
};

/**
 * Shows a job in an element, and resolves to the data of its end; to null if it did not succeed, or
 * another view came.
 *
 * @param {import("./app.js").Page} page
 * @param {HTMLElement} place
 * @param {{job: string, events: string}} started
 * @returns {Promise<any>}
 */
export function watchJob(page, place, started) {
  const doing = h("p", {}, "It has begun.");
  const bar = h("progress", { "aria-label": "Progress" });
  const cost = h("span", { class: "note" });
  const stop = h("button", { type: "button", class: "act", onclick: () => {
    stop.disabled = true;
    remove(path(["jobs", "live", started.job])).catch((error) => page.say(error.message));
  } }, "Stop the job");
  fill(place, doing, h("div", { class: "tools" }, bar, cost, stop));
  page.say("The job began.");
  return new Promise((resolve) => {
    const stopFollowing = follow(started.events, take, page.say);
    page.leave(() => {
      stopFollowing();
      resolve(null);
    });

    /** @param {import("./api.js").Told} told */
    function take({ name, data }) {
      if (name === "phase_started") {
        doing.textContent = `${PHASES[/** @type {keyof typeof PHASES} */ (data.phase)] || data.phase}…`;
      } else if (name === "step_started") {
        doing.textContent = `${PHASES[/** @type {keyof typeof PHASES} */ (data.phase)] || data.phase}: ${data.step}…`;
        bar.removeAttribute("value");
      } else if (name === "progressed") {
        doing.textContent = `${figure(data.done)}${data.total ? ` of ${figure(data.total)}` : ""} ${data.what}`;
        if (data.total) [bar.max, bar.value] = [data.total, data.done];
      } else if (name === "usage" && data.cost) {
        cost.textContent = `cost ${money(data.cost)}`;
      } else if (name === "ended") {
        end("The job has ended.", data);
        fill(place);
      } else if (name === "failed") {
        end("The job failed.", null);
        fill(place, problem({ message: data.error, fix: data.fix }));
      } else if (name === "cancelled") {
        end("The job was stopped.", null);
        fill(place, h("p", { role: "status" }, "The job was stopped. What it had done by then stays."));
      }
    }

    /**
     * @param {string} said
     * @param {any} data
     */
    function end(said, data) {
      page.say(said);
      resolve(data);
    }
  });
}
