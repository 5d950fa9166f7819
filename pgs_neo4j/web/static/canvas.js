// @ts-check
/** Draws partitions on a canvas, as areas or as a network; moved, zoomed, and picked. */

import { h } from "./dom.js";

/**
 * A place as the server gives it; `area` is left, top, width, and height in a frame of 1.6 by 1.
 *
 * @typedef {{id: number, label: string, nodes: number, partitions: number[], pool: boolean,
 *   x: number, y: number, area: [number, number, number, number]}} Place
 * @typedef {{generation: string, level: number, places: Place[], links: [number, number, number][]}} Atlas
 * @typedef {"areas" | "network"} Drawing
 */

const WIDTH = 1.6;
const MOST_ZOOM = 40;
/** Shades by state, as names of the style sheet's colors. */
const SHADES = {
  unread: "--unread", routed: "--tint", reading: "--partial", partial: "--partial",
  read: "--read", failed: "--failed",
};
/** @typedef {keyof typeof SHADES} State */

/**
 * Puts a canvas into an element. `stateOf` says how a place is colored, `onPick` gets the place that
 * was clicked. Call `redraw` when a state has changed.
 *
 * @param {HTMLElement} board
 * @param {Atlas} atlas
 * @param {{drawing: Drawing, stateOf: (place: Place) => State, onPick: (place: Place) => void,
 *   arcs?: () => [number, number][]}} options
 */
