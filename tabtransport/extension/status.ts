// How things stand, in words: what the popup, the settings and the button in the toolbar say.

import { STATES, type Look } from "./states.ts";
import { waitsForYou } from "./words.ts";

/** The colours of looks on the button in the toolbar; those of pages are in style sheets. */
const COLOURS: Record<Look, string> = { good: "#1f5fbf", wait: "#9a6700", bad: "#b3261e", off: "#5f6673" };

export function stateOf({ hub, owner, waiting, working }: Standing): StateName {
  if (waiting) return "waiting";
  if (hub.state !== "connected") return hub.state;
  if (owner.waiting) return "waiting";
  if (owner.paused) return "paused";
  return working ? "working" : "connected";
}

/**
 * What the button in the toolbar shows: of the browser as a whole, or in one tab.
 * @param tab how many tools it offers,
 * whether a form there waits for the person, which clients use it, which one waits for the person to leave it,
 * how far a recording of what the person does there is
 */
export function button(standing: Standing, tab?: { tools: number; waiting: boolean; users: string[]; holder: string; recording?: "" | RecordingView["state"] }): { text: string; colour: string; title: string } {
  const state = stateOf(standing);
  const [name, look, badge] = STATES[state];
  const colour = COLOURS[look];
  const title = `tabhub: ${name}`;
  if (tab?.recording) return RECORDING[tab.recording];
  if (tab?.waiting) return { text: "you", colour: COLOURS.wait, title: "tabhub: a form in this tab waits for you to submit it" };
  if (tab?.holder) return { text: "you", colour: COLOURS.wait, title: `tabhub: ${waitsForYou(tab.holder)}` };
  switch (state) {
    case "waiting":
      return { text: String(questions(standing)), colour, title };
    case "connected":
    case "working":
      if (tab?.users.length) return { text: badgeOfWork(1), colour, title: `tabhub: ${using(tab.users)} this tab` };
  }
  const text = state === "working" ? badgeOfWork(standing.working) : badge;
  return { text: text || (tab?.tools ? String(tab.tools) : ""), colour, title };
}

const RECORDING = {
  asked: { text: "rec?", colour: COLOURS.wait, title: "tabhub: you are asked whether to record what you do in this tab" },
  on: { text: "rec", colour: COLOURS.bad, title: "tabhub: what you do in this tab is written down" },
  ended: { text: "rec!", colour: COLOURS.wait, title: "tabhub: what you have recorded waits for you to send it" },
};

const badgeOfWork = (calls: number) => (calls > 1 ? `${calls}…` : "…");

const questions = ({ owner, waiting }: Standing) => Math.max(waiting, owner.waiting);

/** The clients that use something, as a subject and its verb. */
export function using(users: string[]) {
  const [first, second, ...more] = users;
  if (!second) return `${first} is using`;
  return `${first} and ${more.length ? `${more.length + 1} others` : second} are using`;
}

/**
 * What clients have just done in a page.
 * @param did the latest first
 */
export function didWords([{ app, kind, name }, ...more]: Activity[]) {
  const words = kind === "browser" ? `${app} opened this page` : kind === "acts" ? `${app} ${name || "used this page"}` : `${app} used ${name}`;
  return more.length ? `${words}, and ${more.length} more` : words;
}

/**
 * Why a page has no tools, and what can be done about it.
 * @param native whether the browser has WebMCP itself
 */
export function whyNone(page: PageView, site: SiteView | undefined, native: boolean) {
  if (!page.web || !site) return "Only websites can offer tools. This is a page of the browser itself, of an extension, or a file.";
  if (!page.allowed) return "You have not allowed the extension in this site yet.";
  if (page.asleep) return "The browser has put this tab to sleep. Its tools are back when it is loaded.";
  if (!site.on) return "You do not share this site: the hub sees nothing of it, and no app can use it.";
  if (!page.reached && page.loading) return "The page is still loading.";
  if (!page.reached) return "The browser lets no extension into this page: it shows an error, or a site that the browser protects.";
  if (site.rejected.length) return "The page offers tools, but none that can be used.";
  if (page.loading) return "The page is still loading. It has offered no tools so far.";
  if (wantsReload(page, site, native)) return "This page was loaded before the extension was there. Reload it, and its tools are seen.";
  if (native) return "This page offers no tools. Sites decide whether they do.";
  if (!page.secure) return "This page offers no tools. It was loaded over http, where pages can have no WebMCP; only what a site brings itself works there.";
  if (!site.webmcp) return "This page offers no tools. The browser has no WebMCP, and you have switched off what the extension gives instead, so the site must bring its own.";
  return "This page offers no tools. Sites decide whether they do. The browser has no WebMCP, so the extension gives pages its own.";
}

/** Whether a page would have WebMCP if it were loaded again. */
export const wantsReload = (page: PageView, site: SiteView | undefined, native: boolean) => !native && page.bare && page.secure && !page.loading && site !== undefined && site.on && site.webmcp;

/** Why no app can use what a page offers, "" if some can. */
export function unusable(standing: Standing) {
  const { hub, owner } = standing;
  if (hub.state === "connected") return owner.paused ? STATES.paused[0] : "";
  return hub.state === "connecting" ? "" : STATES[hub.state][0];
}

/**
 * The state in words: what it means, and what the owner can do.
 * @param address the hub's
 */
export function explain(standing: Standing, address: string) {
  const { hub, waiting } = standing;
  const { host } = new URL(address);
  const state = stateOf(standing);
  switch (state) {
    case "waiting": {
      const count = questions(standing);
      const what = count === 1 ? "An app waits for your answer." : `${count} questions of apps wait for your answer.`;
      return waiting ? what : `${what} It was asked elsewhere: answer it in the dashboard, or with “tabhub approve”.`;
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
      return "Your apps can use the pages that you share.";
    case "unpaired":
      return hub.reason
        ? `The hub at ${host} does not know this browser. Run “tabhub extension DIR” again and reload the extension, or run “tabhub browser pair”.`
        : "Run “tabhub browser pair” where the hub is, and open the address that it prints in this browser.";
    case "refused":
      return `At ${host}: ${hub.reason}`;
  }
  return "";
}
