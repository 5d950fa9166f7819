// @ts-check
/** The map of a graph in a notebook: colors by what was read, and tells which place was picked. */

import { drawBoard } from "../web/static/map/canvas.js";
import { counted, figure, fill, h, legend, table, unprovenAside, unprovenNote } from "../web/static/dom.js";
import { readShades, readState, title } from "../web/static/map/places.js";

/** @param {{model: any, el: HTMLElement}} cell */
function render({ model, el }) {
  /** @type {import("../web/static/map/places.js").Atlas} */
  const atlas = model.get("atlas");
  /** @param {import("../web/static/map/places.js").Place} place */
  const readOf = (place) => model.get("read")[atlas.places.indexOf(place)] || 0;
  /** @param {import("../web/static/map/places.js").Place} place */
  const unprovenOf = (place) => (model.get("unproven") || [])[atlas.places.indexOf(place)] || 0;
  /** @param {import("../web/static/map/places.js").Place} place */
  const stateOf = (place) => readState(place, readOf(place), unprovenOf(place));
  const picked = h("p", { class: "picked", "aria-live": "polite" });
  /** @param {import("../web/static/map/places.js").Place} place */
  const pick = (place) => {
    fill(picked, `${title(place)}: ${counted(place.nodes, "node")}, ${figure(readOf(place))} read${unprovenNote(unprovenOf(place))}`);
    model.set("place", place.id);
    model.set("partition", atlas.level ? null : place.id);
    model.save_changes();
  };
  const drawing = () => (model.get("drawing") === "network" ? "network" : "areas");
  const board = h("div", { class: "board" });
  const drawn = drawBoard(board, atlas, { drawing: drawing(), stateOf, onPick: pick });
  const list = h("div");
  const relist = () => fill(list, table("Places of the map", ["Partition", "Nodes", "Read"],
    atlas.places.map((place) => [
      h("button", { type: "button", class: "link", onclick: () => pick(place) }, title(place)),
      figure(place.nodes), `${figure(readOf(place))}${unprovenAside(unprovenOf(place))}`,
    ]), [1, 2]));
  const keys = h("div");
  const rekey = () => fill(keys, legend(readShades(atlas.places.some(unprovenOf))));
  const recolor = () => {
    relist();
    rekey();
    drawn.redraw();
  };
  const redraw = () => drawn.choose(drawing());
  relist();
  rekey();
  // The keys of the map are not those of the notebook.
  const widget = h("div", { class: "pgs-map", "data-lm-suppress-shortcuts": "true" },
    board, keys, picked, h("details", {}, h("summary", {}, "As a list"), list));
  widget.addEventListener("keydown", (event) => event.stopPropagation());
  fill(el, widget);
  model.on("change:read", recolor);
  model.on("change:unproven", recolor);
  model.on("change:drawing", redraw);
  return () => {
    model.off("change:read", recolor);
    model.off("change:unproven", recolor);
    model.off("change:drawing", redraw);
    drawn.stop();
  };
}

export default { render };
