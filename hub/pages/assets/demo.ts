// The page /demo: shows the shop, offers its tools through window.tabhub, and shows
// the calls that come in.

import { Shop, shopTools } from "./shop.ts";

const CALLS_SHOWN = 50;

function byID<T extends Element>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return (found as unknown) as T;
}

function element(tag: string, attributes: { [attribute: string]: string } = {}, ...children: (Node | string)[]) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const euros = new Intl.NumberFormat("en", { style: "currency", currency: "EUR" });

const price = (cents: number) => euros.format(cents / 100);

function showProducts(shop: Shop) {
  const query = (byID("query") as HTMLInputElement).value;
  const found = shop.search(query);
  byID("found").textContent = query === "" ? "" : `${found.length} of ${shop.products.length} found`;
  byID("products").replaceChildren(
    ...found.map(({ id, name, description, priceCents }) => {
      const canvas = element("canvas", { role: "img", "aria-label": `Picture: ${name}` }) as HTMLCanvasElement;
      canvas.style.background = shop.draw(id, canvas);
      const add = element("button", { type: "button", "aria-label": `Add ${name} to the cart` }, "Add");
      add.addEventListener("click", () => shop.add(id));
      return element(
        "li",
        { class: "product", "data-product": String(id) },
        canvas,
        element(
          "div",
          { class: "words" },
          element("h3", {}, name),
          element("p", {}, description),
          element("div", { class: "buy" }, element("span", { class: "price" }, price(priceCents)), add),
        ),
      );
    }),
  );
}

function showCart(shop: Shop) {
  const { items, totalCents } = shop.cart;
  byID("cart").replaceChildren(
    ...items.map(({ productId, name, quantity, lineCents }) => {
      const remove = element("button", { type: "button", "aria-label": `Take ${name} out of the cart` }, "×");
      remove.addEventListener("click", () => shop.remove(productId));
      const label = quantity > 1 ? `${quantity} × ${name}` : name;
      return element("li", {}, element("span", { class: "name" }, label), element("span", { class: "price" }, price(lineCents)), remove);
    }),
  );
  byID("total").textContent = price(totalCents);
  (byID("cart-empty") as HTMLElement).hidden = items.length > 0;
  (byID("checkout") as HTMLButtonElement).disabled = items.length === 0;
  byID("orders").textContent = shop.orders === 0 ? "" : `Orders placed in this tab: ${shop.orders}`;
  byID("counts").replaceChildren(
    ...Object.entries(shop.counts).flatMap(([tool, n]) => [element("dt", {}, element("code", {}, tool)), element("dd", { "data-count": tool }, String(n))]),
  );
}

function showStatus({ state, by, reason, hub, tabKey, tools, resources, prompts, rejected }: TabStatus) {
  const words = { off: "Not connected", connecting: "Connecting …", open: `Connected to ${hub}${by === "extension" ? ", by the companion extension" : ""}`, waiting: "Away, trying again …", refused: `Refused: ${reason}` };
  byID("status").setAttribute("data-state", state);
  byID("hub-state").textContent = words[state];
  byID("tab-key").textContent = tabKey.slice(0, 6) || "–";
  const refused = rejected.length > 0 ? `, ${rejected.length} refused` : "";
  byID("offered").textContent = `${tools} tools, ${resources} resources, ${prompts} prompt${prompts === 1 ? "" : "s"}${refused}`;
}

/** The log of calls, the newest first. */
class CallLog {
  #running = new Map<string | number, { row: HTMLElement; end: HTMLElement; start: number }>();
  #list = byID("calls");

  show(step: CallStep) {
    if (step.phase === "start") this.#start(step);
    const call = this.#running.get(step.id);
    if (!call) return;
    if (step.phase === "progress") this.#progress(call.row, step);
    if (step.phase === "end") {
      this.#running.delete(step.id);
      call.row.dataset.end = step.ok ? "ok" : "failed";
      call.row.querySelector("progress")?.remove();
      call.end.textContent = `${step.ok ? "done" : "failed"}, ${Math.round(performance.now() - call.start)} ms`;
    }
  }

  #start({ id, name, args }: CallStep) {
    (byID("calls-empty") as HTMLElement).hidden = true;
    const end = element("span", { class: "end" }, "running");
    const row = element("li", { class: "new", "data-call": name }, element("div", { class: "head" }, element("span", { class: "name" }, name), end));
    const text = JSON.stringify(args ?? {});
    if (text !== "{}") row.append(element("code", {}, text.slice(0, 300)));
    this.#list.prepend(row);
    while (this.#list.childElementCount > CALLS_SHOWN) this.#list.lastElementChild?.remove();
    this.#running.set(id, { row, end, start: performance.now() });
  }

  #progress(row: HTMLElement, { progress = 0, total, message }: CallStep) {
    let bar = row.querySelector("progress");
    if (!bar) row.append((bar = element("progress", { "aria-label": "Progress" }) as HTMLProgressElement));
    if (total) {
      bar.max = total;
      bar.value = progress;
    }
    bar.title = message ?? "";
  }
}

function offer(shop: Shop, offered: JSONObject, tabhub: PublicPage) {
  const run = shopTools(shop);
  for (const tool of offered.tools) {
    tabhub.registerTool({
      ...tool,
      execute: (args, context) => {
        shop.count(tool.name);
        return run[tool.name](args, context);
      },
    });
  }
  const read: { [name: string]: (uri: string) => unknown } = { catalog: () => shop.products, cart: () => shop.cart, product: (uri) => shop.product(Number(uri.split("/").pop())) };
  for (const resource of offered.resources) {
    const registered = tabhub.registerResource({ ...resource, read: read[resource.name] });
    if (resource.name === "cart") shop.addEventListener("cart", () => registered.updated());
  }
  for (const prompt of offered.prompts) {
    tabhub.registerPrompt({
      ...prompt,
      get: ({ occasion, budget }) => {
        if (!occasion) throw new Error("choose_gift needs an occasion");
        const limit = budget ? ` It may cost up to ${budget} euros.` : "";
        return `Help me choose a gift from the Corner Shop for this occasion: ${occasion}.${limit} Look with search_products, suggest two or three, say why, and ask before you put anything into the cart.`;
      },
    });
  }
}

const offered = JSON.parse(byID("shop").textContent ?? "");
const shop = new Shop(offered.products);
const log = new CallLog();
const tabhub = window.tabhub;
if (tabhub) {
  tabhub.addEventListener("status", () => showStatus(tabhub.status));
  tabhub.addEventListener("call", (event) => log.show((event as CustomEvent<CallStep>).detail));
  offer(shop, offered, tabhub);
  showStatus(tabhub.status);
}
shop.addEventListener("change", () => showCart(shop));
byID("query").addEventListener("input", () => showProducts(shop));
byID("search").addEventListener("submit", (event) => event.preventDefault());
byID("checkout").addEventListener("click", () => shop.checkout());
showProducts(shop);
showCart(shop);
