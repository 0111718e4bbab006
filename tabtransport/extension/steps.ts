// What the steps of packs and of clients are, for the worker and for the documents that do them.

const ACTING = ["open", "click", "fill", "press", "select", "hover", "scroll", "drag", "upload"] as const;
const VERBS = ["request", ...ACTING, "read", "wait", "dialog", "look"] as const;

/** Whether a step may change something: the worker grants each of these once. */
export function isActing(step: Step) {
  const { request } = step;
  return ACTING.some((verb) => step[verb] !== undefined) || (request !== undefined && ((request.method ?? "GET") !== "GET" || request.token !== undefined));
}

export function verbOf(step: Step): string {
  return VERBS.find((verb) => verb in step) ?? "";
}
