// Where a frame is in its tab.
"use strict";

/**
 * The path from the top document, where it runs, to a frame: the index of each frame in its parent,
 * -1 for one in a shadow tree, which has none.
 *
 * @param {Window} source
 * @returns {number[] | undefined} undefined if it has gone, or is too deep
 */
function framePath(source) {
  /** @type {number[]} */
  const up = [];
  for (let at = source; at !== window; at = at.parent) {
    if (!at.parent || up.length === 32) return undefined;
    up[up.length] = frameIndex(at);
  }
  /** @type {number[]} */
  const path = [];
  for (let i = up.length - 1; i >= 0; i--) path[path.length] = up[i]; // no method that the page may have changed
  return path;
}

/**
 * The index of a frame in its parent; -1: it is in a shadow tree.
 *
 * @param {Window} frame
 */
function frameIndex(frame) {
  const { parent } = frame;
  let index = parent.length - 1;
  while (index >= 0 && parent[index] !== frame) index--;
  return index;
}
