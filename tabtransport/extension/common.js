// What the extension's pages share. Everything a page or the hub said is put in as text.

/** What a tool may change, in words. @type {Record<string, string>} */
export const CLASSES = {
  read: "It says that it only reads.",
  write: "It may change something.",
  destructive: "It may do what cannot be undone.",
};

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
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function element(id, type) {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`no ${type.name} #${id}`);
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} className
 * @param {...(Node | string)} children
 */
export function make(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
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

/**
 * The address if a hub can be there.
 *
 * @param {string} address
 */
export function hubAddress(address) {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  return url.protocol === "ws:" || url.protocol === "wss:" ? url.href : undefined;
}

export const BAD_ADDRESS = "A hub’s address looks like ws://127.0.0.1:3300/tabs";
