// The tokens of calls that go on in the tab's next document, in its sessionStorage. What the call is the
// hub knows; it lets one document of this tab resume it.

const TOKEN_PREFIX = "tabhub.token.";

/**
 * @param {string} token
 * @param {string | number} id the hub's, of the call
 */
function keepToken(token, id) {
  // Those that nobody has used are not to fill the page's storage.
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(TOKEN_PREFIX) && callOf(key) === undefined) sessionStorage.removeItem(key);
  sessionStorage.setItem(TOKEN_PREFIX + token, JSON.stringify({ id, until: Date.now() + KEPT }));
}

/**
 * Uses a token up.
 * @param {string} token
 * @returns {string | number | undefined} the call's id
 */
function takeToken(token) {
  const id = callOf(TOKEN_PREFIX + token);
  if (id !== undefined) sessionStorage.removeItem(TOKEN_PREFIX + token);
  return id;
}

/**
 * @param {string} key
 * @returns {string | number | undefined} undefined if its token is not good any more
 */
function callOf(key) {
  try {
    const { id, until } = JSON.parse(sessionStorage.getItem(key) ?? "{}");
    return Date.now() < until ? id : undefined;
  } catch {
    return undefined; // there is no storage, or it is the page's own
  }
}
