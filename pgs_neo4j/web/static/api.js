// @ts-check
/** Speaks with the server: requests, files, and the streams of runs and jobs. */

/** An answer of the server that is not the one asked for. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {{error?: string, code?: string, fix?: string}} body
   */
  constructor(status, body) {
    super(body.error || `the server answered ${status}`);
    this.status = status;
    this.code = body.code || "";
    this.fix = body.fix || "";
  }
}

/** @param {string} path */
export function get(path) {
  return request("GET", path);
}

/**
 * @param {string} path
 * @param {object} [body]
 * @param {Record<string, string>} [headers]
 */
export function post(path, body = {}, headers = {}) {
  return request("POST", path, JSON.stringify(body), headers);
}

/**
 * Sends a file. No form can send its content type, so that no other site can either.
 *
 * @param {string} path
 * @param {Blob} file
 */
export function send(path, file) {
  return request("POST", path, file, { "Content-Type": "application/octet-stream" });
}

/** @param {string} path */
export function remove(path) {
  return request("DELETE", path);
}

/**
 * Returns a path of the API; each part is encoded, and so are the values of the query.
 *
 * @param {(string | number)[]} parts
 * @param {Record<string, string | number | null | undefined>} [query]
 */
export function path(parts, query = {}) {
  const asked = Object.entries(query)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  const way = parts.map((part) => encodeURIComponent(part)).join("/");
  return `/api/${way}${asked.length ? `?${asked.join("&")}` : ""}`;
}

/** @returns {string} a key that no other request has */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param {string} method
 * @param {string} way
 * @param {string | Blob} [body]
 * @param {Record<string, string>} [headers]
 * @returns {Promise<any>}
 */
async function request(method, way, body, headers = {}) {
  let answer;
  try {
    answer = await fetch(way, {
      method,
      body,
      headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
    });
  } catch {
    throw new ApiError(0, { error: "the server cannot be reached, or broke off", fix: "is pgs serve running?" });
  }
  const kind = answer.headers.get("Content-Type") || "";
  const told = kind.startsWith("application/json") ? await answer.json() : await answer.text();
  if (!answer.ok) throw new ApiError(answer.status, typeof told === "object" ? told : {});
  return told;
}

/** @typedef {{id: number, name: string, data: any}} Told */

/** Waits between two tries to reach the server again, in milliseconds. */
const WAITS = [500, 1000, 2000, 5000];

/**
 * Follows the events of a run or job until it ends, and returns a function that stops following. A hidden
 * tab gives its connection back, since a browser opens only six; it continues where it was.
 *
 * @param {string} way path of the events
 * @param {(told: Told) => void} onEvent
 * @param {(problem: string) => void} onProblem gets "" when all is well again
 */
export function follow(way, onEvent, onProblem) {
  let last = -1;
  let ended = false;
  let tries = 0;
  /** @type {AbortController | null} */
  let open = null;

  async function read() {
    if (open || ended || document.hidden) return;
    const mine = (open = new AbortController());
    try {
      /** @type {Record<string, string>} */
      const headers = last < 0 ? {} : { "Last-Event-ID": String(last) };
      const answer = await fetch(way, { headers, signal: mine.signal });
      if (answer.status === 204) {
        ended = true;
        return;
      }
      if (!answer.ok || !answer.body) {
        const told = await answer.json().catch(() => ({}));
        ended = answer.status < 500;
        throw new ApiError(answer.status, told);
      }
      onProblem("");
      tries = 0;
      await take(answer.body.pipeThrough(new TextDecoderStream()).getReader());
      ended = true;
    } catch (error) {
      if (!mine.signal.aborted) {
        onProblem(error instanceof ApiError ? error.message : "the connection was lost");
      }
    } finally {
      if (open === mine) open = null;
    }
    if (!ended && !mine.signal.aborted) {
      setTimeout(read, WAITS[Math.min(tries++, WAITS.length - 1)]);
    }
  }

  /** @param {ReadableStreamDefaultReader<string>} reader */
  async function take(reader) {
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) {
        if (!finished) throw new Error("the stream broke off");
        return;
      }
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop() || "";
      for (const block of blocks) tell(block);
    }
  }

  let finished = false;

  /** @param {string} block */
  function tell(block) {
    /** @type {Record<string, string>} */
    const fields = {};
    for (const line of block.split(/\r?\n/)) {
      const colon = line.indexOf(":");
      if (colon < 1) continue;
      const name = line.slice(0, colon);
      const value = line.slice(colon + 1).replace(/^ /, "");
      fields[name] = name in fields ? `${fields[name]}\n${value}` : value;
    }
    if (!("data" in fields)) return;
    last = Number(fields.id);
    const told = { id: last, name: fields.event || "message", data: JSON.parse(fields.data) };
    finished = LAST.includes(told.name) || (told.name === "snapshot" && !LIVE.includes(told.data.state));
    onEvent(told);
  }

  function onVisibility() {
    if (document.hidden) {
      open?.abort();
      open = null;
    } else {
      read();
    }
  }
  document.addEventListener("visibilitychange", onVisibility);
  read();
  return () => {
    ended = true;
    open?.abort();
    document.removeEventListener("visibilitychange", onVisibility);
  };
}

const LAST = ["answered", "ended", "failed", "cancelled", "stopping"];
const LIVE = ["queued", "running"];
