import { ask } from "./common.js";
import { byID } from "./elements.js";
import { Guard } from "./guard.js";

const id = decodeURIComponent(location.search.slice(1));
/** @type {InvitationView | undefined} */
const invitation = await ask({ ask: "invitation", id });

if (invitation) {
  byID("code").textContent = invitation.code;
  byID("address").textContent = invitation.address;
} else {
  byID("address").textContent = "This question is no longer open.";
}

/** @param {boolean} accepted */
async function answer(accepted) {
  await ask({ ask: "accept", id, accept: accepted });
  window.close();
}

const guard = new Guard(() => answer(false));
guard.add(byID("decline", HTMLButtonElement), () => answer(false));
guard.add(byID("accept", HTMLButtonElement), () => answer(true), () => invitation !== undefined);
