/** Why a step ends its run. */
export class Failure extends Error {
  code;
  /** What of that kind there was on the page. */
  found;
  /** What is known of the step, if it acts. */
  did: "no" | "yes" | "perhaps" = "no";
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
