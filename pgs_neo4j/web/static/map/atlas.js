// @ts-check
/** The map of a graph: its partitions, what a session has read of them, and their members. */

import { get, path } from "../api.js";
import { mapArcs } from "./arcs.js";
import { drawBoard } from "./canvas.js";
import { COLORS, coloring } from "./coloring.js";
import { counted, figure, fill, h, legend, sentence, table, unprovenNote } from "../dom.js";
import { openNode } from "../panel.js";
import { title } from "./places.js";

const PAGE = 50;
/** Partitions that the list below a map tells of at first, and again with each "More". */
const LISTED = 200;

/** @param {import("../app.js").Page} page */
export async function mapView(page) {
  const { view, query, graph } = page;
  if (!graph) {
    fill(view, h("h1", {}, "Map"), h("p", {}, "There is no graph yet. ", h("a", { href: "/graphs" }, "Add one.")));
    return;
  }
  view.className = "wide";
  const within = query.get("within");
  const session = query.get("session") || "default";
  /** @type {import("./places.js").Atlas} */
  const atlas = await get(path(["graphs", graph, "map"], { within }));
  const sessions = await get(path(["sessions"], { graph }));
  /** @type {Map<number, any>} what is known of the partitions that are listed so far */
  const about = new Map();
  /** @type {Map<number, any>} */
  const read = new Map();
  for (const one of await get(path(["graphs", graph, "read"], { session }))) read.set(one.partition, one);

  /** @param {import("./places.js").Place} place */
  const readOf = (place) => place.partitions.reduce((sum, id) => sum + (read.get(id)?.nodes_read || 0), 0);
  /** @param {import("./places.js").Place} place */
  const unprovenOf = (place) => place.partitions.reduce((sum, id) => sum + (read.get(id)?.nodes_unproven || 0), 0);
  /** @param {import("./places.js").Place} place */
  const pick = (place) => {
    if (atlas.level) page.go(way({ within: String(place.id) }));
    else openNamed(page, place.partitions[0], about.get(place.partitions[0]));
  };
  /** @param {Record<string, string | null>} changes */
  const way = (changes) => {
    const next = new URLSearchParams(query);
    next.set("graph", graph);
    for (const [name, value] of Object.entries(changes)) {
      if (value) next.set(name, value);
      else next.delete(name);
    }
    return `/map?${next}`;
  };

  const board = h("div", { class: "board tall" });
  const network = query.get("as") === "network";
  const wish = query.get("color") || "read";
  const shown = await coloring(graph, wish, atlas, readOf, unprovenOf);
  const keys = h("div");
  const arcs = mapArcs(page, atlas, session, (name, on) => {
    if (on) query.set(name, "on");
    else query.delete(name);
    page.rename(way({}));
    fill(keys, arcs.legend());
    drawn.redraw();
  });
  await arcs.load();
  const drawn = drawBoard(board, atlas, {
    drawing: network ? "network" : "areas", stateOf: shown.stateOf, onPick: pick, arcs: arcs.drawn,
  });
  page.leave(drawn.stop);
  const names = [...new Set(["default", session, ...sessions.map((/** @type {any} */ one) => one.session)])];
  const choice = h("select", { id: "of", onchange: () => page.go(way({ session: choice.value })) },
    names.map((name) => h("option", { value: name, selected: name === session }, name)));
  const colors = h("select", { id: "by", onchange: () => page.go(way({ color: colors.value })) },
    Object.entries(COLORS).filter(([name]) => name !== "drift" || page.me.role !== "reader").map(([name, means]) =>
      h("option", { value: name, selected: name === wish }, means)));
  const total = atlas.places.reduce((sum, place) => sum + place.nodes, 0);
  const done = atlas.places.reduce((sum, place) => sum + readOf(place), 0);
  const unproven = atlas.places.reduce((sum, place) => sum + unprovenOf(place), 0);
  const list = h("div");
  const more = h("button", { type: "button", class: "act", onclick: () => {
    more.disabled = true;
    listMore().catch((error) => page.say(sentence(error.message))).finally(() => {
      more.disabled = false;
    });
  } }, "List more");
  let listed = 0;
  /** @type {number | null} */
  let after = null;

  /** Lists more places, both they and the partitions of a page with the largest first. */
  async function listMore() {
    if (!atlas.level) {
      const told = await get(path(["graphs", graph, "partitions"], { within, after, limit: LISTED }));
      for (const part of told.partitions) about.set(part.id, part);
      after = told.after;
    }
    listed += LISTED;
    fill(list, table("Places of the map", ["Partition", "Nodes", shown.head, "Keywords"], atlas.places.slice(0, listed).map((place) => [
      h("button", { type: "button", class: "link", onclick: () => pick(place) }, title(place)),
      figure(place.nodes), shown.told(place),
      (about.get(place.partitions[0])?.keywords || []).slice(0, 8).join(", "),
    ]), [1, 2]));
    more.hidden = listed >= atlas.places.length;
  }

  await listMore();
  fill(keys, arcs.legend());
  fill(view,
    h("h1", {}, `Map of ${graph}`),
    h("div", { class: "tools" },
      h("label", { for: "by" }, "Colors", colors),
      h("label", { for: "of" }, "Session", choice),
      arcs.tools,
      h("a", { class: "act", href: way({ as: network ? null : "network" }) }, network ? "Show areas" : "Show the network"),
      within ? h("a", { class: "act", href: way({ within: null }) }, "All of the graph") : null),
    h("p", { class: "note" },
      `${counted(atlas.places.length, atlas.level ? "group" : "partition")}${atlas.level ? " of partitions" : ""}, `,
      `${figure(done)} of ${counted(total, "node")} read in session ${session}${unprovenNote(unproven)}.`, shown.note,
      atlas.level ? " The graph is large, so partitions are in groups; open one to see them." : ""),
    board,
    legend(shown.shades), keys,
    h("h2", {}, "As a list"),
    list, more, arcs.lists);
  const wanted = Number(query.get("partition"));
  if (wanted) await openNamed(page, wanted, about.get(wanted));
}

