// How many tokens a text has, for a model: rather too many than too few. Tokenizers differ, and the one that
// counts in the end is not known here: tokens.test.mjs has the counts of some.

/** Runs of what tokens are made of, and how much a run costs, and each sign of it. */
const RUNS: [signs: string, run: number, each: number][] = [
  ["[A-Z]?[a-z]+", 0.85, 0.17],
  ["[A-Z]+", 0.65, 0.5],
  ["\\d+", 0.7, 1 / 3],
  [" +", 0, 0.08],
  ["\\n", 0, 1],
  ["[!-~]", 0, 0.85],
  ["[\\u00a0-\\u024f]+", 0.5, 0.8],
  ["[\\u0400-\\u04ff]+", 0.4, 0.7],
  ["[\\u0600-\\u06ff]+", 0.4, 1.05],
  ["[\\u0370-\\u03ff]+", 0.5, 1.2],
  ["[\\u3000-\\u9fff\\uac00-\\ud7af]+", 0, 1.6],
  ["[^]", 0, 1.9],
];
const ANY = new RegExp(RUNS.map(([signs]) => `(${signs})`).join("|"), "g");

export function tokensIn(text: string): number {
  let count = 0;
  for (const [run, ...of] of text.matchAll(ANY)) {
    const [, once, each] = RUNS[of.findIndex((part) => part !== undefined)];
    count += once + each * run.length;
  }
  return Math.ceil(count);
}
