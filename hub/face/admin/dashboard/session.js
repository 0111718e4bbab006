// The page's session: the bearer that it was given for the code in its address, or for
// a token. It is kept for this tab alone, and works as long as the hub's process, which
// alone knows it: whoever has the hub's port later learns nothing of use from it.

import { untilDecided } from "./dom.js";
import { lines } from "./lines.js";

const KEY = "tabhub.session";

/** What the admin API answers. */
const TYPES = ["application/json", "text/event-stream", "application/jsonl"];

/** The hub does not know the session, or is not the one that gave it. */
export class SignedOut extends Error {}

/** What answered refuses, and says why. */
export class Refused extends Error {}

/** The page was signed out, or in anew, before the answer came. */
export class Changed extends Error {}

/** @returns {string | null} */
function stored() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null; // the browser keeps nothing
  }
}

let session = stored();

/** Ends what the hub sends to a session that is left. */
let leave = new AbortController();

/** @param {string | null} to */
function keep(to) {
  session = to;
  leave.abort(new Changed());
  leave = new AbortController();
  try {
    if (to === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, to);
  } catch {
    // It lasts until the page is left.
  }
}

export const signedIn = () => session !== null;

/**
 * Asks the hub as whoever has the bearer.
 * @param {string} method
 * @param {string} path
 * @param {string | null} bearer
 * @param {object} [body]
 * @param {AbortSignal} [signal]
 * @param {string} [accept]
 */
function send(method, path, bearer, body, signal, accept = "application/json") {
  const headers = new Headers({ Accept: accept });
  if (bearer !== null) headers.set("Authorization", `Bearer ${bearer}`);
  if (body !== undefined) headers.set("Content-Type", "application/json");
  return fetch(path, {
    method,
    headers,
    body: body && JSON.stringify(body),
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
    signal,
  });
}

/**
 * @param {Response} response
 * @param {any} answer
 */
const reasonOf = (response, answer) => (typeof answer?.error === "string" ? answer.error : `the hub answers ${response.status}`);

/**
 * Signs in with the code of an address, or with a token.
 * @param {{code: string} | {token: string}} proof
 */
export async function signIn(proof) {
  const response =
    "code" in proof ? await send("POST", "api/session", null, { code: proof.code }) : await send("POST", "api/session", proof.token);
  const given = await response.json().catch(() => null);
  if (!response.ok) throw new Refused(reasonOf(response, given));
  if (typeof given?.session !== "string") throw new Refused("what answers here is no hub");
  keep(given.session);
  writes = until(given);
}

export async function signOut() {
  const last = session;
  keep(null);
  if (last !== null) await send("DELETE", "api/session", last);
}

/**
 * Asks the admin API. The session is forgotten as soon as something answers that does not
 * know it, so that it is sent there once.
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export const ask = async (method, path, body, signal) => (await exchange(method, path, body, signal)).answer;

/**
 * Asks for a part of a list, and how many elements are found in all.
 * @param {string} path
 * @returns {Promise<{part: any[], found: number}>}
 */
export async function find(path) {
  const { answer, headers } = await exchange("GET", path);
  return { part: answer, found: Number(headers.get("Tabhub-Total")) };
}

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @param {AbortSignal} [signal]
 */
async function exchange(method, path, body, signal) {
  const mine = session;
  const response = await sendMine(method, path, body, signal);
  const answer = await response.json();
  if (method === "GET") await untilDecided(); // what is shown next would take the place of what is to be pressed
  if (session !== mine) throw new Changed();
  if (!response.ok) throw new Refused(reasonOf(response, answer));
  return { answer, headers: response.headers };
}

/**
 * Sends a request with the session, and returns what the hub has answered.
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @param {AbortSignal} [signal]
 * @param {string} [accept]
 */
async function sendMine(method, path, body, signal, accept) {
  const mine = session;
  const response = await send(method, path, mine, body, signal, accept);
  if (session !== mine) throw new Changed();
  const type = response.headers.get("Content-Type") ?? "";
  if (response.status === 401 || !TYPES.includes(type)) {
    keep(null);
    throw new SignedOut();
  }
  return response;
}

/**
 * Gets a file.
 * @param {string} path
 */
export async function file(path) {
  const response = await sendMine("GET", path);
  if (!response.ok) throw new Refused(reasonOf(response, await response.json()));
  return response.blob();
}

/** Aborts when the session is left. */
export const left = () => leave.signal;

/**
 * Yields the events that the hub sends, until it or the session ends.
 * @param {string} path
 * @param {object} [body] what is posted
 * @param {AbortSignal} [signal] ends them earlier
 * @param {() => void} [heard] called when anything has come, be it no event
 * @returns {AsyncGenerator<any>}
 */
export async function* events(path, body, signal = leave.signal, heard) {
  const response = await sendMine(body ? "POST" : "GET", path, body, AbortSignal.any([signal, leave.signal]), "text/event-stream");
  if (!response.ok) throw new Refused(reasonOf(response, await response.json()));
  for await (const line of lines(response)) {
    heard?.();
    if (line.startsWith("data: ")) yield JSON.parse(line.slice(6));
  }
}

/** When the session is no longer good for deciding, as Date.now() has it; 0: never was. */
let writes = 0;

export const mayWrite = () => session !== null && Date.now() < writes;

/** Has the hub know that somebody uses the page. */
export async function stay() {
  const answer = await ask("PUT", "api/session").catch((err) => {
    if (!(err instanceof Refused)) throw err;
  });
  writes = until(answer);
}

/** @param {{writes?: string} | undefined} report */
const until = (report) => (report?.writes ? Date.parse(report.writes) : 0);
