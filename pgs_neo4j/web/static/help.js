// @ts-check
/** What the keys do. */

import { h, money } from "./dom.js";

const KEYS = [
  ["/", "ask a question"],
  ["?", "this help"],
  ["Esc", "close the details beside the view"],
  ["+ −", "zoom the map"],
  ["← ↑ → ↓", "move the map"],
  ["0", "show all of the map"],
];

/** Opens the help; Esc closes it. */
export function helpDialog() {
  const close = h("button", { type: "button", class: "act", onclick: () => dialog.close() }, "Close");
  const dialog = h("dialog", { "aria-label": "Keys", onclose: () => dialog.remove() },
    h("h2", {}, "Keys"),
    h("dl", { class: "record" },
      KEYS.map(([key, does]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, does)]).flat()),
    h("p", {}, "Whatever the map shows also stands in the list below it."),
    h("p", {}, "Everything else is in the ", h("a", { href: "/manual" }, "manual"), "."),
    close);
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * Asks before something that costs or deletes; resolves to whether it may go ahead.
 *
 * @param {string} question
 * @param {string} yes
 * @returns {Promise<boolean>}
 */
export function confirmed(question, yes) {
  return new Promise((resolve) => {
    let said = false;
    const dialog = h("dialog", { "aria-label": "Confirm", onclose: () => {
      dialog.remove();
      resolve(said);
    } },
    h("p", {}, question),
    h("div", { class: "tools" },
      h("button", { type: "button", class: "act main", onclick: () => {
        said = true;
        dialog.close();
      } }, yes),
      h("button", { type: "button", class: "act", onclick: () => dialog.close() }, "No")));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Asks before a question that may cost more than a caller has to confirm; `high` is null without prices.
 *
 * @param {{confirm_cost?: number | null}} me
 * @param {number | null} high
 */
export async function confirmedCost({ confirm_cost: most }, high) {
  if (most === null || most === undefined || high === null || high <= most) return true;
  return confirmed(`This may cost ${money(high)}, more than ${money(most)}. Ask it?`, "Ask");
}
