// The tokens of calls that go on in the tab's next document, in its sessionStorage. What the call is, and
// until when a document of this tab may resume it, the hub knows.

const TOKEN_PREFIX = "tabhub.token.";

/**
 * @param {string} token
 * @param {string | number} id the hub's, of the call
 */
function keepToken(token, id) {
  sessionStorage.setItem(TOKEN_PREFIX + token, JSON.stringify({ id }));
}

/**
 * Uses a token up.
 * @param {string} token
 * @returns {string | number | undefined} the call's id
 */
function takeToken(token) {
  try {
    const { id } = JSON.parse(sessionStorage.getItem(TOKEN_PREFIX + token) ?? "{}");
    sessionStorage.removeItem(TOKEN_PREFIX + token);
    return id;
  } catch {
    return undefined; // there is no storage, or it is the page's own
  }
}
