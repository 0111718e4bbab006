// Where a frame is in its tab.

/**
 * The path from the top document, where it runs, to a frame: the index of each frame in its parent,
 * -1 for one in a shadow tree, which has none.
 * @returns undefined if it has gone, or is too deep
 */
export function framePath(source: Window): number[] | undefined {
  const up: number[] = [];
  for (let at = source; at !== window; at = at.parent) {
    if (!at.parent || up.length === 32) return undefined;
    up[up.length] = frameIndex(at);
  }
  const path: number[] = [];
  for (let i = up.length - 1; i >= 0; i--) path[path.length] = up[i]; // no method that the page may have changed
  return path;
}

/** The index of a frame in its parent; -1: it is in a shadow tree. */
export function frameIndex(frame: Window) {
  const { parent } = frame;
  let index = parent.length - 1;
  while (index >= 0 && parent[index] !== frame) index--;
  return index;
}
