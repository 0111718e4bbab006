// Asks the page's own server as the page would: with its session, at an address that the pack
// reaches, and nowhere else.

import { attribute, clean, inputValue, query } from "./dom.ts";
import { Failure } from "./failure.ts";
import type { Scope } from "./find.ts";
import { bodyOf, fieldsOf, pathOf, take } from "./values.ts";
import { Values } from "../../../pagejs/values.ts";

type RequestStep = import("../../../../spec/schema/tabhub.v1").RequestStep;
type TokenRule = import("../../../../spec/schema/tabhub.v1").TokenRule;

const MAX_ANSWER = 4 << 20;
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
/** As the hub has them (hub/offer/pack/request.go). */
const TOKEN_HEADER = /^([a-z-]*(csrf|xsrf)[a-z-]*|authorization|x-requested-with|(x-)?request-?verification-?token)$/i;

/** A request that is ready to be sent. */
export interface Ready {
  words: string;
  method: string;
  url: string;
  init: RequestInit;
  /** Its token, "" if it has none: no text has it. */
  token: string;
}

/** The address of a path of the page's own server. */
export function addressOf({ path, query = {} }: { path: string; query?: { [name: string]: unknown } }, scope: Scope): string {
  const url = new URL(pathOf(path, scope), self.origin); // never by the page's own base
  for (const [name, value] of fieldsOf(query, scope)) url.searchParams.append(name, value);
  if (url.origin !== self.origin || !scope.inMatch(url.href)) {
    throw new Failure("STEP_REFUSED", `it would reach ${clean(url.href, 200)}, ${scope.outside}`);
  }
  return url.href;
}

/** Makes a request, with its token. */
export async function prepare(step: RequestStep, scope: Scope, signal: AbortSignal): Promise<Ready> {
  const { method = "GET", json, form, token } = step;
  if (!METHODS.includes(method)) throw new Failure("STEP_REFUSED", `${clean(method)} is no method of a pack`);
  const url = addressOf(step, scope);
  const headers: { [name: string]: string } = { accept: "application/json, text/plain;q=0.9, */*;q=0.8" };
  const fields = form && fieldsOf(form, scope);
  let body = json === undefined ? undefined : bodyOf(json, scope);
  const secret = token ? await tokenOf(token, scope, signal) : "";
  if (token) {
    if (token.header) {
      if (!TOKEN_HEADER.test(token.header)) throw new Failure("STEP_REFUSED", `${clean(token.header)} is no header for tokens`);
      headers[token.header] = secret;
    } else if (token.field && fields) fields.push([token.field, secret]);
    else if (token.field && Values.isObject(body)) body = { ...body, [token.field]: secret }; // which is not one that is given elsewhere
    else throw new Failure("STEP_REFUSED", "a token goes into a header, a field of the form or a member of the JSON");
  }
  if (body !== undefined) headers["content-type"] = "application/json";
  const init: RequestInit = {
    ...OWN,
    method,
    headers,
    body: body === undefined ? (fields && new URLSearchParams(fields)) : JSON.stringify(body),
  };
  return { words: `${method} ${clean(new URL(url).pathname, 200)}`, method, url, init, token: secret };
}

/** A redirect is not followed: it could lead where the pack does not reach. */
const OWN: RequestInit = { mode: "same-origin", credentials: "same-origin", redirect: "manual", cache: "no-store", referrerPolicy: "same-origin" };

/**
 * Sends a request.
 * @returns what it gave
 */
export async function send({ words, method, url, init, token }: Ready, step: RequestStep, signal: AbortSignal): Promise<unknown> {
  const said = (text: string) => clean(without(token, text), 200);
  const failed = (message: string) => {
    const failure = new Failure("STEP_ANSWER", `${words} ${message}`);
    failure.did = "perhaps";
    return failure;
  };
  let text;
  let response;
  try {
    response = await fetch(url, { ...init, signal });
    text = await textOf(response);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw failed(`was sent, and there is no answer: ${clean(Values.errorText(error), 200)}`);
  }
  if (response.type === "opaqueredirect") throw failed("was answered with a redirect, which a request does not follow; perhaps the site wants a login, or this is better done with fill and click");
  if (text === undefined) throw failed(`was answered with more than ${MAX_ANSWER >> 20} MiB`);
  const { ok, status } = response;
  if (!ok) throw failed(`was answered with ${status}${text ? `: ${said(text)}` : ""}`);
  const done = (error: unknown) => {
    if (error instanceof Failure) error.did = "yes";
    return error;
  };
  const data = parsed(text, response.headers.get("content-type") ?? "");
  try {
    if (data === undefined) throw new Failure("STEP_ANSWER", `${words} was answered with ${status}, and with what is no JSON: ${said(text)}`);
    if (isDeep(data)) throw new Failure("STEP_ANSWER", `${words} was answered with ${status}, and with JSON that is nested more than ${MAX_DEPTH} times`);
    const open = token.length < LEAST ? data : withoutToken(token, data);
    if (!step.take) return open;
    if (typeof open === "string") throw new Failure("STEP_ANSWER", `${words} was answered with a text, of which nothing can be taken: ${said(open)}`);
    return take(open, step.take);
  } catch (error) {
    throw method === "GET" ? error : done(error);
  }
}

