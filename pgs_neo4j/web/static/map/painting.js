// @ts-check
/** Paints the places of a map, their links, their arcs, and their labels. */

import { short } from "../dom.js";
import { placing, title } from "./places.js";

/**
 * @typedef {import("./places.js").Atlas} Atlas
 * @typedef {import("./places.js").Place} Place
 * @typedef {import("./places.js").State} State
 * @typedef {import("./places.js").Drawing} Drawing
 */

/** Pixels that a narrow letter takes. */
const LETTER = 5.5;
/** How arcs are drawn: a color of the style sheet, and dashes in pixels. */
const ARCS = {
  analogy: { color: "--accent", dash: [], points: false },
  chased: { color: "--warn", dash: [], points: true },
  open: { color: "--warn", dash: [5, 4], points: true },
};
/** Shades by state, as names of the style sheet's colors. @type {Record<State, string>} */
const SHADES = {
  unread: "--unread", routed: "--tint", reading: "--partial", partial: "--partial",
  read: "--read", unproven: "--unproven", failed: "--failed", flagged: "--warn-bg",
};
/** States whose shades are near the background, so that text on them has its usual color. */
const LIGHT = ["unread", "unproven", "routed", "flagged"];
/** The outlines of some, in the same colors. @type {Partial<Record<State, string>>} */
const OUTLINES = { routed: "--accent", flagged: "--warn" };

/**
 * Returns a function that paints a map: in a frame, on a canvas of a size, as areas or as a network.
 *
 * @param {Element} board whose style has the colors
 * @param {CanvasRenderingContext2D} context
 * @param {Atlas} atlas
 * @param {{stateOf: (place: Place) => State, arcs?: () => import("./places.js").Arc[]}} options
 */
