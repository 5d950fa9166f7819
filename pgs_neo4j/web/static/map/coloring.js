// @ts-check
/** What the colors of the map say: what a session has read, how large partitions are, or drift. */

import { get, path } from "../api.js";
import { figure, unprovenAside } from "../dom.js";
import { readShades, readState } from "./places.js";

export const COLORS = { read: "what a session has read", size: "their size", drift: "what changed since" };

/**
 * `note` is a sentence about the whole map, `head` the title of the column that says in words what the
 * colors say.
 *
 * @typedef {import("./places.js").Place} Place
 * @typedef {{shades: [string, string][], stateOf: (place: Place) => import("./places.js").State,
 *   head: string, told: (place: Place) => string, note: string}} Coloring
 */

/**
 * @param {string} graph
 * @param {string} wanted
 * @param {import("./places.js").Atlas} atlas
 * @param {(place: Place) => number} readOf
 * @param {(place: Place) => number} unprovenOf nodes that were shown without proof
 * @returns {Promise<Coloring>}
 */
export async function coloring(graph, wanted, atlas, readOf, unprovenOf) {
  if (wanted === "drift") return byDrift(await get(path(["graphs", graph, "drift"])));
  if (wanted === "size") return bySize(atlas);
  return {
    shades: readShades(atlas.places.some(unprovenOf)),
    stateOf: (place) => readState(place, readOf(place), unprovenOf(place)),
    head: "Read", told: (place) => `${figure(readOf(place))}${unprovenAside(unprovenOf(place))}`, note: "",
  };
}

/**
 * @param {import("./places.js").Atlas} atlas
 * @returns {Coloring}
 */
function bySize(atlas) {
  const most = Math.max(...atlas.places.map((place) => place.nodes), 1);
  /** @param {Place} place */
  const share = (place) => place.nodes / most;
  return {
    shades: [["read", "more than half of the largest"], ["routed", "more than a tenth of it"], ["unread", "smaller"]],
    stateOf: (place) => (share(place) > 0.5 ? "read" : share(place) > 0.1 ? "routed" : "unread"),
    head: "Of the largest", told: (place) => percent(share(place)), note: "",
  };
}

/**
 * @param {any} drift
 * @returns {Coloring}
 */
function byDrift(drift) {
  /** @type {Map<number, any>} */
  const parts = new Map(drift.partitions.map((/** @type {any} */ one) => [one.partition, one]));
  /** @param {Place} place */
  const share = (place) => {
    const moved = place.partitions.reduce((sum, id) => sum + (parts.get(id)?.removed || 0) + (parts.get(id)?.changed || 0), 0);
    return moved / Math.max(place.nodes, 1);
  };
  return {
    shades: [["unread", "as they were"], ["routed", "up to 10 % changed or gone"], ["partial", "up to 30 %"], ["failed", "more"]],
    stateOf: (place) => {
      const moved = share(place);
      return moved > 0.3 ? "failed" : moved > 0.1 ? "partial" : moved ? "routed" : "unread";
    },
    head: "Changed or gone", told: (place) => percent(share(place)),
    note: drift.added ? ` ${figure(drift.added)} new nodes are in no partition yet.` : "",
  };
}

/** @param {number} share */
function percent(share) {
  return `${figure(100 * share, share && share < 0.1 ? 1 : 0)} %`;
}
