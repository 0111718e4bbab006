// The page's session: the bearer that it was given for the code in its address, or for
// a token. It is kept for this tab alone, and works as long as the hub's process, which
// alone knows it: whoever has the hub's port later learns nothing of use from it.

const KEY = "tabhub.session";

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

/** @param {string | null} to */
function keep(to) {
  session = to;
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
 */
function send(method, path, bearer, body) {
  const headers = new Headers();
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
}

export async function signOut() {
  const last = session;
  keep(null);
  if (last !== null) await send("DELETE", "api/session", last);
}

/**
 * Gets what the admin API has at a path. The session is forgotten as soon as something
 * answers that does not know it, so that it is sent there once.
 * @param {string} path
 * @returns {Promise<any>}
 */
export async function get(path) {
  const mine = session;
  const response = await send("GET", path, mine);
  const isHub = response.headers.get("Content-Type") === "application/json";
  const answer = isHub ? await response.json() : null;
  if (session !== mine) throw new Changed();
  if (response.status === 401 || !isHub) {
    keep(null);
    throw new SignedOut();
  }
  if (!response.ok) throw new Refused(reasonOf(response, answer));
  return answer;
}
