// The tokens of calls that go on in the tab's next document, in its sessionStorage. What the call is the
// hub knows; it lets one document of this tab resume it.

const TOKEN_PREFIX = "tabhub.token.";
const TOKEN_MS = 60_000;

/**
 * @param {string} token
 * @param {string | number} id the hub's, of the call
 */
function keepToken(token, id) {
  sessionStorage.setItem(TOKEN_PREFIX + token, JSON.stringify({ id, until: Date.now() + TOKEN_MS }));
}

/**
 * Uses a token up.
 * @param {string} token
 * @returns {string | number | undefined} the call's id
 */
function takeToken(token) {
  try {
    const { id, until } = JSON.parse(sessionStorage.getItem(TOKEN_PREFIX + token) ?? "{}");
    sessionStorage.removeItem(TOKEN_PREFIX + token);
    return Date.now() < until ? id : undefined;
  } catch {
    return undefined; // there is no storage, or it is the page's own
  }
}
