// What the hub learns of the tab itself: its URL, its title, whether the user
// looks at it, whether a call waits for them, whether a dialog blocks the page.

import { notifyOfDialogs } from "../../../tabtransport/pagejs/dialogs.ts";

import type { HubLink } from "./link.ts";

const STATE_QUIET_MS = 100;

export class TabState {
  #link;
  /** What the hub knows. */
  #told: JSONObject = {};
  #waiting = false;
  /** The dialog that is open; without a type none is. */
  #dialog = { type: "", message: "" };
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(link: HubLink) {
    this.#link = link;
  }

  /** Begins to tell of changes. */
  watch() {
    notifyOfDialogs((dialog) => {
      this.#dialog = dialog;
      this.#tell(); // what a socket has taken leaves although the page is blocked
    });
    const soon = () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#tell(), STATE_QUIET_MS);
    };
    for (const type of ["focus", "blur", "popstate", "hashchange", "load"]) window.addEventListener(type, soon);
    document.addEventListener("visibilitychange", soon);
    const navigation = (window as any).navigation;
    if (navigation) navigation.addEventListener("currententrychange", soon);
    else setInterval(() => pageURL() !== this.#told.url && soon(), 1000);
    if (document.head) new MutationObserver(soon).observe(document.head, { childList: true, subtree: true, characterData: true });
  }

  /** @param waiting whether a call waits for the person in front of the tab */
  waits(waiting: boolean) {
    this.#waiting = waiting;
    this.#tell();
  }

  /** Tells a hub that has forgotten everything. */
  tellAll() {
    this.#told = {};
    this.#tell();
  }

  #tell() {
    if (this.#link.state !== "open") return;
    const visible = document.visibilityState === "visible";
    const now = { url: pageURL(), title: pageTitle(), active: visible, visible, windowFocused: document.hasFocus(), waiting: this.#waiting, dialog: this.#dialog };
    const news = Object.entries(now).filter(([member, value]) => this.#told[member] !== value);
    if (news.length === 0) return;
    this.#told = now;
    this.#link.notify("browser/tabState", Object.fromEntries(news));
  }
}

export function pageURL() {
  if (location.href.length <= 2048) return location.href;
  const short = location.origin + location.pathname;
  return short.length <= 2048 ? short : location.origin;
}

export function pageTitle() {
  return document.title.slice(0, 4096);
}
