// What the extension's pages share.

import { make } from "./elements.ts";

/** Asks the service worker. */
export function ask(request: UIRequest): Promise<any> {
  return chrome.runtime.sendMessage(request);
}

/** A labelled switch. */
export function toggle(label: string, hint: string, on: boolean, changed: (on: boolean) => void) {
  const box = make("input", "");
  box.type = "checkbox";
  box.setAttribute("role", "switch");
  box.checked = on;
  box.addEventListener("change", () => changed(box.checked));
  const words = make("span", "", make("span", "wide", label));
  if (hint) words.append(make("br", ""), make("span", "soft", hint));
  return make("label", "switch", words, box);
}

/** Says which build it is, if clients act in it with input that pages cannot tell from the person's. */
export function showBuild(at: HTMLElement) {
  at.hidden = !chrome.runtime.getManifest().permissions?.includes("debugger");
  at.textContent = "Trusted input: pages cannot tell what apps do here from what you do.";
}
