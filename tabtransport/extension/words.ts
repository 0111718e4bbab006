// Words that the extension's pages and the dashboard have in common.

/** What a tool may change, as a word and as a sentence. */
export const CLASSES: Record<string, { word: string; sentence: string }> = {
  read: { word: "reads", sentence: "It says that it only reads." },
  write: { word: "changes", sentence: "It may change something." },
  act: { word: "acts", sentence: "It acts on the page as you would; nobody has said what that changes." },
  destructive: { word: "destructive", sentence: "It may do what cannot be undone." },
};

/** How long something took. */
export const duration = (ms: number) => (ms < 0.1 ? "< 0.1 ms" : ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(ms < 100_000 ? 1 : 0)} s`);

/** What a client says that holds a tab for itself while its owner uses the tab. */
export const waitsForYou = (holder: string) => `${holder} waits for you to finish`;