/**
 * Opens a partition, which the list may not tell of yet.
 *
 * @param {import("../app.js").Page} page
 * @param {number} id
 * @param {any} part
 */
async function openNamed(page, id, part) {
  try {
    await openPartition(page, id, part || await get(path(["graphs", page.graph, "partitions", id])));
  } catch (error) {
    page.say(sentence(/** @type {Error} */ (error).message));
  }
}

/**
 * Opens a partition beside the view: what it is about, its neighbors, and its members by weight.
 *
 * @param {import("../app.js").Page} page
 * @param {number} id
 * @param {any} part
 */
export async function openPartition(page, id, part) {
  const { panel, graph } = page;
  panel.hidden = false;
  const list = h("ul", { class: "found" });
  const more = h("button", { type: "button", class: "act", onclick: () => load() }, "More");
  const heading = h("h2", { class: "title", tabindex: "-1" }, `P${id}${part?.label ? ` ${part.label}` : ""}`);
  fill(panel,
    closer(panel), heading,
    part ? h("p", { class: "note" }, `${counted(part.nodes, "node")}, ${figure(part.tokens)} tokens${part.pool ? ", a pool" : ""}`) : null,
    part?.abstract ? h("p", {}, part.abstract) : null,
    part?.keywords?.length ? h("p", { class: "note" }, part.keywords.join(", ")) : null,
    h("h2", {}, "Members, the heaviest first"), list, more,
    part?.adjacent?.length ? [
      h("h2", {}, "Neighboring partitions"),
      table("Neighboring partitions", ["Partition", "Relationships"], part.adjacent.map((/** @type {any} */ one) => [
        h("a", { href: `/map?graph=${encodeURIComponent(graph)}&partition=${one.partition}` }, `P${one.partition}`),
        figure(one.relationships),
      ]), [1]),
    ] : null);
  heading.focus();
  /** @type {number | null} */
  let after = null;
  async function load() {
    const told = await get(path(["graphs", graph, "partitions", id, "members"], { after, limit: PAGE }));
    list.append(...told.members.map((/** @type {any} */ one) => h("li", {},
      h("button", { type: "button", class: "link", onclick: () => openNode(page, one.element_id) }, one.title || "Untitled"),
      h("span", { class: "note" }, ` ${one.labels.join(", ")}`))));
    after = told.after;
    more.hidden = after === null;
  }
  await load();
}

/** @param {HTMLElement} panel */
export function closer(panel) {
  return h("button", { type: "button", class: "close", onclick: () => {
    panel.hidden = true;
  } }, "Close");
}
