// @ts-check
/** Documents of a graph that was made of files: listed, shown, and deleted with proof. */

import { get, path, remove } from "../api.js";
import { counted, figure, fill, h, problem, strip, table } from "../dom.js";
import { confirmed } from "../help.js";
import { mayChange, mayChangeAll } from "../rights.js";
import { uploadArea } from "./upload.js";

/** @param {import("../app.js").Page} page */
export async function documentsView(page) {
  const { view, graph } = page;
  const first = graph ? await get(path(["graphs", graph, "documents"])) : { total: 0, after: null, documents: [] };
  const count = h("p");
  const rows = h("div");
  const more = h("button", { type: "button", class: "act", onclick: () => load() }, "More");
  let after = first.after;
  /** @type {any[]} */
  let listed = [];

  /** @param {any} told */
  function take(told) {
    listed = [...listed, ...told.documents];
    after = told.after;
    fill(count, `${counted(told.total, "document")}.`);
    fill(rows, table("Documents", ["Document", "Chunks", "Bytes"], listed.map((one) => [
      h("a", { href: `/document?graph=${encodeURIComponent(graph)}&id=${encodeURIComponent(one.id)}` }, one.id),
      figure(one.chunks), figure(one.size),
    ]), [1, 2]));
    more.hidden = after === null;
  }

  async function load() {
    take(await get(path(["graphs", graph, "documents"], { after })));
  }

  /**
   * @param {string} into
   * @param {boolean} well
   */
  async function refresh(into, well) {
    if (into === fixed) {
      [listed, after] = [[], null];
      await load();
      return;
    }
    const open = () => page.renew(`/documents?graph=${encodeURIComponent(into)}`);
    if (well) await open();
    else fill(rows, h("button", { type: "button", class: "act", onclick: open }, `Documents of ${into}`));
  }

  const fixed = first.total ? graph : "";
  const add = mayChange(page.me) ? await uploadArea(page, fixed, refresh) : null;
  const terminal = h("p", { class: "note" }, "In a terminal, ",
    h("code", {}, `pgs ingest FOLDER --graph ${fixed || "NAME"}`), " adds and updates documents as well.");
  if (!first.total) {
    fill(view, h("h1", {}, "Documents"),
      h("p", {}, graph ? `${graph} was not made of files. Its nodes are those of your database.` : "There is no graph yet."),
      add, rows, terminal);
    return;
  }
  take(first);
  fill(view, h("h1", {}, `Documents of ${graph}`), count, add, terminal, rows, more);
}

/** @param {import("../app.js").Page} page */
export async function documentView(page) {
  const { view, query, graph, me } = page;
  const id = query.get("id") || "";
  const one = await get(path(["graphs", graph, "document"], { id }));
  const unproven = one.chunks.filter((/** @type {any} */ chunk) => chunk.proven === false).length;
  const told = h("section", { "aria-live": "polite" });
  const forget = h("input", { type: "checkbox", id: "forget" });

  async function destroy() {
    const also = forget.checked ? " Its text also goes from answers that quote it." : "";
    if (!(await confirmed(`Delete ${id} and everything that stood only in it?${also}`, "Delete"))) return;
    fill(told, h("p", { class: "note" }, "Deleting, and searching the database for its text…"));
    try {
      drawProof(told, await remove(path(["graphs", graph, "document"], { id, forget: forget.checked ? "true" : "" })));
    } catch (error) {
      fill(told, problem(/** @type {any} */ (error)));
    }
  }

  fill(view,
    h("h1", {}, one.name || one.id),
    strip([
      ["Chunks", figure(one.chunks.length)], ["Bytes", figure(one.size)],
      ["Entities", figure(one.entities)], ["Relations", figure(one.relations)],
    ]),
    one.unread.length ? h("p", { class: "note" }, `Read only in part: ${one.unread.join("; ")}.`) : null,
    unproven ? h("p", { class: "note" }, `Shown to the model, unproven: ${counted(unproven, "chunk")}.`) : null,
    one.stale.length ? h("p", { class: "note" }, `Stale: ${one.stale.join("; ")}. Ingest it again with --refresh.`) : null,
    mayChange(me) ? h("div", { class: "tools" },
      mayChangeAll(me) && h("label", { class: "inline", for: "forget" }, forget, "Remove its text from answers too"),
      h("button", { type: "button", class: "act", onclick: destroy }, "Delete")) : null,
    told,
    h("h2", {}, "Chunks"),
    table("Chunks", ["Chunk", "Where", "Characters", "Entities", "Relations"], one.chunks.map((/** @type {any} */ chunk) => [
      figure(chunk.index + 1),
      [...chunk.path, chunk.page ? `page ${chunk.page}` : ""].filter(Boolean).join(" › "),
      figure(chunk.characters), figure(chunk.entities), figure(chunk.relations),
    ]), [0, 2, 3, 4]));
}

/**
 * @param {HTMLElement} place
 * @param {any} done
 */
function drawProof(place, done) {
  fill(place,
    h("h2", {}, "Deleted"),
    h("p", {}, `${counted(done.chunks, "chunk")}, ${counted(done.entities, "entity", "entities")}, and ${counted(done.relations, "relation")} went with it; `
      + `${counted(done.replies, "stored reply", "stored replies")} and ${counted(done.descriptions, "description")} as well.`),
    h("p", {}, done.sentences
      ? `${counted(done.sentences, "sentence")} that stood only there were looked for in ${figure(done.scanned)} characters of the database: `
        + (done.held ? `${counted(done.held, "place")} still hold them.` : "nothing holds them.")
      : "Nothing could be looked for: its sentences are too short or stand elsewhere as well."),
    done.holders.length ? h("ul", {}, done.holders.map((/** @type {any} */ one) => h("li", {}, `${one.kind} ${one.id}, ${one.place}`))) : null,
    done.quoting.length ? [h("h3", {}, "Answers that quote it"), h("ul", {}, done.quoting.map((/** @type {any} */ run) =>
      h("li", {}, h("a", { href: `/run?id=${run.run}` }, run.question), run.forgotten ? ": its text was removed" : "")))] : null);
}
