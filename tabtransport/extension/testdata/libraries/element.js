// An element as @mcp-b/mcp-iframe has it, made of the same published packages: it offers the tools
// of the page in its frame as the page's own, with a prefix, and gives the frame up for the first
// message that its client does not understand.
import { IframeParentTransport } from "@mcp-b/transports";
import { Client } from "@modelcontextprotocol/client";

window.failures = [];

class FrameElement extends HTMLElement {
  #client;
  #tools = new AbortController();
  #offering = Promise.resolve();

  connectedCallback() {
    const frame = Object.assign(document.createElement("iframe"), { src: this.getAttribute("src"), allow: "tools" });
    frame.addEventListener("load", () => void this.#connect(frame).catch((error) => this.#fail(error)));
    this.attachShadow({ mode: "open" }).append(frame);
  }

  async #connect(frame) {
    this.#end();
    const changed = { autoRefresh: false, debounceMs: 0, onChanged: () => void this.#offer(client).catch((error) => this.#fail(error)) };
    const client = new Client(
      { name: "frame", version: "1" },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" }, listChanged: { tools: changed } },
    );
    client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { size: "large" } }));
    client.onerror = (error) => this.#client === client && this.#fail(error);
    this.#client = client;
    await client.connect(new IframeParentTransport({ iframe: frame, targetOrigin: new URL(frame.src).origin }));
    await this.#offer(client);
  }

  /** Offers what the page in the frame has now, after what was to be offered before. */
  #offer(client) {
    return (this.#offering = this.#offering.then(() => this.#register(client)));
  }

  async #register(client) {
    if (client !== this.#client) return;
    const { tools } = await client.listTools();
    this.#tools.abort();
    this.#tools = new AbortController();
    await document.modelContext.syncNativeTools(); // names that were taken back may be taken until then
    for (const { name, description, inputSchema } of tools) {
      const execute = (args) => client.callTool({ name, arguments: args });
      await document.modelContext.registerTool({ name: `app_${name}`, description, inputSchema, execute }, { signal: this.#tools.signal });
    }
  }

  #fail(error) {
    window.failures.push(String(error));
    this.#end();
  }

  #end() {
    const client = this.#client;
    this.#client = undefined;
    this.#offering = Promise.resolve();
    this.#tools.abort();
    void client?.close();
  }
}

customElements.define("mcp-iframe", FrameElement);
