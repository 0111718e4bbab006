// Questions to the user, each in a small window of its own: may this call run?

const WIDTH = 480;
const HEIGHT = 560;

/**
 * @typedef {object} Question
 * @property {Confirmation} about
 * @property {(answer: {allow: boolean, remember: boolean}) => void} answer
 */

const NO = { allow: false, remember: false };

/** @type {Map<string, Question>} by the id of the hub's request */
const questions = new Map();

/**
 * Asks the user. A window that is closed means no.
 *
 * @param {FromHub["browser/elicitConfirmation"]["params"]} params
 * @param {string} id
 * @returns {Promise<{allow: boolean, remember: boolean}>}
 */
export async function ask(params, id) {
  /** @type {Confirmation} */
  const about = {
    site: String(params.site ?? ""),
    tool: String(params.tool ?? ""),
    args: params.args ?? {},
    reason: String(params.reason ?? ""),
  };
  // The question is there before the window that asks for it.
  const answered = new Promise((answer) => questions.set(id, { about, answer }));
  const url = `confirm.html?${encodeURIComponent(id)}`;
  /** @type {number | undefined} */
  let shown;
  /** @param {number} closed */
  const refuse = (closed) => {
    if (closed === shown) withdraw(id);
  };
  chrome.windows.onRemoved.addListener(refuse);
  try {
    shown = (await chrome.windows.create({ url, type: "popup", width: WIDTH, height: HEIGHT, focused: true }))?.id;
    return await answered;
  } finally {
    questions.delete(id);
    chrome.windows.onRemoved.removeListener(refuse);
    if (shown !== undefined) chrome.windows.remove(shown).catch(() => {});
  }
}

/**
 * Closes a question that the hub no longer asks.
 *
 * @param {string} id
 */
export function withdraw(id) {
  questions.get(id)?.answer(NO);
}

/** @param {string} id */
export function confirmation(id) {
  return questions.get(id)?.about;
}

/**
 * @param {string} id
 * @param {{allow: boolean, remember: boolean}} answer
 */
export function confirm(id, answer) {
  questions.get(id)?.answer(answer);
}
