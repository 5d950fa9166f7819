// @ts-check
/** Takes files that are dropped or chosen, and has them ingested by a job. */

import { get, path, post, remove, send } from "../api.js";
import { droppedFiles, refusal } from "./dropping.js";
import { badge, counted, figure, fill, h, money, problem, sentence, table } from "../dom.js";
import { confirmed } from "../help.js";
import { watchJob } from "../progress.js";

const MOST_SHOWN = 20;
/** Classes of the style sheet by what became of a document. */
const KINDS = { failed: "failed", waiting: "warn", added: "confirmed", changed: "confirmed", moved: "confirmed" };

/**
 * Returns a place for files. `onDone` is called with the graph after an ingestion, and whether all
 * went well. Without a `fixed` graph, a name is asked for.
 *
 * @param {import("../app.js").Page} page
 * @param {string} fixed
 * @param {(graph: string, well: boolean) => void} onDone
 */
export async function uploadArea(page, fixed, onDone) {
  const rules = await get(path(["uploads"]));
  const told = h("div", { "aria-live": "polite" });
  const ended = h("div");
  const graph = page.me.graphs ? ownNames(page) : h("input", { id: "into", required: true, maxlength: 55, pattern: "[A-Za-z0-9][A-Za-z0-9_.\\-]*" });
  if (fixed || !page.me.graphs) graph.value = fixed || "documents";
  const files = h("input", { id: "files", type: "file", multiple: true, accept: rules.endings.join(","), onchange: () => {
    carry([...files.files || []].map((file) => ({ name: file.name, file })));
  } });
  const box = h("section", { class: "drop", "aria-label": "Add documents" },
    h("div", { class: "tools" },
      fixed ? null : h("label", { for: "into" }, "Graph to make of them", graph),
      h("label", { for: "files" }, "Drop files or folders here, or choose files", files)),
    h("p", { class: "note" }, `${rules.endings.length ? `${rules.endings.join(", ")}; at` : "At"} most ${figure(rules.most_bytes / 1e6, 3)} MB each. `,
      "A file of a name that is there updates its document, and costs nothing if it did not change."),
    told, ended);
  let busy = false;

  /** @param {DragEvent} event */
  function over(event) {
    event.preventDefault();
    box.classList.toggle("over", event.type === "dragover");
  }

  /** @param {DragEvent} event */
  function drop(event) {
    over(event);
    const moved = event.dataTransfer;
    if (moved) droppedFiles(moved).then(carry, () => page.say("What was dropped cannot be read."));
  }

  const listened = /** @type {const} */ (["dragover", "dragleave"]);
  for (const name of listened) document.addEventListener(name, over);
  document.addEventListener("drop", drop);
  page.leave(() => {
    for (const name of listened) document.removeEventListener(name, over);
    document.removeEventListener("drop", drop);
  });

  /** @param {import("./dropping.js").Chosen[]} chosen */
  async function carry(chosen) {
    if (busy || !chosen.length) return;
    if (!graph.reportValidity()) return;
    busy = files.disabled = true;
    try {
      fill(ended);
      await ingest(chosen, graph.value);
    } catch (error) {
      fill(told, problem(/** @type {any} */ (error)));
    } finally {
      files.value = "";
      busy = files.disabled = false;
    }
  }

  /**
   * @param {import("./dropping.js").Chosen[]} chosen
   * @param {string} into
   */
  async function ingest(chosen, into) {
    const { uploads, refused } = await sendAll(chosen, into);
    fill(ended, refusedList(refused));
    if (!uploads.length) {
      fill(told, h("p", {}, "Nothing was ingested."));
      return;
    }
    if (!(await agreed(into, uploads))) {
      await Promise.all(uploads.map((id) => remove(path(["uploads", id]))));
      fill(told, h("p", {}, "Nothing was ingested."));
      return;
    }
    const end = await watchJob(page, told, await post(path(["graphs", into, "ingestions"]), { uploads }));
    if (!end) return;
    fill(ended, outcomeTable(into, end), refusedList(refused));
    onDone(into, !refused.length && end.outcome !== "partial");
  }

  /**
   * Sends files one after the other. One that is refused leaves the others alone.
   *
   * @param {import("./dropping.js").Chosen[]} chosen
   * @param {string} into
   */
  async function sendAll(chosen, into) {
    /** @type {string[]} */
    const uploads = [];
    /** @type {[string, string][]} */
    const refused = [];
    for (const [place, one] of chosen.slice(0, rules.most_files).entries()) {
      fill(told, h("p", {}, `Sending ${figure(place + 1)} of ${figure(chosen.length)}: ${one.name}`));
      let why = refusal(one, rules);
      try {
        if (!why) uploads.push((await send(path(["graphs", into, "uploads"], { name: one.name }), one.file)).id);
      } catch (error) {
        const known = /** @type {import("../api.js").ApiError} */ (error);
        if (![0, 413, 422].includes(known.status)) throw error;
        why = [known.message, known.fix].filter(Boolean).join("; ");
      }
      if (why) refused.push([one.name, why]);
    }
    const more = chosen.length - rules.most_files;
    if (more > 0) refused.push([counted(more, "file"), `at most ${rules.most_files} are taken at once; drop the others afterwards`]);
    return { uploads, refused };
  }

  /**
   * Asks before an ingestion that may cost more than the server's limit.
   *
   * @param {string} into
   * @param {string[]} uploads
   */
  async function agreed(into, uploads) {
    const most = page.me.confirm_cost;
    if (most === null || most === undefined) return true;
    fill(told, h("p", { class: "note" }, "Planning…"));
    const { high } = await post(path(["graphs", into, "ingestions", "plan"]), { uploads });
    return high === null || high <= most
      || confirmed(`This may cost ${money(high)}, more than ${money(most)}. Ingest it?`, "Ingest");
  }

  return box;
}

