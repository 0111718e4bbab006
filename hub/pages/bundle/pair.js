"use strict";
(() => {
  // assets/pair.ts
  var SILENCE = 5e3;
  function show() {
    const state = location.hash.slice(1);
    const shown = state === "" ? "none" : state === "accepted" || state === "declined" ? state : "waiting";
    for (const id of ["waiting", "accepted", "declined", "none", "silent"]) {
      const part = document.getElementById(id);
      if (part) part.hidden = id !== shown;
    }
    return shown;
  }
  addEventListener("hashchange", show);
  show();
  setTimeout(() => {
    const silent = document.getElementById("silent");
    if (silent && show() === "waiting") silent.hidden = false;
  }, SILENCE);
})();
