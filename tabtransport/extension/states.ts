// The states of browsers, tabs and clients, in one table for all that the extension and the dashboard show.

export type Look = "good" | "wait" | "bad" | "off";

/**
 * Of each state: what it is called, how it looks and, of the browser's, what the button in the toolbar
 * shows if that is always the same.
 */
export const STATES = {
  // The browser and the hub.
  connected: ["Connected", "good", ""],
  connecting: ["Connecting…", "good", ""],
  working: ["At work", "good", ""],
  waiting: ["Waiting for you", "wait", ""],
  paused: ["Paused", "wait", "II"],
  absent: ["The hub is not running", "off", "off"],
  unpaired: ["Not paired with the hub", "bad", "!"],
  unproved: ["Not your hub", "bad", "!"],
  outdated: ["The hub is older than the extension", "bad", "!"],
  refused: ["The hub refused this browser", "bad", "!"],
  replaced: ["Another browser took this one’s place", "bad", "!"],
  // Tabs, clients and what they have called.
  active: ["Active", "good"],
  ok: ["Ok", "good"],
  changing: ["Changing page", "wait"],
  dialog: ["Has a dialog open", "wait"],
  inUse: ["In use by you", "wait"],
  away: ["Away", "bad"],
  missing: ["Not there", "bad"],
  open: ["Open", "off"],
  asleep: ["Asleep", "off"],
  cached: ["Cached", "off"],
  closed: ["Closed", "off"],
} satisfies Record<string, [name: string, look: Look, badge?: string]>;

export type State = keyof typeof STATES;
