// Forms that are tools (webmcp.ts): <form toolname tooldescription>, as Chromium has them.

import { Before } from "./webmcp.ts";
import { FormFields } from "./webmcpfields.ts";
import { FAILED } from "./webmcpframes.ts";

import { DocumentTools } from "./webmcptools.ts";

/** A form that is a tool. */
interface FormTool {
  form: HTMLFormElement;
  name: string;
  text: string; // all that the page says of the tool, to know when that changes
  offered: boolean; // another tool may have its name
}

/** A form's call: it lasts until the form is submitted, and longer if the page answers itself. */
interface FormCall {
  end: (outcome: ToolOutcome) => void;
  submitting: boolean; // whether the page is asked now what to do with it, or has said so
  submitted: boolean; // whether it was submitted by the page's script
  asked?: Event; // the submit event, while the page may answer it
  response?: Promise<unknown>;
}

export class ToolForms {
  static #SELECTOR = "form[toolname][tooldescription]";
  /** Elements of this name in another namespace are no forms. */
  static #HTML = "http://www.w3.org/1999/xhtml";
  /** What a tool is made of, beside its elements. */
  static #ATTRIBUTES = ["toolname", "tooldescription", "tooltitle", "toolautosubmit", "toolparamdescription"].concat(
    ["name", "type", "required", "pattern", "min", "max", "step", "value", "multiple", "disabled", "readonly"],
    ["form", "for", "id", "aria-description"],
  );
  /** Looking takes this part of the page's time at most, also where all of it changes all the time. */
  static #SHARE = 1 / 20;
  static #CHANGED = "Tool execution cancelled, since tool definition was updated";

  #tools;
  #observer;
  #known = new Map<HTMLFormElement, FormTool>();
  #calls = new Map<HTMLFormElement, FormCall>();
  /** Submit events of calls. */
  #invoked = new WeakSet<Event>();
  #looking = false;
  /** When to look again at the earliest, as performance.now() has it. */
  #rests = 0;
  #watching = false;

  constructor(tools: DocumentTools) {
    this.#tools = tools;
    this.#observer = new Before.MutationObserver((records: MutationRecord[]) => this.#see(records));
    Before.observe(this.#observer, document, { childList: true, subtree: true, attributeFilter: ToolForms.#ATTRIBUTES });
    this.#look();
  }

  // ---- Found

  /** Takes in what the page has done with its forms so far, before it is answered. */
  settle() {
    this.#see(Before.takeRecords(this.#observer));
  }

  #see(records: MutationRecord[]) {
    for (let i = 0; i < records.length; i++) if (matters(records[i])) return this.#changed();
  }

  /** What is no tool any more goes at once; what is new, or says something else, comes in a moment. */
  #changed() {
    this.#known.forEach((known) => {
      const { form } = known;
      if (Before.connected(form) && Before.hasAttribute(form, "toolname") && Before.hasAttribute(form, "tooldescription")) return;
      this.#drop(known);
    });
    this.#look();
  }

  #look() {
    if (this.#looking) return;
    this.#looking = true;
    const look = () => {
      this.#looking = false;
      const began = Before.now();
      this.#takeAll();
      const over = Before.now();
      this.#rests = over + (over - began) / ToolForms.#SHARE;
    };
    const left = this.#rests - Before.now();
    if (left > 0) Before.setTimeout(look, left);
    else this.#tools.later(look);
  }

  #takeAll() {
    const forms = Before.allInDocument(document, ToolForms.#SELECTOR);
    const permitted = forms.length > 0 && this.#tools.frames.permitted();
    if (permitted instanceof Before.Promise) void permitted.then(() => this.#look());
    else if (permitted) {
      for (let i = 0; i < forms.length; i++) if (Before.namespaceOf(forms[i]) === ToolForms.#HTML) this.#take(forms[i]);
    }
  }

  #take(form: HTMLFormElement) {
    const attribute = (name: string) => Before.getAttribute(form, name) ?? "";
    const name = attribute("toolname");
    const title = attribute("tooltitle");
    const description = attribute("tooldescription");
    const schema = Before.stringify(new FormFields(form).schema());
    const text = Before.stringify([name, title, description, Before.hasAttribute(form, "toolautosubmit"), schema]);
    const known = this.#known.get(form);
    if (known?.text === text) return;
    if (known) this.#drop(known);
    const offered = DocumentTools.isName(name) && !this.#tools.has(name);
    this.#known.set(form, { form, name, text, offered });
    if (!offered) return;
    const run = (input: string, signal: AbortSignal) => this.#run(form, input, signal);
    this.#tools.add({ name, title, description, schema, exposed: Before.create(null), run });
  }

  #drop({ form, name, offered }: FormTool) {
    this.#known.delete(form);
    const call = this.#calls.get(form);
    if (call && !call.submitting) call.end({ failed: ToolForms.#CHANGED });
    if (offered) this.#tools.remove(name);
  }

  // ---- Run

  #run(form: HTMLFormElement, input: string, signal: AbortSignal): Promise<ToolOutcome> {
    return new Before.Promise((resolve) => {
      const fields = new FormFields(form);
      const autosubmit = Before.hasAttribute(form, "toolautosubmit");
      const failed = fields.fill(Before.parse(input), autosubmit);
      if (failed) {
        resolve({ failed });
        return;
      }
      // A person who is asked for the form twice could not tell which call an answer is for.
      this.#calls.get(form)?.end({ failed: "Tool execution cancelled, since the tool was called again" });
      const call: FormCall = {
        end: (outcome) => {
          if (this.#calls.get(form) === call) this.#calls.delete(form);
          resolve(outcome);
        },
        submitting: false,
        submitted: false,
      };
      this.#calls.set(form, call);
      this.#watch();
      Before.addEventListener(signal, "abort", () => call.end(FAILED), { once: true });
      if (autosubmit) this.#submit(form, call, fields.submitter);
      else Before.focus(fields.submitter);
    });
  }

  #submit(form: HTMLFormElement, call: FormCall, submitter: HTMLElement | undefined) {
    Before.requestSubmit(form, submitter);
    if (call.submitting) return;
    const failed = Before.connected(form) ? new FormFields(form).complaint() : ToolForms.#CHANGED;
    call.end(failed ? { failed } : { text: null });
  }

  /** Watches what becomes of forms, from the first call of one on. */
  #watch() {
    if (this.#watching) return;
    this.#watching = true;
    Before.addEventListener(window, "submit", (event: SubmitEvent) => {
      const call = this.isInvoked(event) && this.#calls.get(Before.targetOf(event));
      if (!call || call.submitting) return;
      call.submitting = true;
      call.asked = event;
      // Before any timer of the page's: the message that brings the answer may come later than one.
      Before.setTimeout(() => (call.asked = undefined));
      this.#tools.later(() => this.#answer(call, event));
    }, true);
    Before.addEventListener(window, "reset", (event: Event) => {
      const call = this.#calls.get(Before.targetOf(event));
      this.#tools.later(() => Before.preventedOf(event) || call?.end({ failed: "Tool execution cancelled by a form reset" }));
    }, true);
    const { submit } = HTMLFormElement.prototype;
    const calls = this.#calls;
    const watched = new Proxy(submit, {
      apply(_, form, given) {
        const call = calls.get(form);
        Before.apply(submit, form, given);
        if (call?.submitting) call.submitted = true;
        else call?.end({ text: null });
      },
    });
    Before.defineProperty(HTMLFormElement.prototype, "submit", { value: watched, writable: true, enumerable: true, configurable: true });
  }

  /** Ends a call whose form was submitted, or will be, or was kept from it by the page. */
  async #answer(call: FormCall, event: SubmitEvent) {
    const { response, submitted } = call;
    call.asked = undefined;
    if (response) {
      let value: unknown;
      try {
        value = await response;
      } catch (error) {
        reportError(error);
        call.end({ failed: "respondWith promise was rejected" });
        return;
      }
      try {
        call.end({ text: DocumentTools.text(value) });
      } catch {
        call.end({ failed: "respondWith promise resolved with an object that could not be serialized to JSON" });
      }
    } else if (submitted || !Before.preventedOf(event)) {
      call.end({ text: null });
    } else {
      const failed = "The site has a programming error: it called preventDefault() on the 'submit' event, without also calling respondWith() with the tool result";
      call.end({ failed });
    }
  }

  /** Whether a submit event is of a call. */
  isInvoked(event: Event) {
    if (this.#invoked.has(event)) return true;
    const running = event.isTrusted && event.type === "submit" && Before.phaseOf(event) !== 0 && this.#calls.has(Before.targetOf(event));
    if (running) this.#invoked.add(event);
    return running;
  }

  /**
   * Whether the page may still answer a submit event of a call. While the browser runs a page's
   * listener from no script, what the listener awaits goes on before the event is over.
   */
  awaits(event: Event) {
    return Before.phaseOf(event) !== 0 || this.#calls.get(Before.targetOf(event))?.asked === event;
  }

  respond(event: Event, response: Promise<unknown>) {
    const call = this.#calls.get(Before.targetOf(event));
    if (call) call.response = response;
  }
}

