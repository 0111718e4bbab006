// Asks documents that may be too busy to answer, or gone.

import { unlessStopping } from "./stopping.js";

/**
 * Runs a function in documents of a tab, in the extension's own world, at once, for what it returns.
 *
 * @template {any[]} A
 * @template R
 * @param {chrome.scripting.ScriptInjection<A, R>} script
 * @param {number} [timeout] in ms; it waits for as long as it takes if there is none
 * @returns {Promise<chrome.scripting.InjectionResult<Awaited<R>>[]>} none if a document does not answer in time, or may not be looked at
 */
export function askDocuments(script, timeout) {
  const asked = unlessStopping(chrome.scripting.executeScript({ ...script, injectImmediately: true }), () => []);
  return timeout === undefined ? asked : Promise.race([asked, new Promise((done) => setTimeout(done, timeout, []))]);
}
