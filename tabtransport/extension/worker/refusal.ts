// Errors of the protocol.

export const Code = {
  MethodNotFound: -32601,
  InvalidParams: -32602,
  Internal: -32603,
  TabNotFound: -32001,
  Limit: -32003,
  Unsupported: -32004,
  Unpaired: -32005,
} as const satisfies Partial<ErrorCodes>;

/** An error that one side tells the other with its code. */
export class Refusal extends Error {
  code;
  data;

  constructor(code: number, message: string, data?: RpcError["data"]) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The tab shows another site than the one that the hub has decided about: nothing was done. */
export function elsewhere() {
  return new Refusal(Code.TabNotFound, "the tab shows another site by now", { delivered: false });
}

/** What the hub asks for is of a site that the user has switched off, or may be. */
export function notShared() {
  return new Refusal(Code.Unsupported, "the user does not share this site with the hub");
}
