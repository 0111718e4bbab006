// The tokens of calls that go on in the tab's next document, in its sessionStorage. What the call is the
// hub knows; it lets one document of this tab resume it.

import { KEPT } from "../../../tabtransport/pagejs/watchtools.ts";

const TOKEN_PREFIX = "tabhub.token.";

/** @param id the hub's, of the call */
export function keepToken(token: string, id: string | number) {
  // Unused ones must not fill the page's storage.
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(TOKEN_PREFIX) && callOf(key) === undefined) sessionStorage.removeItem(key);
  sessionStorage.setItem(TOKEN_PREFIX + token, JSON.stringify({ id, until: Date.now() + KEPT }));
}

/**
 * Uses a token up.
 * @returns the call's id
 */
export function takeToken(token: string): string | number | undefined {
  const id = callOf(TOKEN_PREFIX + token);
  if (id !== undefined) sessionStorage.removeItem(TOKEN_PREFIX + token);
  return id;
}

/** @returns undefined if its token is not good any more */
function callOf(key: string): string | number | undefined {
  try {
    const { id, until } = JSON.parse(sessionStorage.getItem(key) ?? "{}");
    return Date.now() < until ? id : undefined;
  } catch {
    return undefined; // there is no storage, or it is the page's own
  }
}
