/** Why a step ends its run. */
export class Failure extends Error {
  code;
  /** What of that kind there was on the page. */
  found;
  /** What is known of the step, if it acts. */
  did: "no" | "yes" | "perhaps" = "no";
  /** Whether that is certain also of what takes longer than its task. */
  certain = false;
  /** What was done before it failed. */
  words = "";
  /** Whether waiting may help. */
  passing = false;

  constructor(code: StepCode, message: string, found: string[] = []) {
    super(message);
    this.code = code;
    this.found = found;
  }

  /** Has the step wait, as long as it may take, for this to pass. */
  later() {
    this.passing = true;
    return this;
  }
}

/** Looks once more in the middle of a step: if that ends it, something may have come of what was done already. */
export function perhaps(look: () => void) {
  try {
    look();
  } catch (error) {
    if (error instanceof Failure) error.did = "perhaps";
    throw error;
  }
}
