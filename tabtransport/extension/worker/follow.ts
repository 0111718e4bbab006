// The document that follows the one that has a run.

import { look } from "./navigations.ts";
import { unlessStopping } from "./stopping.ts";
import type { Run } from "./run.ts";

/** How long the document after one may take, in ms, where no step says so. */
export const NEXT = 10_000;
/** What the browser says of an address that led to no page: a download, or an answer without content. */
const ABORTED = "ERR_ABORTED";
/** Between two looks at a document, in ms. */
const LOOK = 50;
/** How long nothing loads in a tab before its document is taken to stay, in ms, */
export const STAYS = 300;
/** and how long that of one takes which never has loaded all. */
const PARSED = 2_000;

/**
 * Waits for the document that follows, and stays.
 * @param goesOn whether it is still waited for
 * @returns nothing if it is not; "failed" if the browser could not show the next one to a client's own steps
 */
export async function nextDocument(run: Run, goesOn: () => boolean) {
  const { tabId, frameId, documentId: left } = run;
  const until = run.leads?.until ?? Date.now() + NEXT;
  let last: Awaited<ReturnType<typeof look>>;
  let found = 0;
  let quiet = 0; // since when nothing loads
  for (; goesOn(); await new Promise((done) => setTimeout(done, LOOK))) {
    const there = await look(tabId, frameId);
    const tab = await unlessStopping(chrome.tabs.get(tabId), () => undefined);
    if (!tab) return "closed";
    if (!there && run.error && run.error.error !== ABORTED && !run.params.pack) return "failed";
    const now = Date.now();
    const other = there && there.documentId !== left && there.parsed ? there : undefined;
    if (other?.documentId !== last?.documentId) [found, quiet] = [now, 0];
    last = other;
    quiet = tab.status === "loading" || tab.pendingUrl || (there && !there.complete) ? 0 : quiet || now;
    const stays = quiet > 0 && now - quiet >= STAYS;
    if (last && (stays || now - found >= PARSED || now > until)) return last;
    if (!last && (now > until || (run.leads && !run.leads.declared && stays && there?.documentId === left))) return "stays";
  }
  return undefined;
}
