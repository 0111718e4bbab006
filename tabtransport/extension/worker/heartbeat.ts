// Looks whether the documents that run calls still answer. A dialog keeps a document from running
// anything, and not each can be seen: one of another frame in its process, one that was opened
// before the page's world was reached, the question whether to leave. So does a script that is busy.

import { askDocuments } from "./documents.ts";

/** How long a call runs before its document is asked first, in ms. */
const FIRST = 2_000;
/** How long after an answer it is asked again, in ms. */
const NEXT = 5_000;
/** How long a document may take to answer, in ms: pages that are busy for a moment are none that are blocked. */
const TIMEOUT = 5_000;

export class Heartbeat {
  /** The ports of the documents that are looked at. */
  #watched = new Set<chrome.runtime.Port>();
  #runs;
  #silent;

  /**
   * @param runs whether a document has a call
   * @param silent called when one does not answer, and when it does
   */
  constructor(runs: (port: chrome.runtime.Port) => boolean, silent: (port: chrome.runtime.Port, silent: boolean) => void) {
    this.#runs = runs;
    this.#silent = silent;
  }

  /** Looks at a document for as long as it has calls, and until it answers. */
  async watch(port: chrome.runtime.Port) {
    if (this.#watched.has(port)) return;
    this.#watched.add(port);
    for (let wait = FIRST; ; wait = NEXT) {
      await new Promise((done) => setTimeout(done, wait));
      if (!this.#runs(port)) break;
      const timer = setTimeout(() => this.#silent(port, true), TIMEOUT);
      const { tab, documentId = "" } = port.sender ?? {};
      // What is asked waits in the document, so it answers as soon as it runs again; one that has gone fails.
      await askDocuments({ target: { tabId: tab?.id ?? 0, documentIds: [documentId] }, func: () => {} });
      clearTimeout(timer);
      this.#silent(port, false);
    }
    this.#watched.delete(port);
  }
}
