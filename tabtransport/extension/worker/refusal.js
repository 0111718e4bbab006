// An error that the hub is told with its code.

export const UNSUPPORTED = -32004;

export class Refusal extends Error {
  /**
   * @param {number} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** What the hub asks for is of a site that the user has switched off, or may be. */
export function notShared() {
  return new Refusal(UNSUPPORTED, "the user does not share this site with the hub");
}
