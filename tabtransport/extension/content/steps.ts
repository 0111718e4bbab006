// Brought to a document in which steps of a pack are to run. It starts once in each document.

import { Runner } from "./steps/runner.ts";

{
  // The empty document that a frame begins with leaves its window, and all in it, to the next one of its origin.
  const before = Object.hasOwn(globalThis, "tabhubRunner") ? globalThis.tabhubRunner : undefined;
  if (before?.document === document) before.connect();
  else globalThis.tabhubRunner = new Runner();
}
