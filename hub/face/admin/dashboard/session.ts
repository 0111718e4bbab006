// The page's session: the bearer that it was given for the code in its address, or for
// a token. It is kept for this tab alone, and works as long as the hub's process, which
// alone knows it: a program that has the hub's port later learns nothing of use from it.

import { untilDecided } from "./dom.ts";

import { lines } from "./lines.ts";

const KEY = "tabhub.session";

/** What the admin API answers. */
const TYPES = ["application/json", "text/event-stream", "application/jsonl"];

/** The hub does not know the session, or is not the one that gave it. */
export class SignedOut extends Error {}

/** What answered refuses, and says why. */
export class Refused extends Error {}

/** The page was signed out, or in anew, before the answer came. */
export class Changed extends Error {}

function stored(): string | null {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null; // the browser keeps nothing
  }
}

let session = stored();

/** Ends what the hub sends to a session that is left. */
let leave = new AbortController();

function keep(to: string | null) {
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

/** Asks the hub with a bearer. */
function send(method: string, path: string, bearer: string | null, body?: object, signal?: AbortSignal, accept = "application/json") {
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

const reasonOf = (response: Response, answer: any) => (typeof answer?.error === "string" ? answer.error : `the hub answers ${response.status}`);

/** Signs in with the code of an address, or with a token. */
export async function signIn(proof: { code: string } | { token: string }) {
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
 */
export const ask = async (method: string, path: string, body?: object, signal?: AbortSignal): Promise<any> => (await exchange(method, path, body, signal)).answer;

/** Asks for a part of a list, and how many elements are found in all. */
export async function find(path: string): Promise<{ part: any[]; found: number }> {
  const { answer, headers } = await exchange("GET", path);
  return { part: answer, found: Number(headers.get("Tabhub-Total")) };
}

async function exchange(method: string, path: string, body?: object, signal?: AbortSignal) {
  const mine = session;
  const response = await sendMine(method, path, body, signal);
  const answer = await response.json();
  if (method === "GET") await untilDecided(); // what is shown next would take the place of what is to be pressed
  if (session !== mine) throw new Changed();
  if (!response.ok) throw new Refused(reasonOf(response, answer));
  return { answer, headers: response.headers };
}

/** Sends a request with the session, and returns what the hub has answered. */
async function sendMine(method: string, path: string, body?: object, signal?: AbortSignal, accept?: string) {
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

/** Gets a file. */
export async function file(path: string) {
  const response = await sendMine("GET", path);
  if (!response.ok) throw new Refused(reasonOf(response, await response.json()));
  return response.blob();
}

/** Aborts when the session is left. */
export const left = () => leave.signal;

/**
 * Yields the events that the hub sends, until it or the session ends.
 * @param body what is posted
 * @param signal ends them earlier
 * @param heard called when anything has come, be it no event
 */
export async function* events(path: string, body?: object, signal: AbortSignal = leave.signal, heard?: () => void): AsyncGenerator<any> {
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

/** Tells the hub that the page is in use. */
export async function stay() {
  const answer = await ask("PUT", "api/session").catch((err) => {
    if (!(err instanceof Refused)) throw err;
  });
  writes = until(answer);
}

const until = (report: { writes?: string } | undefined) => (report?.writes ? Date.parse(report.writes) : 0);
