import { ask, element } from "./common.js";

/** How long Allow does nothing, so that a click meant for something else is no answer. */
const PAUSE = 700;

const id = decodeURIComponent(location.search.slice(1));
/** @type {Confirmation | undefined} */
const about = await ask({ ask: "confirmation", id });
const allow = element("allow", HTMLButtonElement);

if (about) {
  element("site", HTMLElement).textContent = about.site || "not named";
  element("tool", HTMLElement).textContent = about.tool;
  element("reason", HTMLElement).textContent = about.reason || "The hub asks before each call of this tool.";
  element("args", HTMLElement).textContent = JSON.stringify(about.args, null, 2);
  setTimeout(() => (allow.disabled = false), PAUSE);
} else {
  element("tool", HTMLElement).textContent = "This question is no longer open.";
}

/** @param {boolean} allowed */
async function answer(allowed) {
  const remember = element("remember", HTMLInputElement).checked;
  await ask({ ask: "confirm", id, allow: allowed, remember });
  window.close();
}

allow.addEventListener("click", () => answer(true));
element("deny", HTMLButtonElement).addEventListener("click", () => answer(false));
element("deny", HTMLButtonElement).focus();
