"use strict";
(() => {
  // content/openedearlier.ts
  globalThis.tabhubOpenedEarlier = true;
})();
