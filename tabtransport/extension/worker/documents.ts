// Asks documents that may be too busy to answer, or gone.

import { unlessStopping } from "./stopping.ts";

/**
 * Runs a function in documents of a tab, in the extension's own world, at once, for what it returns.
 * @param timeout in ms; it waits for as long as it takes if there is none
 * @returns none if a document does not answer in time, or may not be looked at
 */
export function askDocuments<A extends any[], R>(script: chrome.scripting.ScriptInjection<A, R>, timeout?: number): Promise<chrome.scripting.InjectionResult<Awaited<R>>[]> {
  const asked = unlessStopping(chrome.scripting.executeScript({ ...script, injectImmediately: true }), () => []);
  return timeout === undefined ? asked : Promise.race([asked, new Promise<[]>((done) => setTimeout(done, timeout, []))]);
}
