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
  const path = [];
  for (let at = source; at !== window; at = at.parent) {
    const { parent } = at;
    let index = 0;
    while (index < parent.length && parent[index] !== at) index++;
    if (index === parent.length || path.length === 32) return undefined;
    path[path.length] = index;
  }
  return path.reverse();
}