/** @param {[string, string][]} refused */
function refusedList(refused) {
  if (!refused.length) return null;
  const more = refused.length - MOST_SHOWN;
  return h("div", { class: "problem", role: "alert" },
    h("p", {}, `${counted(refused.length, "file")} ${refused.length === 1 ? "was" : "were"} not taken:`),
    h("ul", {}, refused.slice(0, MOST_SHOWN).map(([name, why]) => h("li", {}, h("b", {}, name), `: ${sentence(why)}`))),
    more > 0 ? h("p", {}, `And ${figure(more)} more.`) : null);
}

/**
 * @param {string} graph
 * @param {any} end
 */
function outcomeTable(graph, end) {
  const states = Object.entries(end.states).map(([state, count]) => `${figure(/** @type {number} */ (count))} ${state}`);
  return h("div", {},
    h("p", {}, `${sentence(states.join(", ") || "no document")}${end.cost ? ` It cost ${money(end.cost)}.` : ""} `,
      h("a", { href: `/job?id=${encodeURIComponent(end.record)}` }, "The record of the job")),
    end.notes.map((/** @type {string} */ note) => h("p", { class: "note" }, sentence(note))),
    table("What became of the files", ["Document", "State", "Chunks", "Why"], end.documents.map((/** @type {any} */ one) => [
      one.state === "failed" ? one.id : h("a", { href: `/document?graph=${encodeURIComponent(graph)}&id=${encodeURIComponent(one.id)}` }, one.id),
      badge(one.state, KINDS[/** @type {keyof typeof KINDS} */ (one.state)] || ""), figure(one.chunks), one.reason || one.note,
    ]), [2]));
}

/**
 * Returns a choice among the only names that the caller may give; one that is free comes first.
 *
 * @param {import("../app.js").Page} page
 */
function ownNames({ me, graphs }) {
  const taken = new Set(graphs.map((one) => one.name));
  const names = [...me.graphs].sort((one, other) => Number(taken.has(one)) - Number(taken.has(other)));
  return h("select", { id: "into" }, names.map((name) => h("option", { value: name }, name)));
}
