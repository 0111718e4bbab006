import { ask, element } from "./common.js";

/** How long Pair does nothing, so that a click meant for something else is no answer. */
const PAUSE = 700;

const id = decodeURIComponent(location.search.slice(1));
/** @type {InvitationView | undefined} */
const invitation = await ask({ ask: "invitation", id });
const accept = element("accept", HTMLButtonElement);

if (invitation) {
  element("code", HTMLElement).textContent = invitation.code;
  element("address", HTMLElement).textContent = invitation.address;
  setTimeout(() => (accept.disabled = false), PAUSE);
} else {
  element("address", HTMLElement).textContent = "This question is no longer open.";
}

/** @param {boolean} accepted */
async function answer(accepted) {
  await ask({ ask: "accept", id, accept: accepted });
  window.close();
}

accept.addEventListener("click", () => answer(true));
element("decline", HTMLButtonElement).addEventListener("click", () => answer(false));
element("decline", HTMLButtonElement).focus();
