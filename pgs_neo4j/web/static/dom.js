// @ts-check
/** Builds elements. Whatever a text holds, it is only ever shown as text. */

/** @typedef {string | number | Node | null | undefined | false} Child */
/** @typedef {Child | Child[]} Children */

/**
 * Returns an element. `on…` properties are listeners, `true` sets an attribute without a value, and
 * `false`, `null`, and `undefined` set none.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, unknown>} [properties]
 * @param {...Children} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  assign(element, properties);
  element.append(...nodes(children));
  return element;
}

/**
 * Returns an element of a drawing.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} [properties]
 * @param {...Children} children
 * @returns {SVGElement}
 */
export function s(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  assign(element, properties);
  element.append(...nodes(children));
  return element;
}

/**
 * Replaces what an element holds.
 *
 * @param {Element} element
 * @param {...Children} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
}

/**
 * @param {Children[]} children
 * @returns {(string | Node)[]}
 */
function nodes(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * @param {Element} element
 * @param {Record<string, unknown>} properties
 */
function assign(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

/**
 * Returns a number with separators; a dash without one.
 *
 * @param {number | null | undefined} value
 * @param {number} [digits]
 */
export function figure(value, digits = 0) {
  if (value === null || value === undefined) return "–";
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

/**
 * Returns an amount of money without its currency, which only the settings know.
 *
 * @param {number | null | undefined} value
 */
export function money(value) {
  if (value === null || value === undefined) return "unknown";
  return value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 4 });
}

/**
 * Returns a time as people of this browser write it.
 *
 * @param {string | null | undefined} iso
 */
export function moment(iso) {
  if (!iso) return "–";
  const at = new Date(iso);
  return Number.isNaN(at.getTime())
    ? iso
    : at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/**
 * Returns "1 node" or "3 nodes".
 *
 * @param {number} count
 * @param {string} one
 */
export function counted(count, one, many = `${one}s`) {
  return `${figure(count)} ${count === 1 ? one : many}`;
}

/**
 * Returns what to add to a number of nodes read: those that were shown without proof, if any.
 *
 * @param {number | null | undefined} nodes
 */
export function unprovenNote(nodes) {
  return nodes ? `, ${figure(nodes)} shown, unproven` : "";
}

/**
 * Returns the same in parentheses, for a number that stands alone.
 *
 * @param {number | null | undefined} nodes
 */
export function unprovenAside(nodes) {
  return nodes ? ` (${figure(nodes)} more shown, unproven)` : "";
}

/**
 * Returns what to add to a number of tokens: those read from a provider's cache, and written to it.
 *
 * @param {{cache_read_tokens?: number | null, cache_write_tokens?: number | null}} usage
 */
export function cacheNote({ cache_read_tokens: read, cache_write_tokens: written }) {
  const parts = [
    read ? `${figure(read)} from the provider's cache` : "",
    written ? `${figure(written)} written to ${read ? "it" : "the provider's cache"}` : "",
  ].filter(Boolean);
  return parts.length ? ` (${parts.join(", ")})` : "";
}

/**
 * Returns a text, cut where it is longer than some characters.
 *
 * @param {string} text
 * @param {number} most
 */
export function short(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/**
 * Returns figures side by side, each with its name; those without a value are left out.
 *
 * @param {([string, Child] | null | undefined | false)[]} rows
 */
export function strip(rows) {
  const shown = rows.filter((row) => !!row);
  return h("dl", { class: "strip" }, shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/**
 * Returns what the colors of a map mean.
 *
 * @param {[string, string][]} shades classes of the style sheet, each with its meaning
 */
export function legend(shades) {
  return h("ul", { class: "legend" }, shades.map(([kind, text]) =>
    h("li", {}, h("span", { class: `key ${kind}`, "aria-hidden": "true" }), text)));
}

/**
 * Returns a table in a box that scrolls by itself.
 *
 * @param {string} caption
 * @param {string[]} head
 * @param {Children[][]} rows
 * @param {number[]} [right] columns of numbers
 */
export function table(caption, head, rows, right = []) {
  /** @param {number} column */
  const side = (column) => (right.includes(column) ? "right" : null);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {},
      h("caption", { class: "hidden" }, caption),
      h("thead", {}, h("tr", {},
        head.map((name, i) => h("th", { scope: "col", class: side(i) }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {},
        row.map((cell, i) => h("td", { class: side(i) }, ...[cell].flat())))))));
}

/**
 * Returns a badge.
 *
 * @param {string} text
 * @param {string} [kind] a class of the style sheet
 */
export function badge(text, kind = "") {
  return h("span", { class: `badge ${kind}` }, text);
}

/**
 * Returns a box with an error and what to do.
 *
 * @param {{message: string, fix: string}} error
 */
export function problem(error) {
  return h("div", { class: "problem", role: "alert" },
    h("p", {}, sentence(error.message)), error.fix ? h("p", {}, sentence(error.fix)) : null);
}

/**
 * Returns a text as a sentence.
 *
 * @param {string} text
 */
export function sentence(text) {
  const end = /[.!?]$/.test(text) ? "" : ".";
  return text.charAt(0).toUpperCase() + text.slice(1) + end;
}
