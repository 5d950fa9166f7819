// @ts-check
/** Analogies and flags between partitions: as arcs of the map, and as the lists that say the same. */

import { get, path } from "../api.js";
import { badge, counted, figure, fill, h, table } from "../dom.js";

/**
 * Returns a function that makes the arc between two partitions; none unless they stand at two
 * places of the map.
 *
 * @param {import("./places.js").Atlas} atlas
 * @returns {(one: number, other: number, kind: import("./places.js").Arc["kind"]) => import("./places.js").Arc[]}
 */
export function arcsBetween(atlas) {
  /** @type {Map<number, number>} */
  const places = new Map();
  atlas.places.forEach((place, at) => place.partitions.forEach((id) => places.set(id, at)));
  return (one, other, kind) => {
    const [from, to] = [places.get(one), places.get(other)];
    return from === undefined || to === undefined || from === to ? [] : [{ from, to, kind }];
  };
}

/**
 * Returns what is drawn between places, its two switches, and its lists. `onChange` is called when a
 * switch was used, with the name of it and whether it is on.
 *
 * @param {import("../app.js").Page} page
 * @param {import("./places.js").Atlas} atlas
 * @param {string} session
 * @param {(name: string, on: boolean) => void} onChange
 */
export function mapArcs(page, atlas, session, onChange) {
  const { graph, query } = page;
  const arc = arcsBetween(atlas);
  /** @type {Record<string, import("./places.js").Arc[]>} */
  const arcs = { analogies: [], flags: [] };
  const lists = { analogies: h("section"), flags: h("section") };

  /** @param {number} id */
  const to = (id) => h("a", { href: `/map?graph=${encodeURIComponent(graph)}&partition=${id}` }, `P${id}`);

  async function loadAnalogies() {
    const told = await get(path(["graphs", graph, "analogies"]));
    arcs.analogies = told.flatMap((/** @type {any} */ one) => arc(one.first, one.second, "analogy"));
    fill(lists.analogies, h("h2", {}, "Analogies between partitions"),
      told.length ? table("Analogies", ["Between", "And", "Analogies", "Such as"], told.map((/** @type {any} */ one) => [
        to(one.first), to(one.second), figure(one.links), one.titles.join(" ↔ "),
      ]), [2]) : h("p", {}, "None yet. ", h("code", {}, `pgs analogies --graph ${graph}`), " looks for texts that use other words for the same mechanism."));
    return counted(told.length, "pair");
  }

  async function loadFlags() {
    const told = await get(path(["graphs", graph, "flags"], { session }));
    arcs.flags = told.flatMap((/** @type {any} */ one) => arc(one.source, one.target, one.chased ? "chased" : "open"));
    fill(lists.flags, h("h2", {}, `Flags of session ${session}`),
      told.length ? table("Flags", ["From", "To", "State", "Flag", "Run"], told.map((/** @type {any} */ one) => [
        to(one.source), to(one.target), badge(one.chased ? "followed up" : "open", one.chased ? "confirmed" : "warn"), one.text,
        h("a", { href: `/run?id=${one.run}` }, "its run"),
      ])) : h("p", {}, "None: no sweep of this session pointed to another partition."));
    return counted(told.length, "flag");
  }

  const loads = { analogies: loadAnalogies, flags: loadFlags };

  /** @param {"analogies" | "flags"} name */
  async function turn(name) {
    const on = switches[name].checked;
    arcs[name] = [];
    if (on) page.say(`${await loads[name]()} on the map and in the list below it.`);
    else fill(lists[name]);
    onChange(name, on);
  }

  /** @param {"analogies" | "flags"} name */
  const one = (name) => h("input", { type: "checkbox", id: name, checked: query.get(name) === "on", onchange: () => {
    turn(name).catch((error) => page.say(error.message));
  } });
  const switches = { analogies: one("analogies"), flags: one("flags") };
  return {
    drawn: () => [...arcs.analogies, ...arcs.flags],
    tools: [
      h("label", { class: "inline", for: "analogies" }, switches.analogies, "Analogies"),
      h("label", { class: "inline", for: "flags" }, switches.flags, "Flags"),
    ],
    lists: [lists.analogies, lists.flags],
    /** Loads what the address wants. */
    async load() {
      await Promise.all((/** @type {const} */ (["analogies", "flags"])).filter((name) => switches[name].checked).map((name) => loads[name]()));
    },
    legend: () => h("ul", { class: "legend" },
      switches.analogies.checked ? arcKey("analogy", "analogies") : null,
      switches.flags.checked ? [arcKey("chased", "a flag that was followed up"), arcKey("open", "an open flag")] : null),
  };
}

/**
 * Returns the item of a legend for a kind of arcs.
 *
 * @param {string} kind
 * @param {string} text
 */
export function arcKey(kind, text) {
  return h("li", {}, h("span", { class: `line ${kind}`, "aria-hidden": "true" }), text);
}
