"use strict";
(() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __esm = (fn, res, err) => function __init() {
    if (err) throw err[0];
    try {
      return fn && (res = (0, fn[__getOwnPropNames(fn)[0]])(fn = 0)), res;
    } catch (e) {
      throw err = [e], e;
    }
  };
  var __export = (target, all) => {
    for (var name in all)
      __defProp(target, name, { get: all[name], enumerable: true });
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

  // ../pagejs/webmcpfields.ts
  function describe(field) {
    return Before.getAttribute(field, "toolparamdescription") || labelOf(field) || (Before.getAttribute(field, "aria-description") ?? "");
  }
  function describeGroup(field) {
    const set = Before.closest(field, "fieldset");
    return set ? Before.getAttribute(set, "toolparamdescription") ?? "" : "";
  }
  function labelOf(field) {
    const labels = field.labels ?? [];
    let text = "";
    for (let i = 0; i < labels.length; i++) text += `${i ? "; " : ""}${wordsOf(labels[i]).trim()}`;
    return text;
  }
  function wordsOf(node) {
    if (node.nodeType === 3) return node.nodeValue ?? "";
    let text = "";
    for (let at = node.firstChild; at; at = at.nextSibling) {
      if (!/^(button|input|meter|output|progress|select|textarea)$/i.test(at.nodeName)) text += wordsOf(at);
    }
    return text;
  }
  function patternOf(field) {
    const pattern = Before.getAttribute(field, "pattern");
    if (pattern === null || field.type === "textarea") return {};
    try {
      new RegExp(pattern, "v");
      return { pattern };
    } catch {
      return {};
    }
  }
  function seconds(field) {
    const step = +(Before.getAttribute(field, "step") ?? "");
    if (!(step > 0) || step >= 60) return "";
    return step < 1 ? "(:[0-5][0-9](\\.[0-9]{1,3})?)?" : "(:[0-5][0-9])?";
  }
  function isMultiple(value, step) {
    const places = (n) => `${n}`.split(".")[1]?.length ?? 0;
    const scale = 10 ** Math.max(places(value), places(step));
    return Math.round(value * scale) % Math.round(step * scale) === 0;
  }
  function choices(fields) {
    const anyOf = [];
    const values = [];
    const add = (value, title, always) => {
      anyOf[anyOf.length] = { type: "string", const: value, ...(title || always) && { title } };
      values[values.length] = value;
    };
    if ("options" in fields[0]) {
      const { options } = fields[0];
      for (let i = 0; i < options.length; i++) add(options[i].value, options[i].textContent ?? "", true);
    } else {
      for (let i = 0; i < fields.length; i++) add(fields[i].value, labelOf(fields[i]), false);
    }
    return { anyOf, enum: values };
  }
  function valuesOf(fields) {
    const all = "options" in fields[0] ? fields[0].options : fields;
    const values = Before.create(null);
    for (let i = 0; i < all.length; i++) values[all[i].value] = true;
    return values;
  }
  function listOf(list) {
    const texts = Before.create(null);
    for (let i = 0; i < list.length; i++) texts[textOf(list[i]) ?? ""] = true;
    return texts;
  }
  function textOf(value) {
    return /^(string|number|boolean)$/.test(typeof value) ? `${value}` : void 0;
  }
  function truthOf(value) {
    if (typeof value === "number") return value % 1 === 0 ? value !== 0 : void 0;
    const text = `${textOf(value)}`.toLowerCase();
    if (text === "true" || text === "1") return true;
    return text === "false" || text === "0" ? false : void 0;
  }
  function isTaken(field, text) {
    if (field.type === "textarea") return true;
    const twin = Before.createElement(document, "input");
    twin.type = field.type;
    Before.setValue(twin, text);
    return twin.value !== "";
  }
  function check(field, checked) {
    if (field.checked !== checked) Before.click(field);
    else tell(field, false);
  }
  function tell(field, changed) {
    if (changed) Before.dispatchEvent(field, new Before.Event("input", { bubbles: true, composed: true }));
    Before.dispatchEvent(field, new Before.Event("change", { bubbles: true }));
  }
  var FormFields;
  var init_webmcpfields = __esm({
    "../pagejs/webmcpfields.ts"() {
      init_webmcp();
      FormFields = class _FormFields {
        static #DATE = "[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}";
        static #TIME = "([01][0-9]|2[0-3]):[0-5][0-9]";
        /** Types that can be made unchangeable. */
        static #READ_ONLY = /^(text|search|tel|url|email|password|textarea|date|month|week|time|datetime-local|number)$/;
        static #TEXT = /^(text|search|tel|url|email|password|textarea)$/;
        static #NUMBER = /^-?(\d+|\d*\.\d+)(e[-+]?\d+)?$/i;
        #form;
        /** All that have a name, in their order. */
        #named = Before.create(null);
        #button;
        constructor(form) {
          this.#form = form;
          const controls = Before.elementsOf(form);
          for (let i = 0; i < controls.length; i++) {
            const control = controls[i];
            const { type } = control;
            if (Before.matches(control, ":disabled")) continue;
            if (type === "submit") this.#button ??= control;
            if (Before.hasAttribute(control, "readonly") && _FormFields.#READ_ONLY.test(type)) continue;
            const named = this.#named[Before.getAttribute(control, "name") ?? ""] ??= [];
            named[named.length] = control;
          }
        }
        /** The button that submits the form. */
        get submitter() {
          if (this.#button) return this.#button;
          const images = Before.allInDocument(document, "input[type=image]");
          for (let i = 0; i < images.length; i++) if (images[i].form === this.#form && !Before.matches(images[i], ":disabled")) return images[i];
          return void 0;
        }
        // ---- Schema
        schema() {
          const properties = Before.create(null);
          const required = [];
          for (const name in this.#named) {
            const fields = this.#named[name];
            const schema = this.#property(fields);
            if (!schema) continue;
            properties[name] = schema;
            for (let i = 0; i < fields.length; i++) {
              if (required[required.length - 1] !== name && Before.hasAttribute(fields[i], "required")) required[required.length] = name;
            }
          }
          return { type: "object", properties, required };
        }
        /** What values there are for fields of one name; undefined if they are no parameter. */
        #property(fields) {
          const kind = _FormFields.#kind(fields);
          const [field] = [fields[0]];
          const description = fields.length === 1 ? describe(field) : describeGroup(field);
          const described = (schema, extra = "") => {
            const text = extra && description ? `${description} (${extra})` : extra || description;
            return text ? { ...schema, description: text } : schema;
          };
          switch (kind) {
            case "text":
              return described({ type: "string", ...patternOf(field) });
            case "date":
              return described({ type: "string", format: "date" }, "Dates MUST be provided in 'YYYY-MM-DD' format.");
            case "datetime-local":
              return described({ type: "string", format: `^${_FormFields.#DATE}T${_FormFields.#TIME}${seconds(field)}$` });
            case "month":
              return described({ type: "string", format: "^[0-9]{4}-(0[1-9]|1[0-2])$" });
            case "week":
              return described({ type: "string", format: "^[0-9]{4}-W(0[1-9]|[1-4][0-9]|5[0-3])$" });
            case "time":
              return described({ type: "string", format: `^${_FormFields.#TIME}${seconds(field)}$` });
            case "number":
              return described({ type: "number", ..._FormFields.#range(field, void 0, void 0), ...patternOf(field) });
            case "range":
              return described({ type: "number", ..._FormFields.#range(field, 0, 100) });
            case "color":
              return described({ type: "string", format: "^#[0-9a-zA-Z]{6}$" });
            case "checkbox":
              return described({ type: "boolean" });
            case "checkboxes":
            case "select-multiple":
              return described({ type: "array", items: { type: "string", ...choices(fields) }, uniqueItems: true });
            case "radio":
            case "select-one":
              return described({ type: "string", ...choices(fields) });
          }
          return void 0;
        }
        /**
         * @param fields of one name
         * @returns undefined if they are no parameter
         */
        static #kind(fields) {
          const { type } = fields[0];
          for (let i = 1; i < fields.length; i++) if (fields[i].type !== type) return void 0;
          if (type === "radio") return type;
          if (type === "checkbox") return fields.length === 1 ? type : "checkboxes";
          if (fields.length > 1) return void 0;
          if (_FormFields.#TEXT.test(type)) return "text";
          if (type === "hidden") return Before.getAttribute(fields[0], "toolparamdescription") ? "text" : void 0;
          return /^(date|datetime-local|month|week|time|number|range|color|select-one|select-multiple)$/.test(type) ? type : void 0;
        }
        static #range(field, least, most) {
          const minimum = _FormFields.#number(field, "min") ?? least;
          let maximum = _FormFields.#number(field, "max") ?? most;
          if (most !== void 0 && minimum !== void 0 && maximum !== void 0 && maximum < minimum) maximum = minimum;
          const given = _FormFields.#number(field, "step") ?? 0;
          const any = (Before.getAttribute(field, "step") ?? "").toLowerCase() === "any" && most === void 0;
          const step = given > 0 ? given : 1;
          const base = _FormFields.#number(field, "min") ?? _FormFields.#number(field, "value") ?? least ?? 0;
          return {
            ...minimum !== void 0 && { minimum },
            ...maximum !== void 0 && { maximum },
            ...!any && isMultiple(base, step) && { multipleOf: step }
          };
        }
        static #number(field, attribute) {
          const text = Before.getAttribute(field, attribute) ?? "";
          return _FormFields.#NUMBER.test(text) ? +text : void 0;
        }
        // ---- Filled in
        /**
         * Fills the form in, if all of the input fits.
         * @returns why it does not
         */
        fill(input, autosubmit) {
          if (typeof input !== "object" || input === null || Before.isArray(input)) return "JSON input arguments must be an object";
          if (!this.submitter && !autosubmit) {
            return "No submit button was found, but for a form without `toolautosubmit`, there must be a submit button";
          }
          const names = Before.keys(input);
          for (let i = 0; i < names.length; i++) {
            const name = names[i];
            const fields = this.#named[name];
            if (!fields) return `Input contains a parameter "${name}" but there is no such parameter for the tool`;
            if (_FormFields.#fits(fields, input[name])) continue;
            const text = textOf(input[name]);
            return text === void 0 ? `Invalid value for parameter ${name}` : `Invalid value "${text}" for parameter ${name}`;
          }
          for (let i = 0; i < names.length; i++) _FormFields.#set(this.#named[names[i]], input[names[i]]);
          return void 0;
        }
        static #fits(fields, value) {
          const kind = _FormFields.#kind(fields);
          const text = textOf(value);
          switch (kind) {
            case void 0:
              return false;
            case "checkbox":
              return truthOf(value) !== void 0;
            case "radio":
            case "select-one":
              return text !== void 0 && text in valuesOf(fields);
            case "checkboxes":
            case "select-multiple": {
              if (!Before.isArray(value)) return false;
              const left = valuesOf(fields);
              for (let i = 0; i < value.length; i++) {
                const one = textOf(value[i]);
                if (one === void 0 || !(one in left)) return false;
                delete left[one];
              }
              return true;
            }
            default:
              if (text === void 0) return false;
              return text === "" ? kind !== "number" && kind !== "range" : isTaken(fields[0], text);
          }
        }
        /** @param value one that fits */
        static #set(fields, value) {
          const field = fields[0];
          const text = textOf(value) ?? "";
          switch (_FormFields.#kind(fields)) {
            case "checkbox":
              check(field, truthOf(value) === true);
              break;
            case "checkboxes": {
              const wanted = listOf(value);
              for (let i = 0; i < fields.length; i++) check(fields[i], fields[i].value in wanted);
              break;
            }
            case "radio":
              for (let i = 0; i < fields.length; i++) if (fields[i].value === text) check(fields[i], true);
              break;
            case "select-one":
              if (field.value === text) break;
              Before.setSelected(field, text);
              tell(field, true);
              break;
            case "select-multiple": {
              const wanted = listOf(value);
              const { options } = field;
              let changed = false;
              for (let i = 0; i < options.length; i++) {
                const selected = options[i].value in wanted;
                changed ||= options[i].selected !== selected;
                options[i].selected = selected;
              }
              if (changed) tell(field, true);
              break;
            }
            default: {
              const before = field.value;
              if (field.type === "textarea") Before.setText(field, text);
              else Before.setValue(field, text);
              if (field.value !== before && field.type !== "hidden") tell(field, true);
            }
          }
        }
        /** What keeps the form from being submitted; "" if nothing does. */
        complaint() {
          let text = "";
          const controls = Before.elementsOf(this.#form);
          for (let i = 0; i < controls.length; i++) {
            const { willValidate, validity, validationMessage } = controls[i];
            if (willValidate && !validity.valid) text += `${Before.getAttribute(controls[i], "name") ?? ""}: ${validationMessage}. `;
          }
          return text && `Form validation failed: ${text}`;
        }
      };
    }
  });

  // ../pagejs/webmcpidl.ts
  var Idl;
  var init_webmcpidl = __esm({
    "../pagejs/webmcpidl.ts"() {
      init_webmcp();
      Idl = class _Idl {
        static string = (value) => `${value}`;
        static #scalars = (value) => `${value}`.toWellFormed();
        static tool = {
          type: "ModelContextTool",
          required: ["description", "execute", "name"],
          members: {
            annotations: (value) => _Idl.dictionary(_Idl.annotations, value ?? {}),
            description: _Idl.string,
            execute: _Idl.callback,
            inputSchema: _Idl.#object,
            name: _Idl.string,
            outputSchema: _Idl.#object,
            title: _Idl.#scalars
          }
        };
        static annotations = {
          type: "ToolAnnotations",
          required: [],
          members: { consequentialHint: Boolean, debugging: Boolean, readOnlyHint: Boolean, untrustedContentHint: Boolean }
        };
        static registeredTool = {
          type: "RegisteredTool",
          required: ["description", "name", "origin", "window"],
          members: {
            annotations: _Idl.tool.members.annotations,
            description: _Idl.string,
            inputSchema: _Idl.#object,
            name: _Idl.string,
            origin: _Idl.#scalars,
            title: _Idl.string,
            window: _Idl.#window
          }
        };
        static registerOptions = { type: "ModelContextRegisterToolOptions", required: [], members: { exposedTo: _Idl.#strings, signal: _Idl.#signal } };
        static getOptions = { type: "ModelContextGetToolOptions", required: [], members: { fromOrigins: _Idl.#strings } };
        static executeOptions = { type: "ExecuteToolOptions", required: [], members: { signal: _Idl.#signal } };
        static dictionary({ type, required, members }, given) {
          _Idl.#object(given, type);
          const taken = Before.create(null);
          const names = Before.keys(members);
          for (let i = 0; i < names.length; i++) {
            const name = names[i];
            const value = given[name];
            if (value !== void 0) taken[name] = members[name](value, name);
            else if (members === _Idl.annotations.members) taken[name] = false;
            else if (required.includes(name)) throw new TypeError(`${type}: ${name} is undefined`);
          }
          return taken;
        }
        /** The JSON of an object. */
        static json(value) {
          const text = Before.stringify(_Idl.#object(value, "input"));
          if (text === void 0) throw new TypeError("toJSON() returns undefined");
          return text;
        }
        /**
         * The origins of addresses, all of which the browser must trust.
         * @param list its name
         */
        static origins(addresses, list) {
          const origins = Before.create(null);
          for (let i = 0; i < addresses.length; i++) {
            const origin = _Idl.#origin(addresses[i]);
            if (!origin) throw new Before.DOMException(`Only secure origins are allowed in the ${list} list.`, "SecurityError");
            origins[origin] = true;
          }
          return origins;
        }
        static #origin(address) {
          try {
            const { origin, protocol } = new Before.URL(address);
            if (protocol === "file:") return "file://";
            const trusted = /^(https|wss|chrome-extension):|^(http|ws):\/\/(localhost|[^/]+\.localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/;
            return trusted.test(origin) ? origin : "";
          } catch {
            return "";
          }
        }
        static callback(value, name) {
          if (typeof value !== "function") throw new TypeError(`${name} is not a function`);
          return value;
        }
        static #object(value, name) {
          if (typeof value !== "object" && typeof value !== "function" || value === null) throw new TypeError(`${name} is not an object`);
          return value;
        }
        static #signal(value) {
          Before.aborted(value);
          return value;
        }
        static #window(value) {
          let itself = false;
          try {
            itself = value.window === value && typeof value.postMessage === "function";
          } catch {
          }
          if (!itself) throw new TypeError("not a window");
          return value;
        }
        static #strings(value, name) {
          if (typeof value !== "object" || typeof value?.[Symbol.iterator] !== "function") throw new TypeError(`${name} is not a list`);
          const strings = [];
          for (const one of value) strings[strings.length] = _Idl.#scalars(one);
          return strings;
        }
      };
    }
  });

  // ../pagejs/webmcpframes.ts
  function told(outcome) {
    return "failed" in outcome ? { failed: outcome.failed } : outcome;
  }
  function post(to, message, origin, port) {
    to.postMessage({ tabhub: "webmcp", ...message }, origin, port ? [port] : []);
  }
  function askLeave(around, message, answered) {
    const { port1, port2 } = new Before.MessageChannel();
    port1.onmessage = ({ data }) => answered(data === true);
    post(around, message, "*", port2);
  }
  function framed(index) {
    return typeof index === "number" ? window[index] : void 0;
  }
  function each(at, visit) {
    visit(at);
    for (let i = 0; i < Before.framesIn(at); i++) each(at[i], visit);
  }
  function listed({ name, title, description, schema, output, annotations }) {
    return { name, title, description, schema, output, annotations };
  }
  function isSchema(schema) {
    return schema === void 0 || typeof schema === "object" && schema !== null;
  }
  function elementOf(child, within) {
    const elements = (within === document ? Before.allInDocument : Before.allInFragment)(within, "*");
    for (let i = 0; i < elements.length; i++) {
      const element = elements[i];
      if (element instanceof HTMLIFrameElement && Before.contentWindow(element) === child) return element;
      const shadow = Before.shadowOf(element);
      const found = shadow && elementOf(child, shadow);
      if (found) return found;
    }
    return void 0;
  }
  function delegates(frame, origin, same) {
    const directives = `${Before.getAttribute(frame, "allow") ?? ""}`.split(";");
    for (let i = 0; i < directives.length; i++) {
      const words = directives[i].trim().split(/\s+/);
      if (words[0].toLowerCase() !== "tools") continue;
      if (words.length === 1) return isSource(frame, origin, same);
      for (let j = 1; j < words.length; j++) {
        if (words[j] === "*" || words[j] === "'self'" && same || words[j] === "'src'" && isSource(frame, origin, same)) return true;
        if (Before.URL.canParse(words[j]) && new Before.URL(words[j]).origin === origin) return true;
      }
      return false;
    }
    return same;
  }
  function isSource(frame, origin, same) {
    if (same || origin === "null") return true;
    const src = Before.getAttribute(frame, "src") ?? "";
    return Before.URL.canParse(src, document.baseURI) && new Before.URL(src, document.baseURI).origin === origin;
  }
  var ToolFrames, FAILED;
  var init_webmcpframes = __esm({
    "../pagejs/webmcpframes.ts"() {
      init_webmcp();
      init_webmcpidl();
      init_webmcpstub();
      ToolFrames = class _ToolFrames {
        /** For a document of another origin to answer, in ms. */
        static #TIMEOUT = 2e3;
        #tools;
        #makeTool;
        /** What was listed last, by the tool of a document here, or by its window and its text. */
        #listed = /* @__PURE__ */ new WeakMap();
        start;
        #permitted;
        /** Questions that documents have not answered, by id. */
        #asked = Before.create(null);
        /** Of the windows in this document; null for one that is not found. */
        #elements = /* @__PURE__ */ new WeakMap();
        /**
         * @param tools those of this document, once it has begun to use the API
         * @param start has it begin, so that its forms are found
         */
        constructor(tools, start, makeTool) {
          this.#tools = tools;
          this.start = start;
          this.#makeTool = makeTool;
        }
        /** Answers a document of the same origin that looks for this one's. */
        met(event) {
          Before.detailOf(event).frames = this;
        }
        /** Those of another window; undefined if it is of another origin. */
        static #of(other) {
          const met = {};
          try {
            Before.dispatchEvent(other, new Before.CustomEvent(MEET, { detail: met }));
          } catch {
          }
          return met.frames;
        }
        get tools() {
          return this.#tools();
        }
        // ---- Leave
        /** Whether the document may have tools and call some. */
        permitted() {
          this.#permitted ??= this.#ask();
          return this.#permitted;
        }
        #ask() {
          if (window === top) return true;
          const around = Before.frameElement(window);
          if (around) return delegates(around, self.origin, true) && (_ToolFrames.#of(window.parent)?.permitted() ?? true);
          return new Before.Promise((resolve) => {
            const settle = (permitted) => resolve(this.#permitted = permitted);
            askLeave(window.parent, { ask: "permitted" }, settle);
            Before.setTimeout(() => typeof this.#permitted === "boolean" || settle(false), _ToolFrames.#TIMEOUT);
          });
        }
        /**
         * Whether a document of another origin may ask anything.
         * @param origin its own
         */
        #mayAsk(other, origin) {
          const { parent } = other;
          if (other === top || !parent) return other === top;
          if (parent === window) return this.#lets(other, origin);
          let index = Before.framesIn(parent) - 1;
          while (index >= 0 && parent[index] !== other) index--;
          return new Before.Promise((resolve) => {
            askLeave(parent, { ask: "permitted", of: { index, origin } }, resolve);
            Before.setTimeout(() => resolve(false), _ToolFrames.#TIMEOUT);
          });
        }
        /**
         * Whether this document lets one in it use tools.
         * @param origin the child's
         */
        #lets(child, origin) {
          if (child?.parent !== window) return false;
          let element = this.#elements.get(child);
          if (element === void 0 || element && Before.contentWindow(element) !== child) {
            element = elementOf(child, document) ?? null;
            this.#elements.set(child, element);
          }
          return element !== null && delegates(element, origin, origin !== "null" && origin === self.origin) && this.permitted();
        }
        // ---- Listed
        /**
         * All tools that this document may see, its own and those of documents of its origin included.
         * @param origins of which others
         */
        async list(origins) {
          const all = [];
          const asked = [];
          let others = false;
          for (const _ in origins) others = true;
          each(top, (other) => {
            const frames = other === window ? this : _ToolFrames.#of(other);
            if (frames) this.#gather(all, frames.start().offered(), other, self.origin);
            else if (others) asked[asked.length] = this.#askTools(other, origins, all);
          });
          for (let i = 0; i < asked.length; i++) await asked[i];
          return all;
        }
        /**
         * Adds a document's tools to others, by their names.
         * @param tools of a document of another origin they may be anything
         */
        #gather(all, tools, owner, origin) {
          const now = Before.create(null);
          for (let i = 0; i < tools.length; i++) {
            const tool = this.#toolOf(tools[i], owner, origin, now);
            if (!tool) continue;
            let at = all.length;
            for (; at > 0 && all[at - 1].name > tool.name; at--) all[at] = all[at - 1];
            all[at] = tool;
          }
          if (origin !== self.origin) this.#listed.set(owner, now);
        }
        /**
         * The same object for the same tool as long as it says the same.
         * @param now what this listing has of the window's
         * @returns undefined if it is none
         */
        #toolOf(tool, owner, origin, now) {
          const own = origin === self.origin;
          const text = own ? "" : Before.stringify([origin, listed(tool)]);
          const seen = this.#listed.get(own ? tool : owner)?.[text] ?? now[text] ?? this.#see(tool, owner, origin, own ? tool : void 0);
          if (own) this.#listed.set(tool, { [text]: seen });
          else now[text] = seen;
          return seen;
        }
        #see({ name, title, description, schema, output, annotations: hints }, owner, origin, of) {
          const inputSchema = schema === void 0 ? void 0 : Before.parse(schema);
          const outputSchema = output === void 0 ? void 0 : Before.parse(output);
          if (!isSchema(inputSchema) || !isSchema(outputSchema)) return void 0;
          const annotations = hints && { ...Idl.dictionary(Idl.annotations, hints) };
          return this.#makeTool({ name: `${name}`, title: `${title}`, description: `${description}`, inputSchema, outputSchema, annotations, origin, window: owner, of });
        }
        /** @param all the tools that are learnt of are added to these */
        #askTools(other, origins, all) {
          return new Before.Promise((resolve) => {
            const id = `${Before.random()}`;
            const done = () => {
              delete this.#asked[id];
              resolve(void 0);
            };
            this.#asked[id] = (source, origin, tools) => {
              if (source !== other) return;
              done();
              if (origins[origin] && Before.isArray(tools)) this.#gather(all, tools, other, origin);
            };
            Before.setTimeout(done, _ToolFrames.#TIMEOUT);
            post(other, { ask: "tools", id }, "*");
          });
        }
        /**
         * Tells the other documents that may see a tool that the tools have changed.
         * @param exposed to which other origins
         */
        changed(exposed) {
          each(top, (other) => {
            if (other === window) return;
            const frames = _ToolFrames.#of(other);
            if (frames) frames.tools?.changed();
            else for (const origin in exposed) post(other, { ask: "changed" }, origin);
          });
        }
        // ---- Run
        /**
         * Runs a tool of any document of the tab.
         * @param origin that the target must have
         * @param tool as of DocumentTools
         * @param input JSON
         * @param caller the one that the page gave
         */
        async run(target, origin, tool, input, signal, caller) {
          if (target.top !== top) return FAILED;
          const frames = target === window ? this : _ToolFrames.#of(target);
          if (!frames) return this.#runFar(target, origin, { ask: "run", name: tool.name, input }, signal);
          const { tools } = frames;
          if (!tools || origin !== self.origin) return FAILED;
          if (frames === this) return tools.run(tool, input, signal, { caller });
          return new Before.Promise((resolve) => {
            const controller = new Before.AbortController();
            Before.addEventListener(target, "pagehide", () => resolve(FAILED), { once: true });
            Before.addEventListener(window, "pagehide", () => controller.abort(), { once: true });
            Before.addEventListener(signal, "abort", () => controller.abort(), { once: true });
            void tools.run(tool, input, controller.signal).then(resolve);
          });
        }
        /** Uses up a token that a document of this origin in the tab has taken. */
        redeem(token) {
          let resumed;
          each(top, (other) => {
            const frames = other === window ? this : _ToolFrames.#of(other);
            const tokens = frames?.tools?.tokens;
            if (!tokens || !(token in tokens)) return;
            const held = resumed = tokens[token].redeem();
            if (frames !== this) Before.addEventListener(window, "pagehide", () => held.end(FAILED), { once: true });
          });
          return resumed;
        }
        #runFar(target, origin, message, signal) {
          return new Before.Promise((resolve) => {
            const { port1, port2 } = new Before.MessageChannel();
            let waits = true;
            Before.setTimeout(() => {
              if (!waits) return;
              Before.close(port1);
              resolve(FAILED);
            }, _ToolFrames.#TIMEOUT);
            port1.onmessage = ({ data }) => {
              if (!waits) return resolve(data);
              waits = false;
              Before.postMessage(port1, "run");
            };
            Before.addEventListener(port1, "close", () => resolve(FAILED));
            Before.addEventListener(signal, "abort", () => Before.postMessage(port1, "cancel"), { once: true });
            post(target, message, origin, port2);
          });
        }
        /** Takes what a document of another origin asks or says. */
        heard(event) {
          const message = Before.dataOf(event);
          const source = Before.sourceOf(event);
          const origin = Before.originOf(event);
          const port = Before.portsOf(event)[0];
          switch (message.ask) {
            case "permitted": {
              const { of } = message;
              if (port && source) void this.#answer(of ? framed(of.index) : source, of ? of.origin : origin, port);
              break;
            }
            case "tools":
              if (source && origin !== "null") void this.#tell(source, origin, message.id);
              break;
            case "told":
              if (source && typeof message.id === "string") this.#asked[message.id]?.(source, origin, message.tools);
              break;
            case "run":
              if (port && source && typeof message.name === "string" && typeof message.input === "string") void this.#runFor(source, origin, message, port);
              break;
            case "changed":
              if (this.#permitted === true) this.tools?.changed();
          }
        }
        /** @param origin the child's */
        async #answer(child, origin, port) {
          Before.postMessage(port, await this.#lets(child, origin));
        }
        /** @param origin the other's */
        async #tell(other, origin, id) {
          const tools = [];
          const offered = this.tools?.offered(origin) ?? [];
          const may = offered.length > 0 && await this.#mayAsk(other, origin);
          for (let i = 0; may && i < offered.length; i++) tools[i] = listed(offered[i]);
          post(other, { ask: "told", id, tools }, origin);
        }
        /** @param origin the other's */
        async #runFor(other, origin, { name, input }, port) {
          const controller = new Before.AbortController();
          const tools = await this.#mayAsk(other, origin) ? this.tools : void 0;
          port.onmessage = async ({ data }) => {
            if (data === "cancel") controller.abort();
            else Before.postMessage(port, told(await tools?.run({ name }, input, controller.signal, { origin }) ?? FAILED));
          };
          Before.addEventListener(port, "close", () => controller.abort());
          Before.postMessage(port, "ready");
        }
      };
      FAILED = { failed: "The operation failed for an unknown transient reason (e.g. out of memory)." };
    }
  });

  // ../pagejs/webmcpinvocation.ts
  function randomToken() {
    const bytes = Before.getRandomValues(new Before.Uint8Array(16));
    let token = "";
    for (let i = 0; i < 16; i++) token += `${i ? "-" : ""}${bytes[i]}`;
    return token;
  }
  var Invocation;
  var init_webmcpinvocation = __esm({
    "../pagejs/webmcpinvocation.ts"() {
      init_webmcp();
      init_webmcptools();
      Invocation = class _Invocation {
        /** How long a token is good for, in ms. */
        static #LIFETIME = 6e4;
        static #UNRESUMED = { failed: "The tool asked for a token to go on in another document, and none has resumed it in time" };
        #tools;
        #call;
        #running = true;
        #token = "";
        /** Whether a document has resumed the call. */
        #resumed = false;
        #goOn = () => {
        };
        /** What the documents that have resumed the call come to; undefined if none does. */
        #rest;
        #part;
        constructor(tools, call) {
          this.#tools = tools;
          this.#call = call;
          Before.addEventListener(call.signal, "abort", () => this.#void(), { once: true });
        }
        /** Runs the callback, and waits for what follows it. */
        async run(callback) {
          this.#part = this.#runOnce(callback);
          const outcome = await this.#part;
          this.#running = false;
          if ("failed" in outcome) {
            this.#void();
            return outcome;
          }
          const rest = this.#rest;
          return await rest ?? (rest && outcome.text === "undefined" ? _Invocation.#UNRESUMED : outcome);
        }
        async #runOnce(callback) {
          const { name, input, signal } = this.#call;
          const value = Before.parse(input);
          if (typeof value !== "object" || value === null) return { failed: "Failed to parse input arguments" };
          const invocation = this.#tools.owner.handle(this);
          const requestUserInput = (request, interact) => this.ask(request, interact);
          try {
            return { text: DocumentTools.text(await Before.apply(callback, void 0, [value, { signal, invocation, requestUserInput }])) || "Operation succeeded" };
          } catch (error) {
            if (name !== void 0) this.#tools.owner.threw(name, input, error);
            return { failed: "Tool was executed but the invocation failed. For example, the script function threw an error", error };
          }
        }
        /** Takes a token for the next document. */
        async take() {
          if (!this.#running || this.#resumed || Before.aborted(this.#call.signal) || Before.viewOf(document) === null) {
            throw new Before.DOMException("The tool does not run here any more.", "InvalidStateError");
          }
          this.#void();
          const token = randomToken();
          this.#token = token;
          this.#rest = new Before.Promise((resolve) => this.#goOn = resolve);
          this.#tools.tokens[token] = this;
          Before.setTimeout(() => token === this.#token && this.#void(), _Invocation.#LIFETIME);
          const { caller } = this.#call;
          try {
            if (caller && !await this.#tools.owner.took(caller, token)) this.#call = { ...this.#call, caller: void 0 };
          } catch (error) {
            if (token === this.#token) {
              this.#void();
              this.#rest = void 0;
            }
            throw error;
          }
          return token;
        }
        #void() {
          if (!this.#token) return;
          delete this.#tools.tokens[this.#token];
          this.#token = "";
          this.#goOn(void 0);
        }
        /** Uses the token up. */
        redeem() {
          delete this.#tools.tokens[this.#token];
          this.#token = "";
          this.#resumed = true;
          return { ...this.#call, before: this.#part, end: this.#goOn };
        }
        /** Asks the person whose agent has called the tool. */
        async ask(request, interact) {
          const { caller } = this.#call;
          if (!this.#running) throw new Before.DOMException("The tool does not run here any more.", "InvalidStateError");
          if (!caller) throw new Before.DOMException("The tool's caller cannot be asked.", "NotSupportedError");
          return this.#tools.owner.ask(caller, request, interact);
        }
      };
    }
  });

  // ../pagejs/webmcptools.ts
  var DocumentTools;
  var init_webmcptools = __esm({
    "../pagejs/webmcptools.ts"() {
      init_webmcp();
      init_webmcpforms();
      init_webmcpframes();
      init_webmcpidl();
      init_webmcpinvocation();
      DocumentTools = class _DocumentTools {
        /** By name. */
        #tools = Before.create(null);
        #tasks;
        #queue = [];
        #fire;
        owner;
        /** The calls that may go on elsewhere, by their tokens. */
        tokens = Before.create(null);
        frames;
        forms;
        /** @param owner fire tells the page, handle makes what a tool gets of its call */
        constructor(frames, owner) {
          this.frames = frames;
          this.owner = owner;
          this.#fire = owner.fire;
          this.forms = new ToolForms(this);
        }
        /**
         * Runs something soon and in turn, as the browser runs what comes from elsewhere. A timer would
         * wait for a second in a page that is out of sight.
         */
        later(task) {
          if (!this.#tasks) {
            this.#tasks = new Before.MessageChannel();
            this.#tasks.port1.onmessage = () => Before.shift(this.#queue)();
          }
          this.#queue[this.#queue.length] = task;
          Before.postMessage(this.#tasks.port2, 0);
        }
        // ---- Registered
        register({ name, title = "", description, inputSchema, outputSchema, annotations, execute }, { signal, exposedTo = [] }) {
          this.forms.settle();
          if (this.has(name)) throw new Before.DOMException("Duplicate tool name", "InvalidStateError");
          if (!_DocumentTools.isName(name)) throw new Before.DOMException("Invalid tool name", "InvalidStateError");
          if (description === "") throw new Before.DOMException("Description is required", "InvalidStateError");
          const schema = inputSchema && Idl.json(inputSchema);
          const output = outputSchema && Idl.json(outputSchema);
          if (signal && Before.aborted(signal)) throw Before.reason(signal);
          const exposed = Idl.origins(exposedTo, "exposedTo");
          const run = (input, signal2, caller) => new Invocation(this, { name, input, signal: signal2, caller }).run(execute);
          const tool = { name, title, description, schema, output, annotations, exposed, run };
          return new Before.Promise((resolve, reject) => {
            const abort = () => {
              if (this.#tools[name] === tool) this.remove(name);
              reject(Before.reason(signal));
            };
            if (signal) Before.addEventListener(signal, "abort", abort, { once: true });
            this.add(tool);
            this.later(() => resolve(void 0));
          });
        }
        static isName(name) {
          return /^[A-Za-z0-9_.-]{1,128}$/.test(name);
        }
        has(name) {
          return name in this.#tools;
        }
        add(tool) {
          this.#tools[tool.name] = tool;
          this.#tell(tool);
        }
        remove(name) {
          const tool = this.#tools[name];
          delete this.#tools[name];
          this.#tell(tool);
        }
        /** Tells all documents that may see a tool that the tools have changed. */
        #tell({ exposed }) {
          this.owner.changed();
          this.later(() => {
            this.changed();
            this.frames.changed(exposed);
          });
        }
        /** Tells this document's page that the tools that it may see have changed. */
        changed() {
          this.#fire("toolchange");
        }
        // ---- Listed
        /** All tools that the page may see. */
        list(fromOrigins = []) {
          const origins = Idl.origins(fromOrigins, "fromOrigins");
          this.forms.settle();
          return new Before.Promise((resolve) => this.later(() => resolve(this.frames.list(origins))));
        }
        /**
         * The document's own tools that a document of another origin may see, or one of its own.
         * @param origin the other
         */
        offered(origin) {
          const offered = [];
          for (const name in this.#tools) {
            if (this.#isOffered(name, origin)) offered[offered.length] = this.#tools[name];
          }
          return offered;
        }
        #isOffered(name, origin) {
          return this.has(name) && (origin === void 0 || this.#tools[name].exposed[origin] === true);
        }
        // ---- Run
        /**
         * Runs a tool of any document that the page may see.
         * @param value its input
         */
        call({ name, window: target, origin, of }, value, signal) {
          const expected = Before.URL.canParse(origin) ? new Before.URL(origin).origin : "";
          if (!expected) throw new Before.DOMException("The provided origin is invalid.", "NotSupportedError");
          if (expected === "null") {
            throw new Before.DOMException("Cannot execute tools that live in a document with an opaque origin.", "NotSupportedError");
          }
          const input = Idl.json(value);
          if (!target.parent) throw new Before.DOMException("Target frame is detached.", "InvalidStateError");
          if (signal && Before.aborted(signal)) throw Before.reason(signal);
          return new Before.Promise((resolve, reject) => {
            const controller = new Before.AbortController();
            const abort = () => {
              reject(Before.reason(signal));
              this.later(() => controller.abort());
            };
            if (signal) Before.addEventListener(signal, "abort", abort, { once: true });
            this.later(async () => {
              const outcome = await this.frames.run(target, expected, { name, of }, input, controller.signal, signal);
              if (signal) Before.removeEventListener(signal, "abort", abort);
              if ("text" in outcome) resolve(outcome.text);
              else reject(new Before.DOMException(outcome.failed, "UnknownError"));
            });
          });
        }
        /**
         * Runs a tool of this document.
         * @param tool of is the one that is meant, if not any of that name
         * @param input JSON
         * @param by the origin of the document that asks, if it is another; else the signal that its page gave
         */
        async run({ name, of }, input, signal, { origin, caller } = {}) {
          if (!this.#isOffered(name, origin) || of && this.#tools[name] !== of) return FAILED;
          const controller = new Before.AbortController();
          const cancel = () => {
            controller.abort();
            this.#fire("toolcancel", name);
          };
          Before.addEventListener(signal, "abort", cancel, { once: true });
          const running = this.#tools[name].run(input, controller.signal, caller);
          this.#fire("toolactivated", name);
          const outcome = await running;
          Before.removeEventListener(signal, "abort", cancel);
          return outcome;
        }
        /** Resumes a call that has taken a token, in this document. */
        async resume(token, callback) {
          const { owner } = this;
          const held = this.frames.redeem(token);
          const resumed = !held ? await owner.resume(token) : !held.caller || await owner.release(token) ? held : void 0;
          if (!resumed) {
            held?.end({ failed: "The call was over when it was to go on" });
            const why = "The token is unknown, too old, or used already, or was taken in a document of another origin or tab.";
            throw new Before.DOMException(why, "InvalidStateError");
          }
          this.later(async () => {
            const before = await resumed.before;
            if (before && "failed" in before) return;
            const cancelled = Before.aborted(resumed.signal);
            resumed.end(cancelled ? { failed: "The call was cancelled before it went on" } : await new Invocation(this, resumed).run(callback));
          });
        }
        /** The text of what a tool has returned. */
        static text(value) {
          return `${typeof value === "object" && value !== null || typeof value === "function" ? Before.stringify(value) : value}`;
        }
      };
    }
  });

  // ../pagejs/webmcpforms.ts
  function matters({ type, addedNodes, removedNodes }) {
    if (type === "attributes") return true;
    for (let i = 0; i < addedNodes.length; i++) if (addedNodes[i].nodeType === 1) return true;
    for (let i = 0; i < removedNodes.length; i++) if (removedNodes[i].nodeType === 1) return true;
    return false;
  }
  function extendSubmitEvents(forms, place) {
    const members = {
      get agentInvoked() {
        const event = this;
        Before.submitterOf(event);
        return forms()?.isInvoked(event) ?? false;
      },
      respondWith(response) {
        const event = this;
        Before.submitterOf(event);
        const refuse = (why) => new Before.DOMException(why, "InvalidStateError");
        if (!arguments.length) throw new TypeError("respondWith needs an answer");
        if (!forms()?.isInvoked(event)) throw refuse("You can only call respondWith on an submit event that has agentInvoked == true.");
        if (!Before.preventedOf(event)) throw refuse("To call respondWith, you must first call preventDefault.");
        if (!forms()?.awaits(event)) throw refuse("To call respondWith, the event must be currently being dispatched.");
        forms()?.respond(event, (async () => response)());
      }
    };
    for (const name of ["agentInvoked", "respondWith"]) {
      const member = Before.getOwnPropertyDescriptor(members, name);
      place(SubmitEvent.prototype, name, member);
    }
  }
  var ToolForms;
  var init_webmcpforms = __esm({
    "../pagejs/webmcpforms.ts"() {
      init_webmcp();
      init_webmcpfields();
      init_webmcpframes();
      init_webmcptools();
      ToolForms = class _ToolForms {
        static #SELECTOR = "form[toolname][tooldescription]";
        /** Elements of this name in another namespace are no forms. */
        static #HTML = "http://www.w3.org/1999/xhtml";
        /** What a tool is made of, beside its elements. */
        static #ATTRIBUTES = ["toolname", "tooldescription", "tooltitle", "toolautosubmit", "toolparamdescription"].concat(
          ["name", "type", "required", "pattern", "min", "max", "step", "value", "multiple", "disabled", "readonly"],
          ["form", "for", "id", "aria-description"]
        );
        /** Looking takes this part of the page's time at most, also where all of it changes all the time. */
        static #SHARE = 1 / 20;
        static #CHANGED = "Tool execution cancelled, since tool definition was updated";
        #tools;
        #observer;
        #known = /* @__PURE__ */ new Map();
        #calls = /* @__PURE__ */ new Map();
        /** Submit events of calls. */
        #invoked = /* @__PURE__ */ new WeakSet();
        #looking = false;
        /** When to look again at the earliest, as performance.now() has it. */
        #rests = 0;
        #watching = false;
        constructor(tools) {
          this.#tools = tools;
          this.#observer = new Before.MutationObserver((records) => this.#see(records));
          Before.observe(this.#observer, document, { childList: true, subtree: true, attributeFilter: _ToolForms.#ATTRIBUTES });
          this.#look();
        }
        // ---- Found
        /** Takes in what the page has done with its forms so far, before it is answered. */
        settle() {
          this.#see(Before.takeRecords(this.#observer));
        }
        #see(records) {
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
            this.#rests = over + (over - began) / _ToolForms.#SHARE;
          };
          const left = this.#rests - Before.now();
          if (left > 0) Before.setTimeout(look, left);
          else this.#tools.later(look);
        }
        #takeAll() {
          const forms = Before.allInDocument(document, _ToolForms.#SELECTOR);
          const permitted = forms.length > 0 && this.#tools.frames.permitted();
          if (permitted instanceof Before.Promise) void permitted.then(() => this.#look());
          else if (permitted) {
            for (let i = 0; i < forms.length; i++) if (Before.namespaceOf(forms[i]) === _ToolForms.#HTML) this.#take(forms[i]);
          }
        }
        #take(form) {
          const attribute = (name2) => Before.getAttribute(form, name2) ?? "";
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
          const run = (input, signal) => this.#run(form, input, signal);
          this.#tools.add({ name, title, description, schema, exposed: Before.create(null), run });
        }
        #drop({ form, name, offered }) {
          this.#known.delete(form);
          const call = this.#calls.get(form);
          if (call && !call.submitting) call.end({ failed: _ToolForms.#CHANGED });
          if (offered) this.#tools.remove(name);
        }
        // ---- Run
        #run(form, input, signal) {
          return new Before.Promise((resolve) => {
            const fields = new FormFields(form);
            const autosubmit = Before.hasAttribute(form, "toolautosubmit");
            const failed = fields.fill(Before.parse(input), autosubmit);
            if (failed) {
              resolve({ failed });
              return;
            }
            this.#calls.get(form)?.end({ failed: "Tool execution cancelled, since the tool was called again" });
            const call = {
              end: (outcome) => {
                if (this.#calls.get(form) === call) this.#calls.delete(form);
                resolve(outcome);
              },
              submitting: false,
              submitted: false
            };
            this.#calls.set(form, call);
            this.#watch();
            Before.addEventListener(signal, "abort", () => call.end(FAILED), { once: true });
            if (autosubmit) this.#submit(form, call, fields.submitter);
            else Before.focus(fields.submitter);
          });
        }
        #submit(form, call, submitter) {
          Before.requestSubmit(form, submitter);
          if (call.submitting) return;
          const failed = Before.connected(form) ? new FormFields(form).complaint() : _ToolForms.#CHANGED;
          call.end(failed ? { failed } : { text: null });
        }
        /** Watches what becomes of forms, from the first call of one on. */
        #watch() {
          if (this.#watching) return;
          this.#watching = true;
          Before.addEventListener(window, "submit", (event) => {
            const call = this.isInvoked(event) && this.#calls.get(Before.targetOf(event));
            if (!call || call.submitting) return;
            call.submitting = true;
            call.asked = event;
            Before.setTimeout(() => call.asked = void 0);
            this.#tools.later(() => this.#answer(call, event));
          }, true);
          Before.addEventListener(window, "reset", (event) => {
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
            }
          });
          Before.defineProperty(HTMLFormElement.prototype, "submit", { value: watched, writable: true, enumerable: true, configurable: true });
        }
        /** Ends a call whose form was submitted, or will be, or was kept from it by the page. */
        async #answer(call, event) {
          const { response, submitted } = call;
          call.asked = void 0;
          if (response) {
            let value;
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
        isInvoked(event) {
          if (this.#invoked.has(event)) return true;
          const running = event.isTrusted && event.type === "submit" && Before.phaseOf(event) !== 0 && this.#calls.has(Before.targetOf(event));
          if (running) this.#invoked.add(event);
          return running;
        }
        /**
         * Whether the page may still answer a submit event of a call. While the browser runs a page's
         * listener from no script, what the listener awaits goes on before the event is over.
         */
        awaits(event) {
          return Before.phaseOf(event) !== 0 || this.#calls.get(Before.targetOf(event))?.asked === event;
        }
        respond(event, response) {
          const call = this.#calls.get(Before.targetOf(event));
          if (call) call.response = response;
        }
      };
    }
  });

  // ../pagejs/webmcp.ts
  var webmcp_exports = {};
  __export(webmcp_exports, {
    Before: () => Before,
    makeWebMCP: () => makeWebMCP
  });
  function makeWebMCP(owner, place) {
    const { apply, defineProperty } = Before;
    let making;
    let tools;
    const contexts = /* @__PURE__ */ new WeakMap();
    class ModelContext extends EventTarget {
      /** Undefined in a document that is in no window. */
      #tools;
      /** By event types. */
      #handlers = Before.create(null);
      constructor() {
        if (!making) throw new TypeError("pages make no ModelContext");
        super();
        this.#tools = making.tools;
      }
      /**
       * Does something with the document's tools: at once, as the browser's own, unless it is not known
       * yet whether the document may have some.
       */
      static #with(context, work) {
        const tools2 = context.#tools;
        if (!tools2 || Before.viewOf(document) === null) throw new Before.DOMException("The document is not active.", "InvalidStateError");
        if (!Before.keyed) throw new Before.DOMException("document.modelContext cannot be used when document.domain is enabled.", "SecurityError");
        const permitted = tools2.frames.permitted();
        return permitted instanceof Before.Promise ? ModelContext.#later(permitted, tools2, work) : ModelContext.#now(permitted, tools2, work);
      }
      static #now(permitted, tools2, work) {
        if (!permitted) throw new Before.DOMException('Access to the feature "tools" is disallowed by permissions policy.', "NotAllowedError");
        return work(tools2);
      }
      static async #later(permitted, tools2, work) {
        return ModelContext.#now(await permitted, tools2, work);
      }
      async registerTool(tool) {
        checkContext(#tools in this);
        const given = Idl.dictionary(Idl.tool, tool);
        const options = Idl.dictionary(Idl.registerOptions, arguments[1] ?? {});
        return ModelContext.#with(this, (tools2) => tools2.register(given, options));
      }
      async getTools() {
        checkContext(#tools in this);
        const options = Idl.dictionary(Idl.getOptions, arguments[0] ?? {});
        return ModelContext.#with(this, (tools2) => tools2.list(options.fromOrigins));
      }
      /** @param tool one that getTools has given, or as that was until Chromium 160 a dictionary */
      async executeTool(tool) {
        checkContext(#tools in this);
        const given = seenOf(tool) ?? Idl.dictionary(Idl.registeredTool, tool);
        const options = Idl.dictionary(Idl.executeOptions, arguments[2] ?? {});
        const input = arguments[1] === void 0 ? {} : arguments[1];
        return ModelContext.#with(this, (tools2) => tools2.call(given, input, options.signal));
      }
      async resumeTool(token, callback) {
        checkContext(#tools in this);
        const given = Idl.string(token);
        Idl.callback(callback, "callback");
        return ModelContext.#with(this, (tools2) => tools2.resume(given, callback));
      }
      static {
        for (const type of ["toolchange", "toolactivated", "toolcancel"]) {
          const name = `on${type}`;
          const handler = {
            get [name]() {
              const context = this;
              return context.#handlers[type] ?? null;
            },
            set [name](handler2) {
              const context = this;
              context.#handle(type, handler2);
            }
          };
          defineProperty(this.prototype, name, Before.getOwnPropertyDescriptor(handler, name));
        }
      }
      #handle(type, handler) {
        if (!(type in this.#handlers)) {
          Before.addEventListener(this, type, (event) => {
            const handler2 = this.#handlers[type];
            if (typeof handler2 === "function") apply(handler2, this, [event]);
          });
        }
        this.#handlers[type] = typeof handler === "function" || typeof handler === "object" ? handler : null;
      }
    }
    let seenOf;
    class Tool {
      #seen;
      constructor() {
        if (!making) throw new TypeError("pages make no Tool");
        this.#seen = making;
      }
      static {
        seenOf = (tool) => typeof tool === "object" && tool !== null && #seen in tool ? tool.#seen : void 0;
      }
      get source() {
        return this.#seen.window;
      }
      get name() {
        return this.#seen.name;
      }
      get title() {
        return this.#seen.title;
      }
      get description() {
        return this.#seen.description;
      }
      get inputSchema() {
        return this.#seen.inputSchema ?? null;
      }
      get outputSchema() {
        return this.#seen.outputSchema ?? null;
      }
      get annotations() {
        return this.#seen.annotations ?? null;
      }
      get origin() {
        return this.#seen.origin;
      }
      get window() {
        return this.#seen.window;
      }
    }
    class ModelContextToolInvocation {
      #of;
      constructor() {
        if (!making) throw new TypeError("pages make no ModelContextToolInvocation");
        this.#of = making;
      }
      async requestToken() {
        return this.#of.take();
      }
      async requestUserInput(request) {
        return this.#of.ask(request, arguments[1]);
      }
    }
    function made(interfaced, of) {
      making = of;
      const object = new interfaced();
      making = void 0;
      return object;
    }
    const ToolActivatedEvent = toolEvent("ToolActivatedEvent");
    const ToolCancelEvent = toolEvent("ToolCancelEvent");
    function contextOf(of) {
      const view = Before.viewOf(of);
      if (view && view !== window) return of.modelContext;
      let context = contexts.get(of);
      if (!context) {
        context = made(ModelContext, { tools: of === document ? start() : void 0 });
        contexts.set(of, context);
      }
      return context;
    }
    function fire(type, toolName) {
      const made2 = {
        toolchange: () => new Before.Event(type),
        toolactivated: () => new ToolActivatedEvent(type, { toolName }),
        toolcancel: () => new ToolCancelEvent(type, { toolName })
      };
      Before.dispatchEvent(contextOf(document), made2[type]());
    }
    const frames = new ToolFrames(() => tools, start, (seen) => made(Tool, seen));
    function start() {
      tools ??= new DocumentTools(frames, { ...owner, fire, handle: (invocation) => made(ModelContextToolInvocation, invocation) });
      return tools;
    }
    for (const one of [ModelContext, ToolActivatedEvent, ToolCancelEvent]) expose(one, place);
    for (const one of [Tool, ModelContextToolInvocation]) expose(one, (object, name, value) => name in object || defineProperty(object, name, value));
    extendSubmitEvents(() => tools?.forms, place);
    const attribute = {
      get modelContext() {
        return contextOf(this);
      },
      // The browser's cannot be set. A page that brings its own without looking works in a browser without
      // WebMCP, and is to go on working there.
      set modelContext(value) {
        Before.viewOf(this);
        defineProperty(this, "modelContext", { value, writable: true, enumerable: true, configurable: true });
      }
    };
    const accessor = Before.getOwnPropertyDescriptor(attribute, "modelContext");
    place(Document.prototype, "modelContext", accessor);
    return { context: () => contextOf(document), start, frames };
  }
  function toolEvent(name) {
    const { [name]: made } = {
      [name]: class extends Event {
        #toolName;
        constructor(type) {
          if (!arguments.length) throw new TypeError(`${name} needs a type`);
          super(type, arguments[1]);
          const { toolName = "" } = arguments[1] ?? {};
          this.#toolName = `${toolName}`;
        }
        get toolName() {
          return this.#toolName;
        }
      }
    };
    return made;
  }
  function expose(made, place) {
    const { prototype, name } = made;
    for (const key of Reflect.ownKeys(prototype)) {
      const property = Before.getOwnPropertyDescriptor(prototype, key);
      property.enumerable = key !== "constructor";
      Before.defineProperty(prototype, key, property);
    }
    Before.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
    place(window, name, { value: made, writable: true, enumerable: false, configurable: true });
  }
  function checkContext(its) {
    if (!its) throw new TypeError("not called on a ModelContext");
  }
  var Before;
  var init_webmcp = __esm({
    "../pagejs/webmcp.ts"() {
      init_webmcpforms();
      init_webmcpframes();
      init_webmcpidl();
      init_webmcptools();
      Before = (() => {
        const { call } = Function.prototype;
        const method = (taken) => call.bind(taken);
        const getter = (prototype, name) => method(Object.getOwnPropertyDescriptor(prototype, name)?.get);
        const setter = (prototype, name) => method(Object.getOwnPropertyDescriptor(prototype, name)?.set);
        return {
          AbortController,
          CustomEvent,
          DOMException,
          Event,
          MessageChannel,
          MutationObserver,
          Promise,
          URL,
          Uint8Array,
          getRandomValues: crypto.getRandomValues.bind(crypto),
          apply: Reflect.apply,
          create: Object.create,
          defineProperty: Object.defineProperty,
          getOwnPropertyDescriptor: Object.getOwnPropertyDescriptor,
          hasOwn: Object.hasOwn,
          isArray: Array.isArray,
          keys: Object.keys,
          now: performance.now.bind(performance),
          parse: JSON.parse,
          random: Math.random,
          setTimeout: window.setTimeout.bind(window),
          shift: method(Array.prototype.shift),
          stringify: JSON.stringify,
          /** Whether no other document can share the document's origin by document.domain; of no account where the browser itself has no API. Firefox says false of all. */
          keyed: window.originAgentCluster !== false || !("userAgentData" in navigator) || location.protocol === "file:" || !isSecureContext,
          // Windows, documents, events, messages.
          framesIn: getter(window, "length"),
          frameElement: getter(window, "frameElement"),
          viewOf: getter(Document.prototype, "defaultView"),
          createElement: method(Document.prototype.createElement),
          allInDocument: method(Document.prototype.querySelectorAll),
          allInFragment: method(DocumentFragment.prototype.querySelectorAll),
          observe: method(MutationObserver.prototype.observe),
          takeRecords: method(MutationObserver.prototype.takeRecords),
          addEventListener: method(EventTarget.prototype.addEventListener),
          removeEventListener: method(EventTarget.prototype.removeEventListener),
          dispatchEvent: method(EventTarget.prototype.dispatchEvent),
          targetOf: getter(Event.prototype, "target"),
          phaseOf: getter(Event.prototype, "eventPhase"),
          preventedOf: getter(Event.prototype, "defaultPrevented"),
          submitterOf: getter(SubmitEvent.prototype, "submitter"),
          detailOf: getter(CustomEvent.prototype, "detail"),
          dataOf: getter(MessageEvent.prototype, "data"),
          sourceOf: getter(MessageEvent.prototype, "source"),
          originOf: getter(MessageEvent.prototype, "origin"),
          portsOf: getter(MessageEvent.prototype, "ports"),
          postMessage: method(MessagePort.prototype.postMessage),
          close: method(MessagePort.prototype.close),
          aborted: getter(AbortSignal.prototype, "aborted"),
          reason: getter(AbortSignal.prototype, "reason"),
          // Elements: the names of a form's fields hide what the form itself has.
          connected: getter(Node.prototype, "isConnected"),
          shadowOf: getter(Element.prototype, "shadowRoot"),
          namespaceOf: getter(Element.prototype, "namespaceURI"),
          matches: method(Element.prototype.matches),
          closest: method(Element.prototype.closest),
          getAttribute: method(Element.prototype.getAttribute),
          hasAttribute: method(Element.prototype.hasAttribute),
          contentWindow: getter(HTMLIFrameElement.prototype, "contentWindow"),
          click: method(HTMLElement.prototype.click),
          focus: method(HTMLElement.prototype.focus),
          elementsOf: getter(HTMLFormElement.prototype, "elements"),
          requestSubmit: method(HTMLFormElement.prototype.requestSubmit),
          // A library that follows a field's value has put a setter of its own before these.
          setValue: setter(HTMLInputElement.prototype, "value"),
          setText: setter(HTMLTextAreaElement.prototype, "value"),
          setSelected: setter(HTMLSelectElement.prototype, "value")
        };
      })();
    }
  });

  // ../pagejs/webmcpstub.ts
  function offerWebMCP(owner) {
    const { apply } = Reflect;
    const { defineProperty, getOwnPropertyDescriptor } = Object;
    let made;
    const getters = [];
    const stubs = {};
    const parts = {};
    function make() {
      return made ??= (init_webmcp(), __toCommonJS(webmcp_exports)).makeWebMCP(owner, place);
    }
    function place(object, name, part) {
      parts[name] = part;
      if (getOwnPropertyDescriptor(object, name)?.get !== stubs[name]) return;
      defineProperty(object, name, part);
      if (name === "modelContext" && part.get) getters[getters.length] = part.get;
    }
    function stub(object, name, enumerable) {
      const stands = {
        get [name]() {
          make();
          const { get: get2, value } = parts[name];
          return get2 ? apply(get2, this, []) : value;
        },
        set [name](value) {
          make();
          const part = parts[name];
          if (part.set) apply(part.set, this, [value]);
          else if (!part.get) defineProperty(this, name, { ...part, value });
        }
      };
      const { get, set } = getOwnPropertyDescriptor(stands, name);
      stubs[name] = get;
      defineProperty(object, name, { get, set, enumerable, configurable: true });
    }
    if (!("ModelContext" in window)) stub(window, "ModelContext", false);
    stub(window, "ToolActivatedEvent", false);
    stub(window, "ToolCancelEvent", false);
    stub(SubmitEvent.prototype, "agentInvoked", true);
    stub(SubmitEvent.prototype, "respondWith", true);
    stub(Document.prototype, "modelContext", true);
    getters[0] = stubs.modelContext;
    addEventListener(MEET, (event) => make().frames.met(event));
    return {
      getters,
      context: () => make().context(),
      start: () => void make().start(),
      heard: (event) => make().frames.heard(event)
    };
  }
  var MEET;
  var init_webmcpstub = __esm({
    "../pagejs/webmcpstub.ts"() {
      MEET = "tabhub-webmcp";
    }
  });

  // content/page.ts
  init_webmcpstub();

  // content/framepath.ts
  function framePath(source) {
    const up = [];
    for (let at = source; at !== window; at = at.parent) {
      if (!at.parent || up.length === 32) return void 0;
      up[up.length] = frameIndex(at);
    }
    const path = [];
    for (let i = up.length - 1; i >= 0; i--) path[path.length] = up[i];
    return path;
  }
  function frameIndex(frame) {
    const { parent } = frame;
    let index = parent.length - 1;
    while (index >= 0 && parent[index] !== frame) index--;
    return index;
  }

  // content/oldforms.ts
  function offerOldForms(native) {
    const registered = /* @__PURE__ */ new Map();
    function registerTool(tool) {
      const name = String(tool?.name);
      const controller = registered.get(name) ?? new AbortController();
      const execute = (input, options) => tool.execute(input, { ...options, requestUserInteraction: async (ask) => ask() });
      registered.set(name, controller);
      Promise.resolve(native().registerTool({ description: name, ...tool, execute }, { signal: controller.signal })).catch(
        (error) => console.warn(`registerTool(${name}):`, error)
      );
      return { unregister: () => unregisterTool(name) };
    }
    function unregisterTool(name) {
      registered.get(name)?.abort();
      registered.delete(name);
    }
    function clearContext() {
      for (const name of [...registered.keys()]) unregisterTool(name);
    }
    function provideContext(offered) {
      clearContext();
      for (const tool of offered?.tools ?? []) registerTool(tool);
    }
    function oldContext() {
      const context = native();
      return Object.create(context, {
        registerTool: { value: registerTool },
        unregisterTool: { value: unregisterTool },
        clearContext: { value: clearContext },
        provideContext: { value: provideContext },
        getTools: { value: context.getTools.bind(context) },
        executeTool: { value: context.executeTool.bind(context) },
        addEventListener: { value: context.addEventListener.bind(context) },
        removeEventListener: { value: context.removeEventListener.bind(context) }
      });
    }
    let old;
    const get = () => old ??= oldContext();
    if (!("modelContext" in navigator)) {
      const set = (value) => void Object.defineProperty(navigator, "modelContext", { configurable: true, enumerable: true, writable: true, value });
      Object.defineProperty(Navigator.prototype, "modelContext", { configurable: true, get, set });
    }
    if (!("mcp" in window)) {
      const register = (name, config, execute) => {
        const { title, description = name, inputSchema, annotations } = config ?? {};
        return registerTool({ name, title, description, inputSchema: jsonSchema(inputSchema), annotations, execute });
      };
      Object.defineProperty(window, "mcp", { configurable: true, writable: true, value: { registerTool: register } });
    }
    return get;
  }
  function jsonSchema(schema) {
    if (!schema || typeof schema.type === "string" || typeof schema.properties === "object") return schema ?? void 0;
    const properties = Object.fromEntries(
      Object.entries(schema).map(([name, validator]) => {
        const description = validator?.description;
        return [name, typeof description === "string" ? { description } : {}];
      })
    );
    return { type: "object", properties };
  }

  // ../pagejs/watchtools.ts
  var Unchanged = { stringify: JSON.stringify, parse: JSON.parse };
  var KEPT = 6e4;
  function watchTools(prototype, watcher) {
    const { apply } = Reflect;
    const calls = /* @__PURE__ */ new WeakMap();
    wrap(prototype, "registerTool", (register, context, args) => {
      watcher.registers();
      return apply(register, context, args.length ? [noting(args[0], watcher, calls), ...args.slice(1)] : args);
    });
    const invocations = window.ModelContextToolInvocation?.prototype;
    if (typeof invocations?.requestToken !== "function" || typeof prototype.resumeTool !== "function") return;
    wrap(invocations, "requestToken", async (request, invocation, args) => {
      const token = await apply(request, invocation, args);
      const call = calls.get(invocation);
      if (call && "caller" in call) call.took = true;
      if (call) await watcher.took(call, String(token)).catch(() => {
      });
      return token;
    });
    wrap(prototype, "resumeTool", async (resume, context, args) => {
      const [token, callback] = args;
      const resumed = typeof callback === "function" ? await watcher.resume(String(token)) : void 0;
      if (!resumed) return apply(resume, context, args);
      let begun = false;
      const run = async (input, options) => {
        begun = true;
        const call = { caller: resumed.caller };
        const invocation = options?.invocation;
        if (Object(invocation) === invocation) calls.set(invocation, call);
        try {
          const value = await callback(input, options);
          const end = () => resumed.end({ text: typeof value === "object" || typeof value === "function" ? Unchanged.stringify(value) ?? "undefined" : `${value}` });
          if (call.took) setTimeout(end, KEPT);
          else end();
          return value;
        } catch (error) {
          resumed.end({ failed: "the tool failed", error });
          throw error;
        }
      };
      try {
        await apply(resume, context, [token, run]);
      } catch (error) {
        if (begun) throw error;
        run(Unchanged.parse(resumed.input), { signal: resumed.signal }).catch(() => {
        });
      }
    });
  }
  function wrap(object, method, instead) {
    const value = new Proxy(object[method], { apply: instead });
    Object.defineProperty(object, method, { configurable: true, enumerable: true, writable: true, value });
  }
  function noting(tool, watcher, calls) {
    if (Object(tool) !== tool) return tool;
    const get = () => {
      const { execute } = tool;
      if (typeof execute !== "function") return execute;
      return async (...args) => {
        const name = String(tool.name);
        const invocation = args[1]?.invocation;
        if (Object(invocation) === invocation) calls.set(invocation, { name, input: jsonOf(args[0]) });
        try {
          return await execute(...args);
        } catch (error) {
          watcher.threw(name, jsonOf(args[0]), error);
          throw error;
        }
      };
    };
    return Object.create(tool, { execute: { get } });
  }
  function jsonOf(input) {
    try {
      return Unchanged.stringify(input) ?? "";
    } catch {
      return "";
    }
  }

  // content/sentinel.ts
  function watchForSigns(offer) {
    const { document: document2, top: top2, addEventListener: addEventListener2, dispatchEvent, setTimeout: setTimeout2, requestIdleCallback, CustomEvent: CustomEvent2 } = window;
    const { apply } = Reflect;
    const { hasOwn, defineProperty, getOwnPropertyDescriptor } = Object;
    const { min } = Math;
    const { querySelector, querySelectorAll } = Document.prototype;
    const { stopImmediatePropagation } = Event.prototype;
    const { includes } = String.prototype;
    const { then } = Promise.prototype;
    const getter = (prototype, name) => getOwnPropertyDescriptor(prototype, name)?.get;
    const dataOf = getter(MessageEvent.prototype, "data");
    const sourceOf = getter(MessageEvent.prototype, "source");
    const originOf = getter(MessageEvent.prototype, "origin");
    const lengthOf = getter(NodeList.prototype, "length");
    const textOf2 = getter(Node.prototype, "textContent");
    const nativeOf = getter(Document.prototype, "modelContext");
    const native = hasOwn(Document.prototype, "modelContext") && window.ModelContext?.prototype;
    const getTools = native && native.getTools;
    const documents = { object: document2, prototype: Document.prototype };
    const navigators = { object: navigator, prototype: Navigator.prototype };
    const BUSY = 500;
    const MARK = "tabhubSigns";
    const MAX_SIGNS = 64;
    const FIRST_AGAIN = 50;
    const LAST_AGAIN = 6400;
    const FIRST_WAIT = 250;
    const MAX_WAIT = 6e4;
    const TIMEOUT = 5e3;
    const given = /* @__PURE__ */ Object.create(null);
    const elsewhere = hasOwn(Navigator.prototype, "modelContext");
    const offered = offer && isSecureContext && !native && (elsewhere || !hasOwn(window, "ModelContext")) ? offer({
      changed: () => give("tools"),
      threw: (name, input, error) => half?.threw(name, input, error),
      took: async (caller, token) => await half?.took(caller, token) === true,
      resume: async (token) => (await reached())?.resume(token),
      release: async (token) => await (await reached())?.release(token) === true,
      ask: async (caller, request, interact) => {
        if (half) return half.ask(caller, request, interact);
        throw new TypeError("the tool's caller cannot be asked");
      }
    }) : void 0;
    const ours = offered ? offered.getters : [];
    if (offered) ours[ours.length] = offerOldForms(() => offered.context());
    let listening = false;
    let taken = false;
    let asked = false;
    const signs = [];
    let half;
    let brought;
    const halfThere = new Promise((resolve) => brought = resolve);
    function reached() {
      give("tools");
      return new Promise((resolve) => {
        apply(then, halfThere, [resolve]);
        setTimeout2(resolve, TIMEOUT);
      });
    }
    function give(kind, more) {
      if (given[kind] && !more) return;
      given[kind] = true;
      if (top2 === window) pass({ path: [], kind, ...more });
      else ask({ tabhub: "sign", kind, ...more }, FIRST_AGAIN);
    }
    function pass(sign) {
      dispatchEvent(new CustomEvent2("tabhub-sign", { detail: sign }));
      if (asked || sign.path.length && signs.length >= MAX_SIGNS) return;
      defineProperty(signs, signs.length, { value: sign });
      defineProperty(window, MARK, { value: true });
    }
    function ask(sign, wait) {
      top2?.postMessage(sign, "*");
      if (wait <= LAST_AGAIN) setTimeout2(() => taken || ask(sign, wait * 2), wait);
    }
    function heard(event) {
      if (!event.isTrusted) return;
      const data = apply(dataOf, event, []);
      if (typeof data !== "object" || data === null) return;
      const source = apply(sourceOf, event, []);
      if (offered && hasOwn(data, "tabhub") && data.tabhub === "webmcp") {
        apply(stopImmediatePropagation, event, []);
        offered.heard(event);
        return;
      }
      if (hasOwn(data, "tabhub") && data.tabhub === "sign" && top2 === window && source !== window) {
        apply(stopImmediatePropagation, event, []);
        const path = source && framePath(source);
        if (path) pass({ path, kind: data.kind, child: data.child });
        return;
      }
      if (!hasOwn(data, "channel") || !hasOwn(data, "payload") || data.payload !== "mcp-server-ready") return;
      if (data.channel === "mcp-default" && source === window) give("server");
      if (data.channel !== "mcp-iframe" || source?.parent !== window) return;
      give("child", { child: { index: frameIndex(source), origin: apply(originOf, event, []) } });
    }
    function named() {
      const scripts = apply(querySelectorAll, document2, ["script:not([src])"]);
      const length = apply(lengthOf, scripts, []);
      for (let index = 0; index < length; index++) {
        if (apply(includes, apply(textOf2, scripts[index], []), ["mcp-default"])) return true;
      }
      return false;
    }
    function listen() {
      const context = !listening && apply(nativeOf, document2, []);
      if (!context) return;
      listening = true;
      apply(addEventListener2, context, ["toolchange", () => give("tools")]);
      const found = (tools) => void (tools.length && give("tools"));
      apply(then, apply(getTools, context, []), [found, () => {
      }]);
    }
    function look(wait) {
      lookOnce();
      if (!half) setTimeout2(() => look(min(wait * 2, MAX_WAIT)), wait);
    }
    function lookOnce() {
      if (hasLibrary()) give("tools");
      if (offered && apply(querySelector, document2, ["form[toolname]"])) offered.start();
    }
    function hasLibrary() {
      return made(documents) || made(navigators);
    }
    function made({ object, prototype }) {
      const inherited = getOwnPropertyDescriptor(prototype, "modelContext");
      return (hasOwn(object, "modelContext") || inherited && !isOurs(inherited.get)) && object.modelContext;
    }
    function isOurs(get) {
      for (let index = 0; index < ours.length; index++) if (ours[index] === get) return true;
      return false;
    }
    if (top2 === window) {
      addEventListener2("tabhub-gateway", () => {
        if (asked || !signs.length) return;
        asked = true;
        for (let index = 0; index < signs.length; index++) pass(signs[index]);
      });
    }
    addEventListener2("tabhub-taken", () => taken = true);
    addEventListener2("tabhub-half", (event) => {
      if (half || !(given.tools || given.server || given.child)) return;
      half = event.detail;
      event.preventDefault();
      brought(half);
      if (!native) half.look(offered && { context: offered.context, getters: ours });
    });
    addEventListener2("message", heard);
    addEventListener2("load", () => setTimeout2(() => {
      if (named()) give("named");
      if (!native) lookOnce();
      if (native && top2 === window) listen();
      else if (native) requestIdleCallback(listen, { timeout: BUSY });
    }));
    addEventListener2("tabhub-page", () => {
      if (apply(querySelector, document2, ["script[src*='/tab.js'], script[src*='/embed.js'], link[rel=tabhub]"])) give("script");
    });
    if (native) {
      watchTools(native, {
        registers: () => give("tools"),
        threw: (name, input, error) => half?.threw(name, input, error),
        took: async (call, token) => "caller" in call ? half?.took(call.caller, token) : half?.tookNatively(call.name, call.input, token),
        resume: async (token) => (await reached())?.resume(token)
      });
      offerOldForms(() => apply(nativeOf, document2, []));
      if (top2 === window) requestIdleCallback(listen, { timeout: BUSY });
    } else {
      setTimeout2(() => look(FIRST_WAIT), 0);
    }
  }

  // content/page.ts
  watchForSigns(offerWebMCP);
})();
