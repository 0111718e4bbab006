// ../../../../tabtransport/extension/elements.ts
function byID(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof (type ?? HTMLElement))) throw new Error(`the page has no ${type?.name ?? ""}#${id}`);
  return found;
}

// dom.ts
var address = document.body.dataset.base || new URL(".", location.href).href.replace(/\/$/, "");
var decided = Promise.resolve();
var released = Promise.resolve();
addEventListener("pointerdown", () => {
  released = new Promise((done) => {
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, () => setTimeout(done), { once: true });
  });
}, true);

// lines.ts
async function* lines({ body }) {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let line = [];
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const [rest, ...more] = part.value.split("\n");
      line.push(rest);
      for (const next of more) {
        yield line.join("");
        line = [next];
      }
    }
  } finally {
    await reader.cancel();
  }
}

// authorize.ts
function show(part) {
  byID("choice").hidden = part !== "choice";
  byID("waiting").hidden = part !== "waiting";
}
function showTrouble(text) {
  byID("trouble").textContent = text;
  byID("trouble").hidden = text === "";
}
function choice() {
  const access = document.querySelector("input[name=access]:checked").value;
  const sites = byID("sites", HTMLInputElement).value.split(/[\s,]+/).filter((site) => site !== "");
  return { readOnly: access === "read", sites };
}
async function ask() {
  const answer = await fetch(location.href, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(choice()),
    cache: "no-store",
    credentials: "omit",
    redirect: "error"
  });
  if (!answer.ok) {
    const no = await answer.json();
    return no.error_description ?? no.error;
  }
  for await (const line of lines(answer)) {
    const event = JSON.parse(line);
    if (event.error) return event.error;
    if (event.code) showNumber(event.code);
    if (event.location) {
      goOn(event.location);
      return "";
    }
  }
  return "the hub has ended meanwhile";
}
function showNumber(code) {
  byID("asking").hidden = true;
  byID("number").hidden = false;
  for (const shown of document.querySelectorAll(".number")) shown.textContent = code;
}
function goOn(to) {
  for (const id of ["asking", "number"]) byID(id).hidden = true;
  byID("location", HTMLAnchorElement).href = to;
  byID("done").hidden = false;
  location.replace(to);
}
byID("choice").addEventListener("submit", async (event) => {
  event.preventDefault();
  showTrouble("");
  byID("asking").hidden = false;
  byID("number").hidden = true;
  show("waiting");
  const why = await ask().catch(() => "the hub does not answer");
  if (why === "") return;
  showTrouble(`The client was not let in: ${why}.`);
  show("choice");
});
