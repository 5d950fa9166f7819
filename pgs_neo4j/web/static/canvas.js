// @ts-check
/** Draws partitions on a canvas, as areas or as a network; moved, zoomed, and picked. */

import { h, short } from "./dom.js";

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

const WIDTH = 1.6;
const MOST_ZOOM = 40;
/** Pixels that a narrow letter takes. */
const LETTER = 5.5;
/** Milliseconds without a move after which a picture that was moved is drawn anew. */
const STILL_MS = 100;
/** Milliseconds after which it is also drawn anew while it is moved. */
const OLD_MS = 500;
/** How arcs are drawn: a color of the style sheet, and dashes in pixels. */
const ARCS = {
  analogy: { color: "--accent", dash: [], points: false },
  chased: { color: "--warn", dash: [], points: true },
  open: { color: "--warn", dash: [5, 4], points: true },
};
/** Shades by state, as names of the style sheet's colors. */
const SHADES = {
  unread: "--unread", routed: "--tint", reading: "--partial", partial: "--partial",
  read: "--read", failed: "--failed", flagged: "--warn-bg",
};
/** States whose shades are light, so that dark text stands on them. */
const LIGHT = ["unread", "routed", "flagged"];
/** @typedef {keyof typeof SHADES} State */
/** The outlines of some, in the same colors. @type {Partial<Record<State, string>>} */
const OUTLINES = { routed: "--accent", flagged: "--warn" };

/**
 * Puts a canvas into an element. `stateOf` says how a place is colored, `onPick` gets the place that
 * was clicked, and `arcs` are drawn over the places. Call `redraw` when one of these has changed.
 *
 * A moved map is the same picture moved by the browser, and drawn anew when it stands still.
 *
 * @param {HTMLElement} board
 * @param {Atlas} atlas
 * @param {{drawing: Drawing, stateOf: (place: Place) => State, onPick: (place: Place) => void,
 *   arcs?: () => Arc[]}} options
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
  let drawnFrame = { scale: 1, left: 0, top: 0 };
  let drawnAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let still;
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

  /** Moves the picture to where the view is now. */
  function shift() {
    const { scale, left, top } = frame();
    const factor = scale / drawnFrame.scale;
    const [x, y] = [left - drawnFrame.left * factor, top - drawnFrame.top * factor];
    canvas.style.transform = `translate(${x}px, ${y}px) scale(${factor})`;
    clearTimeout(still);
    if (performance.now() - drawnAt > OLD_MS) redraw();
    else still = setTimeout(redraw, STILL_MS);
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
    clearTimeout(still);
    drawnFrame = frame();
    drawnAt = performance.now();
    canvas.style.transform = "none";
    const { scale, left, top } = drawnFrame;
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
        const [a, b] = [center(atlas.places[arc.from]), center(atlas.places[arc.to])];
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
    shift();
  }

  /**
   * @param {number} dx
   * @param {number} dy
   */
  function move(dx, dy) {
    const { scale } = frame();
    view.x += dx / scale;
    view.y += dy / scale;
    shift();
  }

  /** @type {{x: number, y: number, far: boolean} | null} */
  let held = null;

  /** @param {MouseEvent} event where the canvas would be if it were not moved */
  function spotOf(event) {
    const box = board.getBoundingClientRect();
    return { x: event.clientX - box.left - board.clientLeft, y: event.clientY - box.top - board.clientTop };
  }

  canvas.addEventListener("pointerdown", (event) => {
    held = { ...spotOf(event), far: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = spotOf(event);
    if (held) {
      const [dx, dy] = [at.x - held.x, at.y - held.y];
      if (held.far || Math.hypot(dx, dy) > 4) {
        held = { ...at, far: true };
        move(dx, dy);
      }
      return;
    }
    const over = placeAt(at.x, at.y);
    tip.hidden = !over;
    if (over) tip.textContent = `${title(over)}: ${over.nodes.toLocaleString("en-US")} nodes`;
  });
  canvas.addEventListener("pointerup", (event) => {
    const at = spotOf(event);
    const picked = held && !held.far ? placeAt(at.x, at.y) : undefined;
    held = null;
    if (picked) options.onPick(picked);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = spotOf(event);
    zoom(Math.exp(-event.deltaY / 400), at.x, at.y);
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
      clearTimeout(still);
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
