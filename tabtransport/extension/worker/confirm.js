// Questions to the user, each in a small window of its own: may this call run?

const WIDTH = 480;
const HEIGHT = 560;

/**
 * @typedef {object} Question
 * @property {Confirmation} about
 * @property {(answer: {allow: boolean, remember: boolean}) => void} answer
 */

/** @type {Map<string, Question>} */
const questions = new Map();

/**
 * Asks the user. A window that is closed means no.
 *
 * @param {any} params of browser/elicitConfirmation
 * @returns {Promise<{allow: boolean, remember: boolean}>}
 */
export async function ask(params) {
  const id = crypto.randomUUID();
  /** @type {Confirmation} */
  const about = {
    site: String(params.site ?? ""),
    tool: String(params.tool ?? ""),
    args: params.args ?? {},
    reason: String(params.reason ?? ""),
  };
  const made = await chrome.windows.create({
    url: `confirm.html?${id}`,
    type: "popup",
    width: WIDTH,
    height: HEIGHT,
    focused: true,
  });
  /** @param {number} closed */
  const refuse = (closed) => {
    if (closed === made?.id) questions.get(id)?.answer({ allow: false, remember: false });
  };
  chrome.windows.onRemoved.addListener(refuse);
  try {
    return await new Promise((answer) => questions.set(id, { about, answer }));
  } finally {
    questions.delete(id);
    chrome.windows.onRemoved.removeListener(refuse);
    if (made?.id !== undefined) chrome.windows.remove(made.id).catch(() => {});
  }
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
