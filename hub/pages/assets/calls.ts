// The hub's requests, answered by the source that has what is asked for.

import { pageRests } from "./pageidle.ts";
import { keepToken, takeToken } from "./tokens.ts";
import { Values } from "../../../tabtransport/pagejs/values.ts";
import { KEPT } from "../../../tabtransport/pagejs/watchtools.ts";

import type { HubLink } from "./link.ts";

const MAX_CALLS = 64;
/** How many calls that have ended are known by their ids; the hub asks for fewer at a time. */
const MAX_ENDED = 1024;
const PROGRESS_PER_SECOND = 50;
/** How often the hub hears of a call that waits for the person in front of the tab. */
const REMIND_MS = 10_000;

export class Calls {
  #link;
  #ownerOf;
  #step;
  #waits;
  /** What is running, by the hub's id. */
  #running = new Map<string | number, AbortController>();
  /** What waits until the page is idle, by the hub's id. */
  #rests = new Map<string | number, AbortController>();
  /** What has ended, by the hub's id, the oldest first. */
  #ended = new Set<string | number>();
  /** What waits until a call ends. */
  #waiting: ((value: unknown) => void)[] = [];
  /** How many calls wait for the person in front of the tab. */
  #atPerson = 0;
  #keeps;

  /** @param step called with what happens */
  constructor(link: HubLink, ownerOf: (kind: Kind, key: string) => ItemSource | undefined, step: (step: CallStep) => void, { waits, keeps = false }: {
    waits?: (waiting: boolean) => void; // called with whether a call waits for the person in front of the tab
    keeps?: boolean; // whether a call may go on in the next document
  } = {}) {
    this.#link = link;
    this.#ownerOf = ownerOf;
    this.#step = step;
    this.#waits = waits;
    this.#keeps = keeps;
  }

  /** @returns whether it is about a call */
  notice(method: string, params: JSONObject): boolean {
    if (method !== "browser/cancel") return false;
    this.#rests.get(params.requestId)?.abort();
    this.#running.get(params.requestId)?.abort(new DOMException(String(params.reason || "cancelled"), "AbortError"));
    return true;
  }

