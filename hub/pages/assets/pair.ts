// The page that `tabhub browser pair` opens. The extension reads the offer from the tab's address,
// asks its user, and says by the address what became of it. The page does not read it.

const SILENCE = 5_000;

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
