// What the extension's pages share. Everything a page or the hub said is put in as text.

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
 * The state of the connection in words: what it is, and what the user can do.
 *
 * @param {HubState} hub
 * @param {string} address
 * @returns {[string, string]}
 */
export function words(hub, address) {
  const { host } = new URL(address);
  switch (hub.state) {
    case "connected":
      return ["Connected", `to ${hub.hub || "the hub"}${hub.version ? ` ${hub.version}` : ""} at ${host}`];
    case "connecting":
      return ["Connecting…", `to ${host}`];
    case "absent":
      return ["The hub is not running", `Nothing answers at ${host}. Start your AI app, or run “tabhub serve”.`];
    case "unpaired":
      return [
        "Not paired with the hub",
        hub.reason
          ? `The hub at ${host} does not know this browser. Run “tabhub extension DIR” again and reload the extension, or run “tabhub pair”.`
          : "Run “tabhub pair” where the hub is, and open the address that it prints in this browser.",
      ];
    case "unproved":
      return [
        "Not your hub",
        `What answers at ${host} cannot prove that it is the hub that this browser is paired with, and was told nothing. Run “tabhub doctor” to see what it is.`,
      ];
    case "outdated":
      return [
        "The hub is older than the extension",
        "It cannot prove to this browser that it is yours, and was told nothing. Update tabhub, then run “tabhub stop”.",
      ];
    case "refused":
      return ["The hub refused this browser", `At ${host}: ${hub.reason}`];
    case "replaced":
      return [
        "Another browser took this one’s place",
        "A copy of this browser profile is connected to the hub. To have both, choose “Become a new browser” in the settings.",
      ];
  }
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
