// What the steps of packs are, for the worker and for the documents that do them.

/** Whether a step may change something: the worker grants each of these once. */
export function isActing({ request, open, click, fill, press }: Step) {
  return [open, click, fill, press].some((verb) => verb !== undefined) || (request !== undefined && ((request.method ?? "GET") !== "GET" || request.token !== undefined));
}

export function verbOf(step: Step) {
  return ["request", "open", "click", "fill", "press", "read", "wait"].find((verb) => verb in step) ?? "";
}