export function drawBoard(board, atlas, options) {
  const canvas = h("canvas", {
    tabindex: "0", role: "img",
    "aria-label": `Map of ${atlas.places.length} places. The list below shows the same.`,
  });
  const tip = h("p", { class: "tip", hidden: true });
  board.replaceChildren(canvas, tip);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const most = Math.max(...atlas.places.map((place) => place.nodes), 1);
  const strongest = atlas.links[0]?.[2] || 1;
  let drawing = options.drawing;
  /** @type {Record<string, string>} */
  let colors = {};
  let view = { x: 0, y: 0, zoom: 1 };
  let size = { width: 0, height: 0, ratio: 1 };
  let asked = 0;
  /** @type {Path2D[]} */
  let lines = [];

  function resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    size = { width: canvas.clientWidth, height: canvas.clientHeight, ratio };
    canvas.width = Math.max(1, Math.round(size.width * ratio));
    canvas.height = Math.max(1, Math.round(size.height * ratio));
    redraw();
  }

  function redraw() {
    if (!asked) asked = requestAnimationFrame(draw);
  }

  /** Pixels per unit of the frame, and where the frame begins. */
  function frame() {
    const pad = 12;
    const scale = Math.min((size.width - 2 * pad) / WIDTH, size.height - 2 * pad) * view.zoom;
    return {
      scale,
      left: size.width / 2 + (view.x - WIDTH / 2) * scale,
      top: size.height / 2 + (view.y - 0.5) * scale,
    };
  }

  /** @param {Place} place */
  function spot(place) {
    return { x: 0.35 + 0.9 * place.x, y: 0.05 + 0.9 * place.y, radius: 0.006 + 0.034 * Math.sqrt(place.nodes / most) };
  }

  function makeLines() {
    lines = [new Path2D(), new Path2D(), new Path2D()];
    for (const [one, other, weight] of atlas.links) {
      const [from, to] = [spot(atlas.places[one]), spot(atlas.places[other])];
      const share = weight / strongest;
      const path = lines[share > 0.5 ? 2 : share > 0.1 ? 1 : 0];
      path.moveTo(from.x, from.y);
      path.lineTo(to.x, to.y);
    }
  }

  function draw() {
    asked = 0;
    colors = readColors(board); // a theme may have changed, and before it is shown, it has none
    const { scale, left, top } = frame();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(size.ratio * scale, 0, 0, size.ratio * scale, size.ratio * left, size.ratio * top);
    if (drawing === "network") drawNetwork(scale);
    else drawAreas(scale);
    drawArcs(scale);
    context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    drawLabels(scale, left, top);
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
    context.strokeStyle = state === "routed" ? colors["--accent"] : colors["--bg"];
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
    if (!arcs.length) return;
    context.strokeStyle = colors["--warn"];
    context.lineWidth = 1.5 / scale;
    context.beginPath();
    for (const [one, other] of arcs) {
      const [a, b] = [center(atlas.places[one]), center(atlas.places[other])];
      context.moveTo(a.x, a.y);
      context.quadraticCurveTo((a.x + b.x) / 2 + (b.y - a.y) / 4, (a.y + b.y) / 2 - (b.x - a.x) / 4, b.x, b.y);
    }
    context.stroke();
  }

  /** @param {Place} place */
  function center(place) {
    if (drawing === "network") return spot(place);
    const [x, y, width, height] = place.area;
    return { x: x + width / 2, y: y + height / 2 };
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
      const dark = drawing === "network" || state === "unread" || state === "routed";
      context.fillStyle = dark ? colors["--ink"] : colors["--on"];
      context.fillText(cut(title(place), room), at.x, at.y);
      drawn += 1;
    }
  }

  /**
   * @param {string} text
   * @param {number} room
   */
  function cut(text, room) {
    const letters = Math.floor(room / 6.4);
    return text.length <= letters ? text : `${text.slice(0, Math.max(1, letters - 1))}…`;
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  function placeAt(x, y) {
    const { scale, left, top } = frame();
    const [px, py] = [(x - left) / scale, (y - top) / scale];
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

  /**
   * @param {number} factor
   * @param {number} x
   * @param {number} y
   */
  function zoom(factor, x, y) {
    const before = frame();
    const next = Math.min(Math.max(view.zoom * factor, 1), MOST_ZOOM);
    const [px, py] = [(x - before.left) / before.scale, (y - before.top) / before.scale];
    view.zoom = next;
    const after = frame();
    view.x += (x - (after.left + px * after.scale)) / after.scale;
    view.y += (y - (after.top + py * after.scale)) / after.scale;
    redraw();
  }

  /**
   * @param {number} dx
   * @param {number} dy
   */
  function move(dx, dy) {
    const { scale } = frame();
    view.x += dx / scale;
    view.y += dy / scale;
    redraw();
  }

  /** @type {{x: number, y: number, far: boolean} | null} */
  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.offsetX, y: event.offsetY, far: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held) {
      const [dx, dy] = [event.offsetX - held.x, event.offsetY - held.y];
      if (held.far || Math.hypot(dx, dy) > 4) {
        held = { x: event.offsetX, y: event.offsetY, far: true };
        move(dx, dy);
      }
      return;
    }
    const over = placeAt(event.offsetX, event.offsetY);
    tip.hidden = !over;
    if (over) tip.textContent = `${title(over)}: ${over.nodes.toLocaleString("en-US")} nodes`;
  });
  canvas.addEventListener("pointerup", (event) => {
    const picked = held && !held.far ? placeAt(event.offsetX, event.offsetY) : undefined;
    held = null;
    if (picked) options.onPick(picked);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 40;
    /** @type {Record<string, () => void>} */
    const keys = {
      "+": () => zoom(1.3, size.width / 2, size.height / 2),
      "=": () => zoom(1.3, size.width / 2, size.height / 2),
      "-": () => zoom(1 / 1.3, size.width / 2, size.height / 2),
      0: () => {
        view = { x: 0, y: 0, zoom: 1 };
        redraw();
      },
      ArrowLeft: () => move(step, 0), ArrowRight: () => move(-step, 0),
      ArrowUp: () => move(0, step), ArrowDown: () => move(0, -step),
    };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", redraw);
  const sized = new ResizeObserver(resize);
  sized.observe(canvas);
  makeLines();
  return {
    redraw,
    /** @param {Drawing} next */
    choose(next) {
      drawing = next;
      redraw();
    },
    stop() {
      cancelAnimationFrame(asked);
      dark.removeEventListener("change", redraw);
      sized.disconnect();
    },
  };
}

/**
 * What a session has read of a place, as shades of the map.
 *
 * @type {[State, string][]}
 */
export const READ_SHADES = [["read", "read"], ["partial", "read in part"], ["unread", "not read"]];

/**
 * Returns the state of a place of which some nodes were read.
 *
 * @param {Place} place
 * @param {number} nodes
 * @returns {State}
 */
export function readState(place, nodes) {
  return nodes >= place.nodes ? "read" : nodes ? "partial" : "unread";
}

/** @param {Place} place */
export function title(place) {
  const name = place.partitions.length === 1 ? `P${place.partitions[0]}` : `${place.partitions.length} partitions`;
  return place.label ? `${name} ${place.label}` : name;
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
