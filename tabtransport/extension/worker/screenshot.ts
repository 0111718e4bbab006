// Screenshots of more, or of less, than what is seen of a page. The page is scrolled, by a script in it
// (pageview.ts), and what is seen of it each time is pictured as safely as any picture is.

import { askDocuments } from "./documents.ts";
import { begin, type View } from "./pageview.ts";
import { picture } from "./picture.ts";
import { Code, Refusal, elsewhere } from "./refusal.ts";

type Params = FromHub["browser/screenshot"]["params"];
type Result = FromHub["browser/screenshot"]["result"];

/** What is pictured, in CSS pixels of the page as it would be seen whole. */
interface Region {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** The longest side, in pixels, and the most bytes that models take. */
const MAX_SIDE = 8_000;
const MAX_BYTES = 3 << 20;
/** Between two pictures, in ms: a browser takes two a second, and pages load what comes into view. */
const BETWEEN = 550;
/** How long a page may take to scroll, in ms. */
const TIMEOUT = 2_000;

/** Pictures a tab. */
export async function screenshot(tabId: number, { full, ifOrigin }: Params, settings: () => Settings): Promise<Result> {
  const capture = () => picture(tabId, settings, ifOrigin);
  if (!full) return { mimeType: "image/png", data: base64Of(await capture()) };
  await capture(); // nothing is done to a page that may not be pictured
  const view = await inPage(tabId, begin, []);
  try {
    return await stitched(tabId, view, { left: 0, top: 0, width: view.width, height: view.height + view.more }, capture);
  } finally {
    await askDocuments({ target: { tabId }, func: () => globalThis.tabhubView?.end() }, TIMEOUT);
  }
}

/** Puts together what is seen of a region, from one picture to the next. */
async function stitched(tabId: number, view: View, region: Region, capture: () => Promise<string>): Promise<Result> {
  const { pane, seam } = view;
  let canvas: OffscreenCanvas | undefined;
  let scale = 1; // of the canvas, against CSS pixels
  let height = 0; // of what is pictured
  let grown = false;
  // Where the pane is scrolled to when its upper edge shows the region's.
  const last = Math.min(view.more, Math.max(0, region.top + region.height - pane.top - pane.height));
  for (let at = Math.min(Math.max(0, region.top - pane.top), last), first = true; ; first = false) {
    const end = at >= last;
    const before = await inPage(tabId, scroll, [at, first, end]);
    await new Promise((done) => setTimeout(done, BETWEEN));
    const bitmap = await bitmapOf(await capture());
    const now = await inPage(tabId, where, []);
    if (now.at !== before || now.width !== view.width || now.tall !== view.height) throw new Refusal(Code.Unsupported, "the page scrolls or changes its size by itself, so it cannot be pictured whole; take a screenshot without full");
    grown = now.more > view.more + 1;
    const dense = bitmap.width / view.width; // the screen's pixels, and the zoom
    if (!canvas) {
      scale = Math.min(dense, 1, MAX_SIDE / region.width);
      height = Math.min(region.height, Math.floor(MAX_SIDE / scale));
      canvas = new OffscreenCanvas(Math.max(1, Math.round(region.width * scale)), Math.max(1, Math.round(height * scale)));
    }
    const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
    /** Draws a part of what is seen, moved down. */
    const draw = (part: Region, down: number) => {
      const top = Math.round((part.top + down - region.top) * scale);
      const bottom = Math.round((part.top + part.height + down - region.top) * scale);
      context.drawImage(bitmap, part.left * dense, part.top * dense, part.width * dense, part.height * dense, Math.round((part.left - region.left) * scale), top, Math.round(part.width * scale), bottom - top);
    };
    const below = pane.top + pane.height;
    if (first) draw({ left: 0, top: 0, width: view.width, height: below }, before);
    else draw({ ...pane, top: pane.top + seam, height: pane.height - seam }, before);
    if (end && below < view.height) draw({ left: 0, top: below, width: view.width, height: view.height - below }, before);
    bitmap.close();
    if (end || before + below - region.top >= height) break;
    if (before < at - 1) {
      grown = true; // it scrolls no further
      break;
    }
    at = Math.min(last, before + Math.floor(pane.height - seam));
  }
  return { ...(await encoded(canvas)), ...((grown || height < region.height) && { cut: true }) };
}

async function encoded(canvas: OffscreenCanvas) {
  let blob = await canvas.convertToBlob({ type: "image/png" });
  for (let quality = 0.85; blob.size > MAX_BYTES && quality > 0.2; quality -= 0.2) blob = await canvas.convertToBlob({ type: "image/jpeg", quality });
  if (blob.size > MAX_BYTES) throw new Refusal(Code.Limit, "the picture is too large; take one of an element, or without full");
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 1 << 15) text += String.fromCharCode(...bytes.subarray(i, i + (1 << 15)));
  return { mimeType: blob.type, data: btoa(text) };
}

function base64Of(dataURL: string) {
  return dataURL.slice(dataURL.indexOf(",") + 1);
}

/** The worker's policy lets it fetch no data: addresses. */
function bitmapOf(dataURL: string) {
  return createImageBitmap(new Blob([Uint8Array.from(atob(base64Of(dataURL)), (character) => character.charCodeAt(0))]));
}

/** What a function in a page returns, if there is something, and it refuses nothing. */
type Answer<R> = Exclude<NonNullable<Awaited<R>>, { refused: string }>;

/** Runs a function in the document that a tab shows. */
async function inPage<A extends any[], R>(tabId: number, func: (...args: A) => R, args: A): Promise<Answer<R>> {
  const [done] = await askDocuments({ target: { tabId }, func, args }, TIMEOUT);
  if (!done) throw new Refusal(Code.Unsupported, "the page is too busy to be pictured, or may not be scrolled; try again, or without full");
  if (done.result === null || done.result === undefined) throw elsewhere();
  const refused = (done.result as { refused?: string }).refused;
  if (refused) throw new Refusal(Code.Unsupported, refused);
  return done.result as Answer<R>;
}

// These run in the page.

function scroll(to: number, first: boolean, last: boolean) {
  return globalThis.tabhubView?.scroll(to, first, last);
}

function where() {
  return globalThis.tabhubView?.where();
}
