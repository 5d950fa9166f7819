// @ts-check
/** A map on a canvas, as areas or as a network: moved, zoomed, and picked. */

import { counted, h } from "../dom.js";
import { painter } from "./painting.js";
import { WIDTH, placing, title } from "./places.js";

/**
 * @typedef {import("./places.js").Atlas} Atlas
 * @typedef {import("./places.js").Place} Place
 * @typedef {import("./places.js").State} State
 * @typedef {import("./places.js").Drawing} Drawing
 * @typedef {import("./places.js").Arc} Arc
 */

const MOST_ZOOM = 40;
/** Milliseconds without a move after which a picture that was moved is drawn anew. */
const STILL_MS = 100;
/** Milliseconds after which it is also drawn anew while it is moved. */
const OLD_MS = 500;

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
    "aria-label": `Map of ${counted(atlas.places.length, "place")}. The list below shows the same.`,
  });
  const tip = h("p", { class: "tip", hidden: true });
  board.replaceChildren(canvas, tip);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const { placeAt } = placing(atlas);
  const paint = painter(board, context, atlas, options);
  let drawing = options.drawing;
  let view = { x: 0, y: 0, zoom: 1 };
  let size = { width: 0, height: 0, ratio: 1 };
  let asked = 0;
  let drawnFrame = { scale: 1, left: 0, top: 0 };
  let drawnAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let still;

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

  function draw() {
    asked = 0;
    clearTimeout(still);
    drawnFrame = frame();
    drawnAt = performance.now();
    canvas.style.transform = "none";
    paint(drawnFrame, size, drawing);
  }

  /** @param {{x: number, y: number}} at in pixels of the canvas */
  function picked({ x, y }) {
    const { scale, left, top } = frame();
    return placeAt((x - left) / scale, (y - top) / scale, scale, drawing);
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
    const over = picked(at);
    tip.hidden = !over;
    if (over) tip.textContent = `${title(over)}: ${counted(over.nodes, "node")}`;
  });
  canvas.addEventListener("pointerup", (event) => {
    const at = spotOf(event);
    const place = held && !held.far ? picked(at) : undefined;
    held = null;
    if (place) options.onPick(place);
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
