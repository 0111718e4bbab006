// Where a point of a frame is in its tab: through all the frames around it, also of other sites, none of which knows
// where it is itself.

import { askDocuments } from "./documents.ts";

interface Point {
  x: number;
  y: number;
}

/** How long a document may take to answer, in ms. */
const TIMEOUT = 2_000;

/**
 * Where a point is in the tab's viewport, in CSS pixels.
 * @param seen it is brought into view if a frame around it shows it not, and must not be covered there
 * @returns why that is not so, in words
 */
export async function inTab(tabId: number, frameId: number, point: Point, seen = true): Promise<Point | string> {
  const frames = (await chrome.webNavigation.getAllFrames({ tabId }).catch(() => null)) ?? [];
  let at = point;
  for (let id = frameId; id !== 0; ) {
    const frame = frames.find((one) => one.frameId === id);
    if (!frame) return "its frame is gone";
    const [inner] = await askDocuments({ target: { tabId, documentIds: [frame.documentId] }, func: whichFrame }, TIMEOUT);
    const parent = frames.find((one) => one.frameId === frame.parentFrameId);
    if (!inner?.result || !parent) return "its frame does not answer";
    const [outer] = await askDocuments({ target: { tabId, documentIds: [parent.documentId] }, func: outward, args: [inner.result, at, seen] }, TIMEOUT);
    if (!outer?.result) return "the page around its frame does not answer";
    if (typeof outer.result === "string") return outer.result;
    at = outer.result;
    id = frame.parentFrameId;
  }
  return at;
}

// These run in the page.

/** Which frame of its parent a document is in: by its index, -1 in a shadow tree, and its size. */
function whichFrame() {
  let index = parent.length - 1;
  while (index >= 0 && parent[index] !== self) index--;
  return { index, width: innerWidth, height: innerHeight };
}

/** Where a point of a frame is in the document around it. */
function outward({ index, width, height }: { index: number; width: number; height: number }, { x, y }: { x: number; y: number }, seen: boolean): { x: number; y: number } | string {
  const frames: HTMLIFrameElement[] = [];
  const find = (root: Document | ShadowRoot) => {
    for (const element of root.querySelectorAll("*")) {
      if (/^i?frame$|^object$|^embed$/.test(element.localName)) frames.push(element as HTMLIFrameElement);
      const shadow = chrome.dom.openOrClosedShadowRoot(element as HTMLElement);
      if (shadow) find(shadow);
    }
  };
  find(document);
  const listed = Array.from({ length: self.length }, (_, i) => self[i]);
  const found = frames.filter(({ contentWindow }) => contentWindow && (index < 0 ? !listed.includes(contentWindow) : contentWindow === listed[index]));
  if (found.length !== 1) return "its frame cannot be told from others on the page";
  const [frame] = found;
  const place = () => {
    const rect = frame.getBoundingClientRect();
    const style = getComputedStyle(frame);
    const [left, right, top, bottom] = [style.paddingLeft, style.paddingRight, style.paddingTop, style.paddingBottom].map(parseFloat);
    const [sx, sy] = [rect.width / frame.offsetWidth, rect.height / frame.offsetHeight];
    return {
      x: rect.left + (frame.clientLeft + left) * sx + (x * (frame.clientWidth - left - right) * sx) / width,
      y: rect.top + (frame.clientTop + top) * sy + (y * (frame.clientHeight - top - bottom) * sy) / height,
    };
  };
  const isSeen = ({ x, y }: { x: number; y: number }) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
  let at = place();
  if (!seen) return at;
  if (!isSeen(at)) {
    frame.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    at = place();
    if (!isSeen(at)) scrollBy({ left: at.x - innerWidth / 2, top: at.y - innerHeight / 2, behavior: "instant" });
    at = place();
  }
  if (!isSeen(at)) return "its frame is outside of what the page shows";
  let hit = document.elementFromPoint(at.x, at.y);
  for (let inner = hit; inner; ) {
    hit = inner;
    const next: Element | null = chrome.dom.openOrClosedShadowRoot(hit as HTMLElement)?.elementFromPoint(at.x, at.y) ?? null;
    inner = next === hit ? null : next;
  }
  return hit === frame ? at : "something covers its frame";
}
