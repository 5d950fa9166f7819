// @ts-check
/** Generations: how a graph was partitioned over time, and what became of each partition. */

import { get, path } from "../api.js";
import { counted, figure, fill, h, moment, s, table } from "../dom.js";

const MOST_DRAWN = 40;
const WIDE = 640;
const GAP = 5;
const TALL = 360;

/** @param {import("../app.js").Page} page */
export async function generationsView(page) {
  const { view, query, graph } = page;
  /** @type {any[]} */
  const stored = graph ? await get(path(["graphs", graph, "generations"])) : [];
  const listed = stored.filter((one) => !one.damaged);
  const damaged = stored.filter((one) => one.damaged).map((one) =>
    h("p", { class: "problem" }, `${one.id} is damaged: ${one.damaged}.`));
  if (!stored.length) {
    fill(view, h("h1", {}, "Generations"), h("p", {}, "The graph has no partitions yet. The first question makes them."));
    return;
  }
  if (!listed.length) {
    fill(view, h("h1", {}, `Generations of ${graph}`), damaged);
    return;
  }
  const after = query.get("after") || listed[0].id;
  const before = query.get("before") || listed[1]?.id || "";
  const flow = h("section", { "aria-label": "Lineage" });
  fill(view,
    h("h1", {}, `Generations of ${graph}`),
    table("Generations", ["Generation", "Made", "How", "Nodes", "Partitions", "Modularity", "Conductance", "Split, merged"],
      listed.map((/** @type {any} */ one) => [
        one.id, moment(one.created_at), `${one.algorithm}, ${one.origin}`, figure(one.node_count), figure(one.partition_count),
        figure(one.modularity, 3), figure(one.conductance, 3), `${figure(one.split)}, ${figure(one.merged)}`,
      ]), [3, 4, 5, 6]),
    damaged,
    report(listed[0]),
    h("h2", {}, "What became of the partitions"),
    listed.length > 1 ? choices() : h("p", {}, "There is one generation. The next repartition makes a second one to compare with."),
    flow);
  if (before && before !== after) {
    drawFlow(graph, flow, await get(path(["graphs", graph, "generations", "compare"], { before, after })));
  }

  function choices() {
    const from = choice("before", "From", before);
    const to = choice("after", "To", after);
    return h("div", { class: "tools" }, from, to);
  }

  /**
   * @param {string} name
   * @param {string} label
   * @param {string} chosen
   */
  function choice(name, label, chosen) {
    const field = h("select", { id: name, onchange: () => {
      const next = new URLSearchParams({ graph, before, after });
      next.set(name, field.value);
      page.go(`/generations?${next}`);
    } }, listed.map((/** @type {any} */ one) => h("option", { value: one.id, selected: one.id === chosen }, `${one.id}, ${moment(one.created_at)}`)));
    return h("label", { for: name }, label, field);
  }
}

