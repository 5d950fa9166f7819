// @ts-check
/** What a caller may do here. The server decides; the page only leaves out what it would refuse. */

/** `graphs` are those that the caller sees; null if it sees all. `scope` has the values of all nodes
 * that it sees.
 *
 * @typedef {{role: string, read_only: boolean, graphs: string[] | null,
 *   scope: Record<string, string | number | boolean>}} Me
 */

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

/**
 * Returns whether a caller may look beyond single graphs: at the database and the setup.
 *
 * @param {Me} me
 */
export function mayLookAround(me) {
  return me.role === "operator" && me.graphs === null;
}

/**
 * Returns whether a caller may change what is beyond single graphs: views of the database, and
 * answers of others.
 *
 * @param {Me} me
 */
export function mayChangeAll(me) {
  return mayLookAround(me) && mayChange(me);
}
