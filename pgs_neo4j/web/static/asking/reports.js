// @ts-check
/** The report of one partition: what a model found there, what it rests on, and what it missed. */

import { get } from "../api.js";
import { counted, figure, fill, h, problem } from "../dom.js";
import { marked, openNode } from "../panel.js";

/**
 * Returns a report that is loaded when it is opened.
 *
 * @param {import("../app.js").Page} page
 * @param {string} way path of the report
 * @param {string} name of its partition
 */
export function reportDetails(page, way, name) {
  const inside = h("div");
  let asked = false;

  /** @param {Event} event */
  async function load(event) {
    const { open } = /** @type {HTMLDetailsElement} */ (event.target);
    if (!open || asked) return;
    asked = true;
    fill(inside, h("p", { class: "note" }, "Loading…"));
    try {
      fill(inside, report(page, await get(way)));
    } catch (error) {
      asked = false;
      fill(inside, problem(/** @type {any} */ (error)));
    }
  }

  return h("details", { class: "report", ontoggle: load },
    h("summary", {}, "Report", h("span", { class: "hidden" }, ` of ${name}`)), inside);
}

/**
 * @param {import("../app.js").Page} page
 * @param {any} told
 */
function report(page, told) {
  /** @param {any} one */
  const finding = (one) => h("li", {}, marked(one.text, quotesOf(one)), cited(page, one.citations),
    one.quotes.some((/** @type {any} */ quote) => !quote.found)
      ? h("span", { class: "note" }, " Not all of the quoted words stand there.") : null,
    (one.doubts ?? []).map((/** @type {string} */ reason) => h("span", { class: "note" }, ` In doubt: ${reason}.`)));
  /** @param {any} one */
  const flag = (one) => h("li", {}, one.target === null ? "" : h("b", { class: "part" }, `To P${one.target} `),
    one.text, cited(page, one.citations));
  return [
    told.nodes_unproven ? h("p", { class: "note" }, `${figure(told.nodes_unproven)} of ${counted(told.nodes, "node")} shown, unproven: nothing proves that the model was given them.`) : null,
    told.domain_state ? h("p", {}, told.domain_state) : null,
    told.findings.length ? [h("h3", {}, "Findings"), h("ul", { class: "found" }, told.findings.map(finding))]
      : h("p", { class: "note" }, "No finding."),
    told.flags.length ? [h("h3", {}, "Flags to other partitions"), h("ul", { class: "found" }, told.flags.map(flag))] : null,
    told.absences.length ? [h("h3", {}, "Missed there"), h("ul", { class: "found" }, told.absences.map((/** @type {string} */ one) => h("li", {}, one)))] : null,
    (told.struck ?? []).length ? [h("h3", {}, "Struck"), h("ul", { class: "found" },
      told.struck.map((/** @type {any} */ one) => h("li", {}, one.text, h("span", { class: "note" }, ` ${one.reason}.`))))] : null,
    told.errors.map((/** @type {string} */ one) => h("p", { class: "note" }, one)),
  ].flat();
}

/** @param {any} one a finding, of which the words that were found are marked */
function quotesOf(one) {
  return one.quotes.filter((/** @type {any} */ quote) => quote.found).map((/** @type {any} */ quote) => quote.text);
}

/**
 * Returns what is cited: nodes that open beside the view, or what the model was not shown.
 *
 * @param {import("../app.js").Page} page
 * @param {any[]} citations
 */
function cited(page, citations) {
  const seen = new Set();
  const own = citations.filter(({ alias, partition }) => !seen.has(`${partition}:${alias}`) && seen.add(`${partition}:${alias}`));
  return h("span", {}, own.map((one) => [
    " ",
    one.element_id
      ? h("button", { type: "button", class: "link", onclick: () => openNode(page, one.element_id) }, one.title || one.alias)
      : h("span", { class: "note" }, one.valid ? `${one.title || one.alias} (gone)` : `${one.alias} (was not shown)`),
  ]).flat());
}
