// What a page that is pictured whole does meanwhile: it scrolls, and what stays where it is on the screen is seen
// once. It runs in the page, in the extension's world. No element, style or attribute of the page is changed.

/** How a page is seen, in CSS pixels. */
export interface View {
  width: number;
  height: number;
  /** The part of it that scrolls, and by how much it can. */
  pane: { left: number; top: number; width: number; height: number };
  more: number;
  /** The upper part of it that is not to be pictured once more: what sticks there may be missing. */
  seam: number;
  /** Why it cannot be pictured whole. */
  refused?: string;
}

export interface PageView {
  /**
   * Scrolls, and hides what is not to be seen there.
   * @param first nothing was pictured before
   * @param last nothing is pictured then
   * @returns how far it has come
   */
  scroll(to: number, first: boolean, last: boolean): Promise<number | { refused: string }>;
  where(): { at: number; width: number; tall: number; more: number; refused?: string };
  /** Leaves the page as it was. */
  end(): void;
}

export function begin(): View {
  /** It ends by itself when it hears nothing of the worker, in ms. */
  const LASTS = 10_000;
  const BY_HAND = "the person in front of the tab uses it; take the screenshot later, or without full";
  if (Object.hasOwn(globalThis, "tabhubView")) globalThis.tabhubView?.end();

  const all = function* (root: Document | ShadowRoot): Generator<Element> {
    for (const element of root.querySelectorAll("*")) {
      yield element;
      const shadow = chrome.dom.openOrClosedShadowRoot(element as HTMLElement);
      if (shadow) yield* all(shadow);
    }
  };
  const moreOf = (element: Element) => element.scrollHeight - element.clientHeight;
  const boxOf = (element: Element) => {
    const { left, top } = element.getBoundingClientRect();
    return { left: left + element.clientLeft, top: top + element.clientTop, width: element.clientWidth, height: element.clientHeight };
  };
  const root = document.scrollingElement ?? document.documentElement;
  /** The page itself or, in pages that are as high as the window, what scrolls in most of it. */
  const scroller = (() => {
    if (moreOf(root) > 0) return root;
    let best: Element = root;
    let size = innerWidth * innerHeight * 0.3;
    for (const element of all(document)) {
      if (moreOf(element) < 1 || element.clientWidth * element.clientHeight < size || !/auto|scroll|overlay/.test(getComputedStyle(element).overflowY)) continue;
      const { left, top, width, height } = boxOf(element);
      if (left < 0 || top < 0 || left + width > innerWidth + 1 || top + height > innerHeight + 1 || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      [best, size] = [element, width * height];
    }
    return best;
  })();
  const more = Math.max(0, moreOf(scroller));
  const pane = scroller === root ? { left: 0, top: 0, width: innerWidth, height: innerHeight } : boxOf(scroller);
  const before = scroller.scrollTop;

  const byHand = new AbortController();
  let used = false;
  for (const type of ["wheel", "pointerdown", "touchstart", "keydown"]) {
    addEventListener(type, ({ isTrusted }) => void (used ||= isTrusted), { capture: true, passive: true, signal: byHand.signal });
  }
  /** What does not move with the page, and where it would be if it did. */
  const apart = new Map<Element, { top: number; low: boolean }>();
  let hidden: Animation[] = [];
  const show = () => {
    for (const animation of hidden) animation.cancel();
    hidden = [];
  };
  const snaps = scroller.animate({ scrollSnapType: ["none", "none"] }, { duration: 1, fill: "both" });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const view: PageView = {
    async scroll(to, first, last) {
      clearTimeout(timer);
      timer = setTimeout(view.end, LASTS);
      if (used) return { refused: BY_HAND };
      show();
      scroller.scrollTo({ top: to, behavior: "instant" });
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const at = scroller.scrollTop;
      for (const element of all(document)) {
        const { position } = getComputedStyle(element);
        if (position !== "fixed" && position !== "sticky") continue;
        const { top, height } = element.getBoundingClientRect();
        const known = apart.get(element);
        if (!known) apart.set(element, { top: top + at, low: height < innerHeight / 2 && top + height / 2 > innerHeight / 2 });
        const moved = known ? Math.abs(top + at - known.top) > 1 : !first && position === "fixed";
        // What is at the lower edge is seen in the last picture, and the rest in the first.
        const low = position === "fixed" && apart.get(element)?.low;
        if (low ? last : first || !moved) continue;
        hidden.push(element.animate({ opacity: [0, 0], visibility: ["hidden", "hidden"] }, { duration: 1, fill: "both" }));
      }
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      return at;
    },
    where: () => ({ at: scroller.scrollTop, width: innerWidth, tall: innerHeight, more: moreOf(scroller), ...(used && { refused: BY_HAND }) }),
    end() {
      clearTimeout(timer);
      byHand.abort();
      show();
      snaps.cancel();
      if (!used) scroller.scrollTo({ top: before, behavior: "instant" });
      if (globalThis.tabhubView === view) globalThis.tabhubView = undefined;
    },
  };
  globalThis.tabhubView = view;
  timer = setTimeout(view.end, LASTS);
  const sticks = [...all(document)].map((element) => {
    const { position, top } = getComputedStyle(element);
    return position === "sticky" && top !== "auto" ? Math.max(0, parseFloat(top)) + element.getBoundingClientRect().height : 0;
  });
  const seam = Math.ceil(Math.min(pane.height * 0.4, sticks.reduce((a, b) => Math.max(a, b), 0)));
  const pinched = (visualViewport?.scale ?? 1) > 1.01;
  return { width: innerWidth, height: innerHeight, pane, more, seam, ...(pinched && { refused: "the person in front of the tab has zoomed into the page with two fingers" }) };
}