/** Whether a change of the document may be one of its tools: text alone, as of a counter, is not. */
function matters({ type, addedNodes, removedNodes }: MutationRecord) {
  if (type === "attributes") return true;
  for (let i = 0; i < addedNodes.length; i++) if (addedNodes[i].nodeType === 1) return true;
  for (let i = 0; i < removedNodes.length; i++) if (removedNodes[i].nodeType === 1) return true;
  return false;
}

/** Gives submit events what they have of WebMCP. */
export function extendSubmitEvents(forms: () => ToolForms | undefined, place: (object: object, name: string, made: PropertyDescriptor) => void) {
  const members = {
    get agentInvoked() {
      const event = this as any;
      Before.submitterOf(event);
      return forms()?.isInvoked(event) ?? false;
    },
    respondWith(response: any) {
      const event = this as any;
      Before.submitterOf(event);
      const refuse = (why: string) => new Before.DOMException(why, "InvalidStateError");
      if (!arguments.length) throw new TypeError("respondWith needs an answer");
      if (!forms()?.isInvoked(event)) throw refuse("You can only call respondWith on an submit event that has agentInvoked == true.");
      if (!Before.preventedOf(event)) throw refuse("To call respondWith, you must first call preventDefault.");
      if (!forms()?.awaits(event)) throw refuse("To call respondWith, the event must be currently being dispatched.");
      forms()?.respond(event, (async () => response)());
    },
  };
  for (const name of ["agentInvoked", "respondWith"]) {
    const member = Before.getOwnPropertyDescriptor(members, name) as PropertyDescriptor;
    place(SubmitEvent.prototype, name, member);
  }
}
