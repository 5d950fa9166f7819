// @ts-check
/** Files that are chosen or dropped, folders included, under the names that `pgs ingest` gives them. */

/** @typedef {{name: string, file: File}} Chosen */

/** What may be dropped, read before the browser takes it away. @param {DataTransfer} moved */
export async function droppedFiles(moved) {
  const entries = [...moved.items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => !!entry);
  if (!entries.length) return [...moved.files].map((file) => ({ name: file.name, file }));
  const found = await Promise.all(entries.map((entry) =>
    entry.isDirectory ? below(/** @type {FileSystemDirectoryEntry} */ (entry), "") : named(entry, "")));
  return found.flat();
}

/**
 * Returns the files of a folder by their paths below it; hidden ones are left out.
 *
 * @param {FileSystemDirectoryEntry} folder
 * @param {string} way
 * @returns {Promise<Chosen[]>}
 */
async function below(folder, way) {
  const reader = folder.createReader();
  /** @type {FileSystemEntry[]} */
  const listed = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    listed.push(...some);
  }
  const shown = listed.filter((entry) => !entry.name.startsWith("."));
  const found = await Promise.all(shown.map((entry) => entry.isDirectory
    ? below(/** @type {FileSystemDirectoryEntry} */ (entry), `${way}${entry.name}/`) : named(entry, way)));
  return found.flat();
}

/**
 * @param {FileSystemEntry} entry
 * @param {string} way
 * @returns {Promise<Chosen[]>}
 */
async function named(entry, way) {
  const place = /** @type {FileSystemFileEntry} */ (entry);
  const file = await new Promise((resolve, reject) => place.file(resolve, reject));
  return [{ name: way + entry.name, file }];
}

/**
 * Returns why a file is not sent; "" if it is.
 *
 * @param {Chosen} chosen
 * @param {{endings: string[], most_bytes: number}} rules
 */
export function refusal({ name, file }, rules) {
  const ending = /\.[^./]+$/.exec(name)?.[0].toLowerCase() || "";
  if (rules.endings.length && !rules.endings.includes(ending)) {
    return `no reader takes ${ending || "a file without an ending"}; the endings that can be read are ${rules.endings.join(", ")}`;
  }
  if (!file.size) return "it is empty";
  const most = rules.most_bytes / 1e6;
  return file.size > rules.most_bytes ? `it is larger than ${most} MB; raise max_document_mb, or split it` : "";
}
