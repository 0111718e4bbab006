// What all pages have.
const task = location.pathname.split("/")[1];

/** Tells the server what somebody has done. */
async function did(what, data = {}) {
  const answer = await fetch(`/${task}/did`, { method: "POST", body: JSON.stringify({ did: what, ...data }) });
  if (!answer.ok) throw new Error(await answer.text());
}

const find = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

/** Makes an element; properties whose names begin with "on" are listeners, the others attributes. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Says something in the page's status line. */
function say(text) {
  find("[role=status]").textContent = text;
}

/** Calls f when it has not been asked to for a while. */
function later(f, ms) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(f, ms);
  };
}

const ask = async (path) => (await fetch(`/${task}/${path}`)).json();

/** Gives the page a tool; properties are the schemas of its arguments. */
function tool(name, description, properties, execute, annotations) {
  document.modelContext?.registerTool({
    name,
    description,
    inputSchema: { type: "object", properties, required: Object.keys(properties), additionalProperties: false },
    annotations,
    execute,
  });
}
const text = { type: "string" };
const number = { type: "number" };
