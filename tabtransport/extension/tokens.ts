// How many tokens a text has, for a model: rather too many than too few.

/** Runs of what tokens are made of: words, numbers, spaces, other signs of ASCII, and the rest. */
const RUNS = /([a-z]+|[A-Z]+)|(\d+)|( +)|([!-~])|([\u00a0-\u024f\u0370-\u04ff]+)|([^])/gi;

export function tokensIn(text: string): number {
  let count = 0;
  for (const [run, letters, digits, spaces, , european] of text.matchAll(RUNS)) {
    if (letters) count += 0.75 + run.length / 8;
    else if (digits) count += Math.ceil(run.length / 3);
    else if (spaces) count += run.length > 1 ? 1 : 0;
    else if (european) count += 0.5 + run.length / 2;
    else count += run.length === 1 && run < "\u007f" ? 0.7 : 1.5;
  }
  return Math.ceil(count);
}
