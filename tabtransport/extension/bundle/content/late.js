"use strict";
(() => {
  // content/late.ts
  globalThis.tabhubLate = true;
})();
