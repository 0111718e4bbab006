import { ask, element } from "./common.js";
import { Guard } from "./guard.js";

const id = decodeURIComponent(location.search.slice(1));
/** @type {InvitationView | undefined} */
const invitation = await ask({ ask: "invitation", id });

if (invitation) {
  element("code", HTMLElement).textContent = invitation.code;
  element("address", HTMLElement).textContent = invitation.address;
} else {
  element("address", HTMLElement).textContent = "This question is no longer open.";
}

/** @param {boolean} accepted */
async function answer(accepted) {
  await ask({ ask: "accept", id, accept: accepted });
  window.close();
}

const guard = new Guard(() => answer(false));
guard.add(element("decline", HTMLButtonElement), () => answer(false));
guard.add(element("accept", HTMLButtonElement), () => answer(true), () => invitation !== undefined);
