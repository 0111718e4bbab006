// How things stand, in one list for all that the extension shows.

const CALM = "#1f5fbf";
const WAIT = "#9a6700";
const TROUBLE = "#b3261e";
const GREY = "#5f6673";

/**
 * Of each state: what it is called, and what the button in the toolbar shows in which colour.
 *
 * @type {Record<StateName, [name: string, badge: string, colour: string]>}
 */
export const STATES = {
  connected: ["Connected", "", CALM],
  connecting: ["Connecting…", "", CALM],
  working: ["At work", "…", CALM],
  waiting: ["Waiting for you", "?", WAIT],
  paused: ["Paused", "II", WAIT],
  absent: ["Asleep: the hub is not running", "off", GREY],
  unpaired: ["Not paired with the hub", "!", TROUBLE],
  unproved: ["Not your hub", "!", TROUBLE],
  outdated: ["The hub is older than the extension", "!", TROUBLE],
  refused: ["The hub refused this browser", "!", TROUBLE],
  replaced: ["Another browser took this one’s place", "!", TROUBLE],
};

/**
 * @param {Standing} standing
 * @returns {StateName}
 */
export function stateOf({ hub, owner, waiting, working }) {
  if (waiting) return "waiting";
  if (hub.state !== "connected") return hub.state;
  if (owner.waiting) return "waiting";
  if (owner.paused) return "paused";
  return working ? "working" : "connected";
}

/**
 * The state in words: what it means, and what the owner can do.
 *
 * @param {Standing} standing
 * @param {string} address the hub's
 */
export function explain(standing, address) {
  const { hub, owner, waiting } = standing;
  const { host } = new URL(address);
  const state = stateOf(standing);
  switch (state) {
    case "waiting": {
      const count = Math.max(waiting, owner.waiting);
      const what = count === 1 ? "An app waits for your answer." : `${count} questions of apps wait for your answer.`;
      return waiting ? what : `${what} It was asked elsewhere: see “tabhub approve”.`;
    }
    case "paused":
      return "Nothing is done for any app until you resume.";
    case "working":
      return "An app is using a page of this browser.";
    case "connecting":
      return `to ${host}`;
    case "absent":
      return `Nothing answers at ${host}. Start your AI app, or run “tabhub serve”.`;
    case "unproved":
      return `What answers at ${host} cannot prove that it is the hub that this browser is paired with, and was told nothing. Run “tabhub doctor” to see what it is.`;
    case "outdated":
      return "It cannot prove to this browser that it is yours, and was told nothing. Update tabhub, then run “tabhub stop”.";
    case "replaced":
      return "A copy of this browser profile is connected to the hub. To have both, choose “Become a new browser” in the settings.";
  }
  switch (hub.state) {
    case "connected":
      return `to ${hub.hub || "the hub"}${hub.version ? ` ${hub.version}` : ""} at ${host}`;
    case "unpaired":
      return hub.reason
        ? `The hub at ${host} does not know this browser. Run “tabhub extension DIR” again and reload the extension, or run “tabhub pair”.`
        : "Run “tabhub pair” where the hub is, and open the address that it prints in this browser.";
    case "refused":
      return `At ${host}: ${hub.reason}`;
  }
  return "";
}
