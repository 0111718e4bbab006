// Screenshots of more, or of less, than what is seen of a page. The page is scrolled, by a script in it
// (pageview.ts), and what is seen of it each time is pictured as safely as any picture is.

import { awake } from "./control.ts";
import { askDocuments } from "./documents.ts";
import { inTab } from "./framebox.ts";
import { stale, type Looks } from "./look.ts";
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
/** How much is seen around an element, in CSS pixels. */
const AROUND = 4;
const MAX_LINES = 1_000;

/** Pictures a tab. */
export async function screenshot(tabId: number, { ref, full, numbered, ifOrigin }: Params, settings: () => Settings, looks: Looks): Promise<Result> {
  await awake(tabId);
  const capture = () => picture(tabId, settings, ifOrigin);
  if (!ref && !full && !numbered) return { mimeType: "image/png", data: base64Of(await capture()) };
  await capture(); // nothing is done to a page that may not be pictured
  const numbers = numbered ? new Numbers(tabId, await looks.acting(tabId)) : undefined;
  const view = await inPage(tabId, begin, []);
  try {
    const { region, still } = ref ? await regionOf(tabId, ref, view, looks) : { region: { left: 0, top: 0, width: view.width, height: full ? view.height + view.more : view.height }, still: !full };
    const taken = still ? await cropped(tabId, view, region, capture, numbers) : await stitched(tabId, view, region, ref !== undefined, capture, numbers);
    return { ...taken, ...(numbers && { lines: numbers.lines }) };
  } finally {
    await Promise.all([numbers?.remove(), askDocuments({ target: { tabId }, func: () => globalThis.tabhubView?.end() }, TIMEOUT)]);
  }
}

/** The references in a picture. */
class Numbers {
  #tabId;
  #acting;
  #seen = new Set<string>();

  constructor(tabId: number, acting: Awaited<ReturnType<Looks["acting"]>>) {
    this.#tabId = tabId;
    this.#acting = acting;
  }

  /** Draws those of what is seen now. */
  async draw(view: View) {
    await this.#each(async (target, frameId, refs) => {
      const part = frameId === 0 ? undefined : await this.#seenOf(frameId, view);
      const [drawn] = await askDocuments({ target, func: number, args: part ? [refs, part] : [refs] }, TIMEOUT);
      for (const ref of drawn?.result ?? []) this.#seen.add(ref);
    });
  }

  get lines() {
    return this.#acting.filter(({ ref }) => this.#seen.has(ref)).slice(0, MAX_LINES).map(({ text }) => text);
  }

  async remove() {
    await this.#each((target) => askDocuments({ target, func: () => globalThis.tabhubNumbers?.remove() }, TIMEOUT));
  }

  async #each(act: (target: { tabId: number; documentIds: string[] }, frameId: number, refs: string[]) => Promise<unknown>) {
    const documents = new Map(this.#acting.map(({ document }) => [document.documentId, document.frameId]));
    await Promise.all([...documents].map(([id, frameId]) => act({ tabId: this.#tabId, documentIds: [id] }, frameId, this.#acting.filter(({ document }) => document.documentId === id).map(({ ref }) => ref))));
  }

  /** The part of a frame's viewport that the tab shows. */
  async #seenOf(frameId: number, view: View): Promise<Region> {
    const [from, to] = await Promise.all([0, 100].map((at) => inTab(this.#tabId, frameId, { x: at, y: at }, false)));
    if (typeof from === "string" || typeof to === "string") return { left: 0, top: 0, width: 0, height: 0 };
    const [across, down] = [(to.x - from.x) / 100, (to.y - from.y) / 100];
    return { left: -from.x / across, top: -from.y / down, width: view.width / across, height: view.height / down };
  }
}

/**
 * Where an element is, which is brought into view.
 * @returns still: it is pictured as it is seen then
 */
async function regionOf(tabId: number, ref: string, view: View, looks: Looks): Promise<{ region: Region; still: boolean }> {
  const { documentId, frameId } = await looks.documentOf(tabId, ref);
  const [shown] = await askDocuments({ target: { tabId, documentIds: [documentId] }, func: show, args: [ref] }, TIMEOUT);
  if (!shown?.result) throw new Refusal(Code.Unsupported, "the page is too busy to be pictured; try again");
  if ("stale" in shown.result) throw stale(shown.result.stale, shown.result.near);
  const { left, top, width, height, stays } = shown.result;
  await inTab(tabId, frameId, { x: left + width / 2, y: top + height / 2 }); // the frames around it bring it into view
  const place = async (x: number, y: number) => {
    const at = await inTab(tabId, frameId, { x, y }, false);
    if (typeof at === "string") throw new Refusal(Code.Unsupported, `the element cannot be pictured: ${at}`);
    return at;
  };
  const [from, to] = [await place(left, top), await place(left + width, top + height)];
  const { at } = await inPage(tabId, where, []);
  const region = { left: Math.max(0, from.x - AROUND), top: from.y - AROUND, width: 0, height: 0 };
  region.width = Math.max(1, Math.min(view.width, to.x + AROUND) - region.left);
  region.height = to.y + AROUND - region.top;
  const fits = region.top >= 0 && region.top + region.height <= view.height;
  if (fits || stays || frameId !== 0) {
    const cut = Math.max(0, region.top);
    return { region: { ...region, top: cut, height: Math.max(1, Math.min(view.height, to.y + AROUND) - cut) }, still: true };
  }
  const whole = Math.max(0, region.top + at);
  return { region: { ...region, top: whole, height: Math.min(view.height + view.more - whole, region.height) }, still: false };
}

/** Pictures a region of what is seen. */
async function cropped(tabId: number, view: View, region: Region, capture: () => Promise<string>, numbers: Numbers | undefined): Promise<Result> {
  await numbers?.draw(view);
  await new Promise((done) => setTimeout(done, BETWEEN));
  const bitmap = await bitmapOf(await capture());
  await inPage(tabId, where, []);
  const dense = bitmap.width / view.width;
  const scale = Math.min(dense, MAX_SIDE / region.width, MAX_SIDE / region.height);
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(region.width * scale)), Math.max(1, Math.round(region.height * scale)));
  canvas.getContext("2d")?.drawImage(bitmap, region.left * dense, region.top * dense, region.width * dense, region.height * dense, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return encoded(canvas);
}

/**
 * Puts together what is seen of a region, from one picture to the next.
 * @param part it is an element, so nothing that stays on the screen is to be seen
 */
async function stitched(tabId: number, view: View, region: Region, part: boolean, capture: () => Promise<string>, numbers: Numbers | undefined): Promise<Result> {
  const { pane, seam } = view;
  let canvas: OffscreenCanvas | undefined;
  let scale = 1; // of the canvas, against CSS pixels
  let height = 0; // of what is pictured
  let grown = false;
  // Where the pane is scrolled to when its upper edge shows the region's.
  const last = Math.min(view.more, Math.max(0, region.top + region.height - pane.top - pane.height));
  for (let at = Math.min(Math.max(0, region.top - pane.top), last), first = true; ; first = false) {
    const end = at >= last;
    const before = await inPage(tabId, scroll, [at, first && !part, end && !part]);
    await numbers?.draw(view);
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

function show(ref: string) {
  return globalThis.tabhubSteps?.show(ref);
}

function number(refs: string[], part?: Region) {
  return globalThis.tabhubSteps?.number(refs, part);
}

function where() {
  return globalThis.tabhubView?.where();
}
