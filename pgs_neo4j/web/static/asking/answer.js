// @ts-check
/** The answer of a run: its text, what it cites beside it, its files, and what a reader thinks of it. */

import { get, path, post } from "../api.js";
import { counted, fill, h, problem } from "../dom.js";
import { openNode } from "../panel.js";
import { mayAsk } from "../rights.js";

/** The server alone makes HTML of texts, in the module that makes the pages of answers. */
const policy = /** @type {any} */ (window).trustedTypes?.createPolicy("pgs", {
  createHTML: (/** @type {string} */ html) => html,
});

/**
 * Shows the answer of a run in an element. `told` is what the server knows of the run.
 *
 * @param {import("../app.js").Page} page
 * @param {HTMLElement} place
 * @param {any} told
 */
export async function showAnswer(page, place, told) {
  try {
    const html = await get(path(["runs", told.run, "answer.fragment"]));
    const text = h("div");
    text.innerHTML = policy ? policy.createHTML(html) : html;
    text.addEventListener("click", openCited);
    fill(place, exports(told.run, page, told), text, mayAsk(page.me) && feedback(told.run, told.outcome));
    if (location.hash) location.replace(location.hash); // what it names is there only now
    return true;
  } catch (error) {
    fill(place, problem(/** @type {import("../api.js").ApiError} */ (error)));
    return false;
  }

  /** @param {Event} event */
  function openCited(event) {
    const button = event.target instanceof Element ? event.target.closest("button.cite") : null;
    const shown = button && document.getElementById(button.getAttribute("popovertarget") || "");
    const node = shown?.getAttribute("data-node");
    if (!node) return; // its text stands in the answer, and opens over it
    event.preventDefault();
    openNode(page, node);
  }
}

/**
 * Counts the nodes that the session of an answer was not shown; without coverage, some may be left.
 *
 * @param {any} told
 */
function left({ coverage }) {
  return coverage ? coverage.nodes_total - coverage.nodes_read - (coverage.nodes_unproven || 0) : 1;
}

/**
 * @param {string} id
 * @param {import("../app.js").Page} page
 * @param {any} told
 */
function exports(id, page, told) {
  const session = told.session || "default";
  const more = new URLSearchParams({ graph: told.graph, session, mode: "continue", question: told.question });
  return h("div", { class: "tools" },
    mayAsk(page.me) && left(told) > 0 && h("a", { class: "act main", href: `/?${more}` }, "Continue with the rest"),
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
      fill(told, problem(/** @type {import("../api.js").ApiError} */ (error)));
    }
  }

  return h("section", { "aria-label": "Feedback" },
    h("h2", {}, "Was it useful?"),
    h("p", { class: "note" }, "Searches weigh what the answer cites by it."),
    h("div", { class: "tools" }, buttons), told);
}
