import { ask } from "./common.ts";
import { byID } from "./elements.ts";

import { Guard } from "./guard.ts";

const id = decodeURIComponent(location.search.slice(1));
const invitation: InvitationView | undefined = await ask({ ask: "invitation", id });

if (invitation) {
  byID("code").textContent = invitation.code;
  byID("address").textContent = invitation.address;
} else {
  byID("address").textContent = "This question is no longer open.";
}

async function answer(accepted: boolean) {
  await ask({ ask: "accept", id, accept: accepted });
  window.close();
}

const guard = new Guard(() => answer(false));
guard.add(byID("decline", HTMLButtonElement), () => answer(false));
guard.add(byID("accept", HTMLButtonElement), () => answer(true), () => invitation !== undefined);
