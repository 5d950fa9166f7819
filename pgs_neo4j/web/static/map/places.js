// @ts-check
/** The places of a map: partitions or groups of them, where they stand, and what they are called. */

/**
 * A place as the server gives it; `area` is left, top, width, and height in a frame of 1.6 by 1.
 *
 * @typedef {{id: number, label: string, nodes: number, partitions: number[], pool: boolean,
 *   x: number, y: number, area: [number, number, number, number]}} Place
 * @typedef {{generation: string, level: number, places: Place[], links: [number, number, number][]}} Atlas
 * @typedef {"areas" | "network"} Drawing
 * @typedef {{from: number, to: number, kind: "analogy" | "chased" | "open"}} Arc between places, by
 *   their positions; the last two are flags, which point to `to`
 */

/** @typedef {"unread" | "routed" | "reading" | "partial" | "read" | "unproven" | "failed" | "flagged"} State */

/** The frame of areas is this wide, and 1 high. */
export const WIDTH = 1.6;

/**
 * Returns where places stand in the frame, and which one stands at a point of it.
 *
 * @param {Atlas} atlas
 */
export function placing(atlas) {
  const most = Math.max(...atlas.places.map((place) => place.nodes), 1);

  /** @param {Place} place as a disk of the network */
  function spot(place) {
    return { x: 0.35 + 0.9 * place.x, y: 0.05 + 0.9 * place.y, radius: 0.006 + 0.034 * Math.sqrt(place.nodes / most) };
  }

  /**
   * @param {Place} place
   * @param {Drawing} drawing
   */
  function center(place, drawing) {
    if (drawing === "network") return spot(place);
    const [x, y, width, height] = place.area;
    return { x: x + width / 2, y: y + height / 2 };
  }

  /**
   * @param {number} px
   * @param {number} py
   * @param {number} scale pixels per unit of the frame
   * @param {Drawing} drawing
   */
  function placeAt(px, py, scale, drawing) {
    if (drawing === "areas") {
      return atlas.places.find(({ area: [ax, ay, width, height] }) =>
        px >= ax && px < ax + width && py >= ay && py < ay + height);
    }
    /** @type {Place | undefined} */
    let best;
    let nearest = Infinity;
    for (const place of atlas.places) {
      const { x: cx, y: cy, radius } = spot(place);
      const far = Math.hypot(px - cx, py - cy) - Math.max(radius, 6 / scale);
      if (far <= 0 && far < nearest) [best, nearest] = [place, far];
    }
    return best;
  }

  return { spot, center, placeAt };
}

/**
 * Returns what a session has read of places, as shades of the map.
 *
 * @param {boolean} unproven whether nodes of some were shown without proof
 * @returns {[State, string][]}
 */
export function readShades(unproven) {
  return [["read", "read"], ["partial", "read in part"], ...unprovenShade(unproven), ["unread", "not read"]];
}

/**
 * Returns the shade of what was shown without proof, if there is any.
 *
 * @param {boolean} unproven
 * @returns {[State, string][]}
 */
export function unprovenShade(unproven) {
  return unproven ? [["unproven", "shown, unproven"]] : [];
}

/**
 * Returns the state of a place of which some nodes were read, and others only shown.
 *
 * @param {Place} place
 * @param {number} nodes
 * @param {number} unproven
 * @returns {State}
 */
export function readState(place, nodes, unproven) {
  if (nodes >= place.nodes) return "read";
  if (nodes) return "partial";
  return unproven ? "unproven" : "unread";
}

/** @param {Place} place */
export function title(place) {
  const name = place.partitions.length === 1 ? `P${place.partitions[0]}` : `${place.partitions.length} partitions`;
  return place.label ? `${name} ${place.label}` : name;
}
