// Where content/shim.js runs, the part of the extension in the pages' own world: only at
// sites that the user shares. The browser remembers it, also while this worker sleeps.

import { pattern } from "./settings.js";

const ID = "shim";
const WEB = ["http://*/*", "https://*/*"];

/** The latest change: the next one waits for it. @type {Promise<unknown>} */
let changing = Promise.resolve();

/**
 * Makes the shim run in what is loaded from now on, as the settings say.
 *
 * @param {Settings} settings
 */
export function placeShim(settings) {
  changing = changing.then(() => place(settings)).catch((error) => {
    // A pattern that the browser does not take: better nowhere than where it must not be.
    console.error("the shim cannot be placed:", error);
    return chrome.scripting.unregisterContentScripts({ ids: [ID] }).catch(() => {});
  });
  return changing;
}

/** @param {Settings} settings */
async function place({ mode, allowed, off }) {
  const [registered] = await chrome.scripting.getRegisteredContentScripts({ ids: [ID] });
  const matches = mode === "all" ? WEB : patterns(allowed);
  if (!matches.length) {
    if (registered) await chrome.scripting.unregisterContentScripts({ ids: [ID] });
    return;
  }
  /** @type {chrome.scripting.RegisteredContentScript} */
  const script = {
    id: ID,
    js: ["content/shim.js"],
    world: "MAIN",
    runAt: "document_start",
    allFrames: true,
    matchOriginAsFallback: true,
    matches,
    excludeMatches: patterns(off),
  };
  if (!registered) await chrome.scripting.registerContentScripts([script]);
  else if (differs(registered, script)) await chrome.scripting.updateContentScripts([script]);
}

/** @param {string[]} origins */
function patterns(origins) {
  return origins.filter((origin) => /^https?:/.test(origin) && URL.canParse(origin)).map(pattern);
}

/**
 * @param {chrome.scripting.RegisteredContentScript} a
 * @param {chrome.scripting.RegisteredContentScript} b
 */
function differs(a, b) {
  const places = (/** @type {chrome.scripting.RegisteredContentScript} */ { matches, excludeMatches }) =>
    JSON.stringify([[...(matches ?? [])].sort(), [...(excludeMatches ?? [])].sort()]);
  return places(a) !== places(b);
}
