// @ts-check
/** What a caller may do here. The server decides; the page only leaves out what it would refuse. */

/** @typedef {{role: string, read_only: boolean}} Me */

/**
 * Returns whether a caller may ask questions.
 *
 * @param {Me} me
 */
export function mayAsk(me) {
  return me.role !== "reader" && !me.read_only;
}

/**
 * Returns whether a caller may add graphs and documents, and start jobs.
 *
 * @param {Me} me
 */
export function mayChange(me) {
  return me.role === "operator" && !me.read_only;
}