  /** Resolved when nothing runs. */
  async idle() {
    while (this.#running.size > 0) await new Promise((done) => this.#waiting.push(done));
  }

  async answer({ id, method, params }: HubRequest) {
    switch (method) {
      case "browser/ping":
        return this.#link.answer(id, "{}");
      case "browser/executeTool":
        return this.#run(id, method, "tool", params.toolName, params, (source, context) => {
          return source.call(params.toolName, params.args ?? {}, context);
        });
      case "browser/readResource":
        return this.#run(id, method, "resource", params.uri, params, async (source, context) => {
          return source.read(params.uri, context);
        });
      case "browser/getPrompt":
        return this.#run(id, method, "prompt", params.name, params, async (source, context) => {
          return source.prompt(params.name, params.args ?? {}, context);
        });
      case "browser/complete": {
        const { ref, argument, context } = params;
        const kind = ref.type === "ref/prompt" ? "prompt" : "resource";
        return this.#run(id, method, kind, ref.name ?? ref.uri, params, async (source, options) => {
          return source.complete?.({ ref, argument, context }, options) ?? "{}";
        });
      }
      case "browser/subscribeResource":
        return this.#run(id, method, "resource", params.uri, params, async (source, context) => {
          await source.subscribe(params.uri, params.subscribe === true, context);
          return "{}";
        });
      case "browser/rest":
        return this.#rest(id, params);
      case "browser/text":
        return this.#link.answer(id, JSON.stringify({ text: document.body?.innerText ?? "" }));
      case "browser/navigate":
        return this.#navigate(id, params);
      default:
        return this.#link.fail(id, -32601, `a page cannot answer ${method}`);
    }
  }

  /** Answers when the page is idle, or waitMs have passed. */
  async #rest(id: string | number, { waitMs }: JSONObject) {
    const abort = new AbortController();
    this.#rests.set(id, abort);
    const result = await pageRests(Number(waitMs), abort.signal);
    this.#rests.delete(id);
    if (!abort.signal.aborted) this.#link.answer(id, JSON.stringify(result));
  }

  /** @param work returns JSON text */
  async #run(id: string | number, method: string, kind: Kind, name: string, { args, extensions }: JSONObject, work: (source: ItemSource, context: CallOptions) => Promise<string>) {
    // After a lost connection the hub sends again what it has no answer to.
    if (this.#running.has(id) || this.#link.holds(id)) return;
    if (this.#ended.has(id)) return this.#link.fail(id, -32001, "the call has run, but its answer was lost");
    const source = this.#ownerOf(kind, name);
    // The page may be loading still: the hub may ask again, as nothing has run.
    if (!source) return this.#link.fail(id, -32001, `this page has no ${kind} ${name} now`, { delivered: false });
    if (this.#running.size >= MAX_CALLS) return this.#link.fail(id, -32003, `${MAX_CALLS} calls are running in this page already`);
    await this.#carryOut(id, { method, kind, name, args, extensions }, (options) => work(source, options));
  }

  /**
   * Runs a call, or a part of one, and answers it.
   * @param work returns JSON text
   */
  async #carryOut(id: string | number, { method, kind, name, args, extensions }: { method: string; kind: Kind; name: string; args?: any; extensions?: JSONObject }, work: (options: CallOptions) => Promise<string>) {
    const abort = new AbortController();
    this.#running.set(id, abort);
    this.#step({ id, phase: "start", method, name, args });
    let ok = false;
    let waited: (() => void) | undefined;
    const over = () => (waited = void waited?.());
    const waiting = () => {
      if (this.#running.get(id) === abort) waited ??= this.#remind(id);
      return over;
    };
    try {
      const result = await work({
        signal: abort.signal,
        progress: this.#progressOf(id, method, name),
        extensions,
        waiting,
        token: (token) => this.#keep(token, id),
      });
      // A cancelled call needs no answer.
      if (abort.signal.aborted) return;
      ok = true;
      this.#link.answer(id, kind === "tool" ? `{"success":true,"payload":${result}}` : result);
    } catch (error) {
      if (abort.signal.aborted) return;
      const message = Values.errorText(error);
      if (kind === "tool") this.#link.answer(id, JSON.stringify({ success: false, payload: message }));
      else this.#link.fail(id, -32603, message);
    } finally {
      over();
      this.#running.delete(id);
      this.#ended.add(id);
      for (const oldest of this.#ended) {
        if (this.#ended.size <= MAX_ENDED) break;
        this.#ended.delete(oldest);
      }
      this.#step({ id, phase: "end", method, name, ok });
      for (const done of this.#waiting.splice(0)) done(undefined);
    }
  }

  /** Has the hub keep a call for the next document. */
  async #keep(token: string, id: string | number) {
    if (!this.#keeps || !this.#running.has(id)) throw new DOMException("The call cannot go on in another document here.", "NotSupportedError");
    keepToken(token, id);
    this.#link.notify("browser/progress", { requestId: String(id), progress: 0, message: "the tool goes on in the tab's next document", continues: true });
    await this.#link.request("browser/ping", {}); // the hub has heard it
  }

  /**
   * Resumes a call of an earlier document of this tab.
   * @returns undefined if there is none
   */
  async resume(token: string): Promise<{ input: string; run(work: (options: CallOptions) => Promise<string>): void } | undefined> {
    const id = takeToken(token);
    if (id === undefined) return undefined;
    // It never opens where the companion extension connects the page.
    await Promise.race([this.#link.opened(), new Promise((late) => setTimeout(late, KEPT))]);
    const granted = await this.#link.request("browser/resumeCall", { requestId: String(id) }).catch(() => undefined);
    if (!granted) return undefined;
    return {
      input: JSON.stringify(granted.args),
      run: (work) => void this.#carryOut(id, { method: "browser/executeTool", kind: "tool", name: granted.toolName }, work),
    };
  }

  #progressOf(id: string | number, method: string, name: string): CallOptions["progress"] {
    let since = 0;
    let count = 0;
    return ({ progress, total, message }) => {
      if (!this.#running.has(id) || !Number.isFinite(progress)) return;
      if (Date.now() - since > 1000) {
        since = Date.now();
        count = 0;
      }
      if (++count > PROGRESS_PER_SECOND) return;
      const params: JSONObject = { requestId: String(id), progress };
      if (Number.isFinite(total)) params.total = total;
      if (message !== undefined) params.message = String(message).slice(0, 4096);
      this.#link.notify("browser/progress", params);
      this.#step({ id, phase: "progress", method, name, progress, total, message });
    };
  }

  /** Tells the hub, until the returned function is called, that a call waits for the person. */
  #remind(id: string | number) {
    let progress = 0;
    const tell = () => {
      const message = "waiting for the person in front of the tab";
      this.#link.notify("browser/progress", { requestId: String(id), progress: ++progress, message, waiting: true });
    };
    const timer = setInterval(tell, REMIND_MS);
    tell();
    if (++this.#atPerson === 1) this.#waits?.(true);
    return () => {
      clearInterval(timer);
      if (this.#running.has(id)) this.#link.notify("browser/progress", { requestId: String(id), progress: ++progress, message: "the person has answered" });
      if (--this.#atPerson === 0) this.#waits?.(false);
    };
  }

  #navigate(id: string | number, params: JSONObject) {
    if (params.url !== undefined) {
      let url;
      try {
        url = new URL(params.url, location.href);
      } catch {
        return this.#link.fail(id, -32602, `${params.url} is not a URL`);
      }
      // This also refuses javascript: and data:, whose origin is opaque.
      if (url.origin !== location.origin) {
        return this.#link.fail(id, -32002, `a page that joined by script can be navigated within ${location.origin} only`);
      }
      this.#leave(id, () => location.assign(url));
    } else if (params.back) this.#leave(id, () => history.back());
    else if (params.forward) this.#leave(id, () => history.forward());
    else if (params.reload) this.#leave(id, () => location.reload());
    else this.#link.fail(id, -32602, "nothing to navigate to: give url, back, forward or reload");
  }

  #leave(id: string | number, go: () => void) {
    this.#link.answer(id, "{}");
    // The answer has to be on its way before the document ends.
    setTimeout(go, 0);
  }
}
