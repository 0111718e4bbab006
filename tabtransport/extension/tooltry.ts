// A tool in the popup: what it is, what it takes, and a form with which the owner calls it. The
// call goes to the page alone, as a click there would; the hub has no part in it.

import { ask } from "./common.ts";
import { make } from "./elements.ts";
import { parameters, schemaForm } from "./schemaform.ts";
import { resultView } from "./toolresult.ts";

import { CLASSES, duration } from "./words.ts";

export function toolView(tool: ToolView, at: ToolAt) {
  const { name, title, description } = tool;
  const { word, sentence } = CLASSES[tool.class];
  const hint = make("span", `hint ${tool.class}`, word);
  hint.title = sentence;
  const head = make("summary", "", make("span", "wide", make("code", "", name), ...(title && title !== name ? [` ${title}`] : [])), hint);
  if (description) head.append(make("p", "soft wide", description));
  const body = make("div", "body");
  const all = make("details", "", head, body);
  all.addEventListener("toggle", async () => {
    if (!all.open || body.childElementCount) return;
    const schema = await ask({ ask: "tool", tool: at });
    body.replaceChildren(...about(tool, schema), trier(at, schema));
  });
  return make("li", "tool", all);
}

function about(tool: ToolView, schema: unknown) {
  const takes = parameters(schema);
  const list = make("dl", "");
  for (const { name, depth, type, required, description, facts } of takes) {
    const head = make("dt", "wide", make("code", "", name), make("span", "soft", ` ${type}${required ? ", required" : ""}`));
    const words = make("dd", "soft wide", [description, ...facts].filter((part) => part).join(" · "));
    for (const part of [head, words]) part.style.marginInlineStart = `${depth}em`;
    list.append(head, words);
  }
  const parts = [make("p", tool.class === "destructive" ? "bad" : "soft", CLASSES[tool.class].sentence)];
  parts.push(takes.length ? make("div", "takes", make("h3", "", "Takes"), list) : make("p", "soft", "It takes no arguments."));
  return parts;
}

/** The button that turns what a tool takes into a form, and what comes of that. */
function trier(at: ToolAt, schema: unknown) {
  const start = make("button", "", "Try it");
  start.setAttribute("aria-label", `Try it: ${at.name}`);
  const all = make("div", "try", start);
  start.addEventListener("click", () => {
    all.parentElement?.querySelector(".takes")?.remove();
    all.replaceChildren(tryForm(at, schema));
    all.querySelector("button, input, select, textarea")?.scrollIntoView({ block: "nearest" });
  });
  return all;
}

function tryForm(at: ToolAt, schema: unknown) {
  const fields = schemaForm(schema);
  const call = make("button", "main", "Call it");
  const cancel = make("button", "", "Cancel");
  cancel.type = "button";
  cancel.hidden = true;
  const said = make("p", "soft");
  said.setAttribute("role", "status");
  const outcome = make("div", "");
  const form = make("form", "", fields.element, make("div", "row", call, cancel, said), outcome);
  form.noValidate = true; // each field says what is wrong with it

  let id = "";
  cancel.addEventListener("click", () => ask({ ask: "cancel", id }));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const args = fields.value();
    if (!args || call.disabled) return;
    id = crypto.randomUUID();
    call.disabled = true;
    cancel.hidden = false;
    said.textContent = "Calling…";
    outcome.replaceChildren();
    const began = performance.now();
    const tried: ManualResult = await ask({ ask: "try", id, tool: at, args }).catch((error) => ({ error: String(error) }));
    said.textContent = `It took ${duration(performance.now() - began)}.`;
    call.disabled = false;
    cancel.hidden = true;
    outcome.replaceChildren("error" in tried ? make("p", "bad wide", tried.error) : resultView(tried.result));
    outcome.scrollIntoView({ block: "nearest" });
  });
  return form;
}
