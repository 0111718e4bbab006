// Brought to a document that is looked at, or in which steps are to run. It starts once in each document.

import { resolve } from "./steps/leads.ts";
import { look } from "./steps/look.ts";
import { number, show } from "./steps/shown.ts";
import { Runner } from "./steps/runner.ts";

{
  // The empty document that a frame begins with leaves its window, and all in it, to the next one of its origin.
  const before = Object.hasOwn(globalThis, "tabhubSteps") ? globalThis.tabhubSteps : undefined;
  if (before?.document === document) before.connect();
  else {
    const runner = new Runner();
    globalThis.tabhubSteps = {
      document,
      connect: () => runner.connect(),
      look,
      refs: resolve,
      show,
      number,
    };
  }
}