/** How deeply what an answer has may be nested: no message between the parts of an extension has more. */
const MAX_DEPTH = 64;

function isDeep(data: unknown): boolean {
  let level = [data];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((value) => (value !== null && typeof value === "object" ? Object.values(value) : []));
  }
  return false;
}

/** From how many characters on what is like a token in an answer is taken for it. */
const LEAST = 8;

/** A text without a token, also as forms and addresses write it. */
function without(token: string, text: string): string {
  if (!token) return text;
  const written = [token, encodeURIComponent(token.toWellFormed()), new URLSearchParams({ "": token }).toString().slice(1)];
  return written.reduce((all, one) => all.replaceAll(one, "…"), text);
}

/** What an answer has, without the token of its request. */
function withoutToken(token: string, data: unknown): unknown {
  if (typeof data === "string") return without(token, data);
  if (Array.isArray(data)) return data.map((element) => withoutToken(token, element));
  if (!Values.isObject(data)) return data;
  return Object.fromEntries(Object.entries(data).map(([name, member]) => [without(token, name), withoutToken(token, member)]));
}

/** The JSON of an answer, or its text; undefined if it says that it is JSON and is not. */
function parsed(text: string, type: string): unknown {
  const says = /[/+]json\b/i.test(type);
  if (!says && !/^\s*[[{]/.test(text)) return text;
  if (says && text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return says ? undefined : text;
  }
}

/** The text of an answer; undefined if it is too large. */
async function textOf(response: Response): Promise<string | undefined> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > MAX_ANSWER) {
      void reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

// ---- Tokens: they are in a request and nowhere else

async function tokenOf({ meta, hidden, cookie, storage, page }: TokenRule, scope: Scope, signal: AbortSignal): Promise<string> {
  const found = new Set<string>();
  const add = (value: string | null) => value && found.add(value);
  if (meta) for (const element of query(document, `meta[name="${CSS.escape(meta)}"]`)) add(attribute(element, "content"));
  if (hidden) for (const element of query(document, `input[type=hidden i][name="${CSS.escape(hidden)}"]`)) add(inputValue(element));
  if (cookie) add(cookieOf(cookie));
  if (storage) add(stored(storage));
  if (page) {
    const answer = await fetch(addressOf(page, scope), { ...OWN, signal }).catch((error) => {
      if (signal.aborted) throw signal.reason;
      throw new Failure("STEP_ANSWER", `${page.path}, which has the token, did not answer: ${clean(Values.errorText(error), 200)}`);
    });
    if (!answer.ok) throw new Failure("STEP_ANSWER", `${page.path}, which has the token, was answered with ${answer.type === "opaqueredirect" ? "a redirect" : answer.status}`);
    const text = await textOf(answer);
    const other = new DOMParser().parseFromString(text ?? "", "text/html");
    try {
      for (const element of query(other, page.selector)) add(attribute(element, page.attribute || "value"));
    } catch {
      throw new Failure("STEP_REFUSED", `${JSON.stringify(clean(page.selector))} is no selector`);
    }
  }
  const where = meta ? `meta element ${clean(meta)}` : hidden ? `hidden field ${clean(hidden)}` : cookie ? `cookie ${clean(cookie)}` : storage ? `entry ${clean(storage)} of the page's storage` : `${page?.path}`;
  const [token] = found;
  if (token === undefined) throw new Failure("STEP_NOT_FOUND", `there is no token in ${where}; perhaps the site wants a login`);
  if (found.size > 1) throw new Failure("STEP_AMBIGUOUS", `there are ${found.size} tokens in ${where}`);
  return token;
}

function cookieOf(name: string): string | null {
  for (const pair of document.cookie.split(/;\s*/)) {
    const [is, ...value] = pair.split("=");
    if (is !== name) continue;
    const text = value.join("=");
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }
  return null;
}

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key) ?? sessionStorage.getItem(key);
  } catch {
    return null; // the page has none
  }
}
