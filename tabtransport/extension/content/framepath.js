// Where a frame is in its tab.
"use strict";

/**
 * The path from the top document, where it runs, to a frame: the index of each frame in its parent.
 *
 * @param {Window} source
 * @returns {number[] | undefined} undefined if it has gone
 */
function framePath(source) {
  /** @type {number[]} */
  const up = [];
  for (let at = source; at !== window; at = at.parent) {
    const { parent } = at;
    if (!parent) return undefined;
    let index = 0;
    while (index < parent.length && parent[index] !== at) index++;
    if (index === parent.length || up.length === 32) return undefined;
    up[up.length] = index;
  }
  /** @type {number[]} */
  const path = [];
  for (let i = up.length - 1; i >= 0; i--) path[path.length] = up[i]; // no method that the page may have changed
  return path;
}