/** @param {any} one */
function report(one) {
  const issues = Object.entries(one.issues).filter(([, count]) => count);
  const steps = Object.entries(one.seconds).map(([name, seconds]) => `${name} ${figure(seconds, 1)} s`);
  return h("details", {},
    h("summary", {}, "Report of the latest"),
    h("dl", { class: "record" }, [
      ["Relationships", figure(one.relationship_count)],
      ["Sizes", one.sizes.length ? `${figure(Math.min(...one.sizes))} to ${counted(Math.max(...one.sizes), "node")}` : "–"],
      ["Pooled nodes", figure(one.pooled_nodes)],
      ...(one.documents_together == null ? []
        : [["Passages where most of their document is", `${figure(100 * one.documents_together)} %`]]),
      ["Modularity before limits", figure(one.raw_modularity, 3)],
      ["Levels above", one.levels.map((/** @type {number} */ units) => figure(units)).join(", ") || "none"],
      ["Embeddings", one.embedder ? `${one.embedder}, ${figure(one.dimensions)} dimensions` : "none"],
      ["Steps", steps.join(", ") || "–"],
      ["To note", issues.map(([name, count]) => `${name.replaceAll("_", " ")}: ${figure(/** @type {number} */ (count))}`).join("; ") || "nothing"],
    ].flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
}

/**
 * Draws partitions of two generations side by side, joined by their lineage; the table says the same.
 *
 * @param {string} graph
 * @param {HTMLElement} place
 * @param {any[]} changes
 */
function drawFlow(graph, place, changes) {
  const drawn = changes.slice(0, MOST_DRAWN);
  const kinds = { same: 0, grew: 0, shrank: 0, new: 0, gone: 0 };
  for (const one of changes) kinds[became(one)] += 1;
  fill(place,
    h("p", {}, `${figure(kinds.same)} of the same size, ${figure(kinds.grew)} grew, ${figure(kinds.shrank)} shrank, `
      + `${figure(kinds.new)} new, ${figure(kinds.gone)} gone.`),
    flow(drawn),
    changes.length > drawn.length ? h("p", { class: "note" }, `The largest ${figure(drawn.length)} are drawn; the table has all.`) : null,
    table("Lineages", ["Label", "Before", "After", "Nodes before", "Nodes after", "Change"], changes.map((one) => [
      one.label, one.before === null ? "–" : `P${one.before}`,
      one.after === null ? "–" : h("a", { href: `/map?graph=${encodeURIComponent(graph)}&partition=${one.after}` }, `P${one.after}`),
      figure(one.size_before), figure(one.size_after), became(one),
    ]), [3, 4]));
}

/**
 * @param {any} one
 * @returns {"same" | "grew" | "shrank" | "new" | "gone"}
 */
function became(one) {
  if (one.before === null) return "new";
  if (one.after === null) return "gone";
  if (one.size_before === one.size_after) return "same";
  return one.size_after > one.size_before ? "grew" : "shrank";
}

/** @param {any[]} changes */
function flow(changes) {
  const left = stack(changes, "before", "size_before");
  const right = stack(changes, "after", "size_after");
  const bands = changes.filter((one) => left.has(one.lineage) && right.has(one.lineage));
  return s("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, class: "flow", role: "img",
    "aria-label": `${counted(left.size, "partition")} before, ${figure(right.size)} after` },
  bands.map((one) => {
    const [from, to] = [left.get(one.lineage), right.get(one.lineage)];
    if (!from || !to) return null;
    const middle = WIDE / 2;
    return s("path", { class: "band", d: `M 90 ${from.y} C ${middle} ${from.y} ${middle} ${to.y} ${WIDE - 90} ${to.y} `
      + `V ${to.y + to.tall} C ${middle} ${to.y + to.tall} ${middle} ${from.y + from.tall} 90 ${from.y + from.tall} Z` },
    s("title", {}, `${one.label}: P${one.before}, now P${one.after}`));
  }),
  side(changes, left, "before", 78, "end"),
  side(changes, right, "after", WIDE - 90, "start"));
}

/**
 * @param {any[]} changes
 * @param {Map<string, {y: number, tall: number}>} boxes
 * @param {"before" | "after"} when
 * @param {number} x
 * @param {string} anchor
 */
function side(changes, boxes, when, x, anchor) {
  return changes.flatMap((one) => {
    const box = boxes.get(one.lineage);
    if (!box) return [];
    const alone = one.before === null || one.after === null ? " alone" : "";
    return [
      s("rect", { class: `block${alone}`, x, y: box.y, width: 12, height: Math.max(box.tall, 1) }),
      box.tall < 11 ? null : s("text", { x: anchor === "end" ? x - 6 : x + 18, y: box.y + box.tall / 2 + 4, "text-anchor": anchor }, `P${one[when]}`),
    ];
  });
}

/**
 * Places the partitions of one generation below one another, each as tall as its share of the nodes.
 *
 * @param {any[]} changes
 * @param {"before" | "after"} when
 * @param {"size_before" | "size_after"} size
 * @returns {Map<string, {y: number, tall: number}>}
 */
function stack(changes, when, size) {
  const here = changes.filter((one) => one[when] !== null).sort((one, other) => one[when] - other[when]);
  const total = here.reduce((sum, one) => sum + one[size], 0) || 1;
  const room = TALL - GAP * (here.length + 1);
  const boxes = new Map();
  let y = GAP;
  for (const one of here) {
    const tall = (room * one[size]) / total;
    boxes.set(one.lineage, { y, tall });
    y += tall + GAP;
  }
  return boxes;
}