export function painter(board, context, atlas, options) {
  const { spot, center } = placing(atlas);
  const strongest = atlas.links[0]?.[2] || 1;
  /** @type {Record<string, string>} */
  let colors = {};
  let size = { width: 0, height: 0, ratio: 1 };
  /** @type {Drawing} */
  let drawing = "areas";
  const lines = [new Path2D(), new Path2D(), new Path2D()];
  for (const [one, other, weight] of atlas.links) {
    const [from, to] = [spot(atlas.places[one]), spot(atlas.places[other])];
    const share = weight / strongest;
    const path = lines[share > 0.5 ? 2 : share > 0.1 ? 1 : 0];
    path.moveTo(from.x, from.y);
    path.lineTo(to.x, to.y);
  }

  /** @param {number} scale */
  function drawNetwork(scale) {
    context.strokeStyle = colors["--line"];
    lines.forEach((path, strength) => {
      context.lineWidth = (0.6 + strength) / scale;
      context.stroke(path);
    });
    for (const [state, places] of byState()) {
      context.beginPath();
      for (const place of places) {
        const { x, y, radius } = spot(place);
        context.moveTo(x + radius, y);
        context.arc(x, y, radius, 0, 2 * Math.PI);
      }
      paint(state, scale);
    }
  }

  /** @param {number} scale */
  function drawAreas(scale) {
    for (const [state, places] of byState()) {
      context.beginPath();
      for (const { area: [x, y, width, height] } of places) context.rect(x, y, width, height);
      paint(state, scale);
    }
  }

  /**
   * @param {State} state
   * @param {number} scale
   */
  function paint(state, scale) {
    context.fillStyle = colors[SHADES[state]];
    context.fill();
    context.strokeStyle = colors[OUTLINES[state] || "--bg"];
    context.lineWidth = 1.5 / scale;
    context.stroke();
  }

  function byState() {
    /** @type {Map<State, Place[]>} */
    const groups = new Map();
    for (const place of atlas.places) {
      const state = options.stateOf(place);
      const group = groups.get(state);
      if (group) group.push(place);
      else groups.set(state, [place]);
    }
    return groups;
  }

  /** @param {number} scale */
  function drawArcs(scale) {
    const arcs = options.arcs?.() || [];
    for (const [kind, { color, dash, points }] of Object.entries(ARCS)) {
      context.strokeStyle = context.fillStyle = colors[color];
      context.lineWidth = 2 / scale;
      context.setLineDash(dash.map((length) => length / scale));
      const heads = new Path2D();
      context.beginPath();
      for (const arc of arcs) {
        if (arc.kind !== kind) continue;
        const [a, b] = [center(atlas.places[arc.from], drawing), center(atlas.places[arc.to], drawing)];
        const bend = { x: (a.x + b.x) / 2 + (b.y - a.y) / 5, y: (a.y + b.y) / 2 - (b.x - a.x) / 5 };
        context.moveTo(a.x, a.y);
        context.quadraticCurveTo(bend.x, bend.y, b.x, b.y);
        if (points) addHead(heads, b, Math.atan2(b.y - bend.y, b.x - bend.x), 9 / scale);
      }
      context.stroke();
      context.fill(heads);
    }
    context.setLineDash([]);
  }

  /**
   * @param {Path2D} heads
   * @param {{x: number, y: number}} tip
   * @param {number} angle
   * @param {number} length
   */
  function addHead(heads, tip, angle, length) {
    heads.moveTo(tip.x, tip.y);
    for (const side of [-0.4, 0.4]) {
      heads.lineTo(tip.x - length * Math.cos(angle + side), tip.y - length * Math.sin(angle + side));
    }
    heads.closePath();
  }

  /**
   * @param {number} scale
   * @param {number} left
   * @param {number} top
   */
  function drawLabels(scale, left, top) {
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    let drawn = 0;
    for (const place of atlas.places) {
      if (drawn > 120) break;
      const [x, y, width, height] = place.area;
      const { radius } = spot(place);
      const room = (drawing === "areas" ? width : radius * 6) * scale - 10;
      if (room < 34 || (drawing === "areas" && height * scale < 18)) continue;
      const at = drawing === "areas"
        ? { x: left + x * scale + 6, y: top + y * scale + 12 }
        : { x: left + (spot(place).x + radius) * scale + 3, y: top + spot(place).y * scale };
      if (at.x > size.width || at.y > size.height || at.x + room < 0 || at.y < 0) continue;
      const state = options.stateOf(place);
      const dark = drawing === "network" || LIGHT.includes(state);
      context.fillStyle = dark ? colors["--ink"] : colors["--on"];
      context.fillText(fitting(title(place), room), at.x, at.y);
      drawn += 1;
    }
  }

  /**
   * Returns as much of a text as there is room for.
   *
   * @param {string} text
   * @param {number} room in pixels
   */
  function fitting(text, room) {
    let most = Math.max(2, Math.ceil(room / LETTER));
    while (most > 2 && context.measureText(short(text, most)).width > room) most -= 1;
    return short(text, most);
  }

  /**
   * @param {{scale: number, left: number, top: number}} frame
   * @param {{width: number, height: number, ratio: number}} canvas
   * @param {Drawing} wanted
   */
  return ({ scale, left, top }, canvas, wanted) => {
    [size, drawing] = [canvas, wanted];
    colors = readColors(board); // a theme may have changed, and before it is shown, it has none
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, context.canvas.width, context.canvas.height);
    context.setTransform(size.ratio * scale, 0, 0, size.ratio * scale, size.ratio * left, size.ratio * top);
    if (drawing === "network") drawNetwork(scale);
    else drawAreas(scale);
    drawArcs(scale);
    context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    drawLabels(scale, left, top);
  };
}

/**
 * @param {Element} board
 * @returns {Record<string, string>}
 */
function readColors(board) {
  const style = getComputedStyle(board);
  const names = [...Object.values(SHADES), "--line", "--accent", "--bg", "--ink", "--on", "--warn"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name).trim()]));
}
