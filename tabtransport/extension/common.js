// What the extension's pages share.

import { make } from "./elements.js";

/**
 * Asks the service worker.
 *
 * @param {UIRequest} request
 * @returns {Promise<any>}
 */
export function ask(request) {
  return chrome.runtime.sendMessage(request);
}

/**
 * A labelled switch.
 *
 * @param {string} label
 * @param {string} hint
 * @param {boolean} on
 * @param {(on: boolean) => void} changed
 */
export function toggle(label, hint, on, changed) {
  const box = make("input", "");
  box.type = "checkbox";
  box.setAttribute("role", "switch");
  box.checked = on;
  box.addEventListener("change", () => changed(box.checked));
  const words = make("span", "", make("span", "wide", label));
  if (hint) words.append(make("br", ""), make("span", "soft", hint));
  return make("label", "switch", words, box);
}
