// The page that a client opens to be let in. It sends the choice, shows the number that the
// owner has to type into the hub's own question, and goes on to where the hub says. The
// question lasts as long as this page.

import { byID } from "./dom.ts";
import { lines } from "./lines.ts";

import type { AuthorizeEvent } from "./api.d.ts";

/** Shows one part of the page. */
function show(part: "choice" | "waiting") {
  byID("choice").hidden = part !== "choice";
  byID("waiting").hidden = part !== "waiting";
}

/** @param text "" for none */
function showTrouble(text: string) {
  byID("trouble").textContent = text;
  byID("trouble").hidden = text === "";
}

/** What the owner has chosen, as postAuthorize of ../oauth.go reads it. */
function choice() {
  const access = (document.querySelector("input[name=access]:checked") as HTMLInputElement).value;
  const sites = byID("sites", HTMLInputElement).value.split(/[\s,]+/).filter((site) => site !== "");
  return { readOnly: access === "read", sites };
}

/** Asks the owner, and returns why that has led nowhere, "" if it has led on. */
async function ask() {
  const answer = await fetch(location.href, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(choice()),
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
  });
  if (!answer.ok) {
    const no = await answer.json();
    return no.error_description ?? no.error;
  }
  for await (const line of lines(answer)) {
    const event: AuthorizeEvent = JSON.parse(line);
    if (event.error) return event.error;
    if (event.code) showNumber(event.code);
    if (event.location) {
      goOn(event.location);
      return "";
    }
  }
  return "the hub has ended meanwhile";
}

function showNumber(code: string) {
  byID("asking").hidden = true;
  byID("number").hidden = false;
  for (const shown of document.querySelectorAll(".number")) shown.textContent = code;
}

/** @param to where the hub has checked that the client may be answered */
function goOn(to: string) {
  for (const id of ["asking", "number"]) byID(id).hidden = true;
  byID("location", HTMLAnchorElement).href = to; // a browser may ask for a click before it opens a program
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
