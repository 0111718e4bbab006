import { ask, element } from "./common.js";

/** How long Pair does nothing, so that a click meant for something else is no answer. */
const PAUSE = 700;

const id = decodeURIComponent(location.search.slice(1));
/** @type {OfferView | undefined} */
const offer = await ask({ ask: "offer", id });
const accept = element("accept", HTMLButtonElement);

if (offer) {
  element("code", HTMLElement).textContent = offer.code;
  element("address", HTMLElement).textContent = offer.address;
  setTimeout(() => (accept.disabled = false), PAUSE);
} else {
  element("address", HTMLElement).textContent = "This question is no longer open.";
}

/** @param {boolean} accepted */
async function answer(accepted) {
  await ask({ ask: "offered", id, accept: accepted });
  window.close();
}

accept.addEventListener("click", () => answer(true));
element("decline", HTMLButtonElement).addEventListener("click", () => answer(false));
element("decline", HTMLButtonElement).focus();
