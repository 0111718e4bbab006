// What of a document a person sees, from the root inwards: not what has no size, is cut off by what is around
// it, is transparent, or lies where nobody can scroll to.

import { box, inputType, isHTML, isVisible, labelsOf, outward, viewOf } from "./dom.ts";

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** What holds of an element, and of what is in it. */
export interface Seen {
  /** Whether the element is seen itself, and the text in it. */
  self: boolean;
  text: boolean;
  /** Text in it is drawn, if not where it is seen. */
  ink: boolean;
  /** Whether it is now, without scrolling. */
  now: boolean;
  /** Where its content is seen, however one scrolls, and where that which is positioned absolutely is. */
  clip: Box;
  absolute: Box;
  /** Where its content is seen without scrolling. */
  view: Box;
  /** A box around it scrolls, or does not scroll with the page: the page's own bounds do not count. */
  moves: boolean;
}

/** The opacity below which nothing is seen. */
const CLEAR = 0.02;

const ALL: Box = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
const NOTHING: Box = { left: 0, top: 0, right: 0, bottom: 0 };

/** What holds at the root of a document. */
export function seenAtRoot(): Seen {
  return { self: true, text: true, ink: true, now: true, clip: ALL, absolute: ALL, view: windowBox(), moves: false };
}

function windowBox(): Box {
  return { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
}

/** Where a page can be scrolled to, as it is scrolled now. */
export function pageBox(): Box {
  const root = document.documentElement;
  const { overflowX, direction } = getComputedStyle(root);
  const width = Math.max(root.clientWidth, /hidden|clip/.test(overflowX) ? 0 : root.scrollWidth);
  const left = (direction === "rtl" ? root.clientWidth - width : 0) - scrollX;
  return { left, top: -scrollY, right: left + width, bottom: Infinity };
}

/**
 * What holds in an element that has a box, or shows what is in it.
 * @param page where one can scroll to
 * @returns "nothing" if nothing in it is seen: "transparent" if that is so for those who hear the page, too
 */
export function seenIn(element: Element, style: CSSStyleDeclaration, outer: Seen, page: Box): Seen | "nothing" | "transparent" {
  const { position, display } = style;
  if (style.contentVisibility === "hidden") return "nothing";
  const transparent = Number(style.opacity) < CLEAR || /opacity\(0(\.0\d*)?%?\)/.test(style.filter);
  if (transparent || isCutOff(style, position)) {
    if (!standsForLabel(element)) return transparent ? "transparent" : "nothing";
    return { ...outer, self: true, text: false };
  }
  const isVisibleBox = style.visibility === "visible";
  const ink = hasInk(style);
  if (display === "contents") return { ...outer, self: isVisibleBox, text: isVisibleBox && ink, ink };
  if (element === document.documentElement || element === document.body) return { ...outer, self: isVisibleBox, text: isVisibleBox && ink, ink };
  const rect: Box = box(element);
  const fixed = position === "fixed";
  const clip = fixed ? windowBox() : position === "absolute" ? outer.absolute : outer.clip;
  const view = fixed || position === "absolute" ? windowBox() : outer.view;
  const moves = outer.moves || fixed;
  const inner = cut(rect, clip);
  const self = isVisibleBox && ((isSize(inner) && (moves || isSize(cut(rect, page)))) || standsForLabel(element));
  const now = self && isSize(cut(inner, view));
  // A box without a size may show text beyond its edges.
  const spills = isVisibleBox && !self && style.overflowX === "visible" && style.overflowY === "visible" && !isSize(rect) && isSize(cut(textBox(element), clip));
  const seen: Seen = { self, text: (self || spills) && ink, ink, now, clip, absolute: outer.absolute, view, moves };
  const { overflowX: x, overflowY: y } = style;
  if (x !== "visible" || y !== "visible") {
    const scrollsX = /auto|scroll/.test(x);
    const scrollsY = /auto|scroll/.test(y);
    seen.moves ||= scrollsX || scrollsY;
    seen.clip = isSize(inner)
      ? {
          left: scrollsX ? -Infinity : x === "visible" ? clip.left : inner.left,
          right: scrollsX ? Infinity : x === "visible" ? clip.right : inner.right,
          top: scrollsY ? -Infinity : y === "visible" ? clip.top : inner.top,
          bottom: scrollsY ? Infinity : y === "visible" ? clip.bottom : inner.bottom,
        }
      : NOTHING;
    seen.view = cut(rect, view);
  }
  if (position !== "static") seen.absolute = seen.clip;
  return seen;
}

/** Whether nothing is drawn of an element, though it has a place on the page. */
export function isTransparent(element: Element) {
  return outward(element, (at) => Number(viewOf(at)?.getComputedStyle(at).opacity ?? 1) < CLEAR) !== null && !standsForLabel(element);
}

/** A checkbox, or the like, that is drawn by its label: a person sees and clicks that. */
export function standsForLabel(element: Element) {
  return isHTML(element, "input") && /^(checkbox|radio|file)$/.test(inputType(element)) && labelsOf(element).some((label) => isVisible(label));
}

/** What is cut to nothing, mostly to be heard only. */
function isCutOff(style: CSSStyleDeclaration, position: string) {
  if (/^(absolute|fixed)$/.test(position) && /^rect\((0px|1px|auto)[, ]+(0px|1px)[, ]+(0px|1px)[, ]+(0px|1px|auto)\)$/.test(style.clip)) return true;
  const path = style.clipPath;
  return path !== "none" && /^(inset\((100|[5-9]\d)%|circle\(0(px|%)?\b|polygon\(0px 0px(, 0px 0px)+\))/.test(path);
}

/** Whether text is drawn such that it can be seen. */
function hasInk(style: CSSStyleDeclaration) {
  if (Number.parseFloat(style.fontSize) < 1 || Number.parseFloat(style.textIndent) < -400) return false;
  // Without -webkit-text-fill-color that is the color; a background may be drawn through the text.
  return !isClear(style.webkitTextFillColor) || style.backgroundClip.includes("text");
}

function isClear(color: string) {
  return /[,/] ?0(\.0\d*)?\)$/.test(color) && /^(rgba|color|hsla)|\//.test(color);
}

export function cut(a: Box, b: Box): Box {
  return { left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) };
}

/** More than a dot of it is there. */
function isSize({ left, top, right, bottom }: Box) {
  return right - left > 0.5 && bottom - top > 0.5 && Math.max(right - left, bottom - top) > 1;
}

/** Where the content of an element is. */
function textBox(element: Element): Box {
  const range = document.createRange();
  range.selectNodeContents(element);
  return range.getBoundingClientRect();
}
