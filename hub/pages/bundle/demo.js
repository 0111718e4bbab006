"use strict";
(() => {
  // assets/shop.ts
  var PICTURE_SCALE = 4;
  var MAX_QUANTITY = 99;
  var WRAP_STEP_MS = 250;
  var Shop = class extends EventTarget {
    products;
    orders = 0;
    /** How often each tool has run. */
    counts = {};
    #pictures;
    /** Quantity by product, in the order in which products came in. */
    #cart = /* @__PURE__ */ new Map();
    constructor(products) {
      super();
      this.#pictures = new Map(products.map(({ id, background, art }) => [id, { background, art }]));
      this.products = products.map(({ background, art, ...product }) => product);
      const saved = JSON.parse(sessionStorage.getItem("shop") ?? "{}");
      this.orders = saved.orders ?? 0;
      this.counts = saved.counts ?? {};
      this.#cart = new Map(saved.cart);
    }
    count(tool) {
      this.counts[tool] = (this.counts[tool] ?? 0) + 1;
      this.#changed();
    }
    search(query = "", maxPriceCents = Infinity) {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean);
      return this.products.filter(({ name, category, description, priceCents }) => {
        const text = `${name} ${category} ${description}`.toLowerCase();
        return priceCents <= maxPriceCents && words.every((word) => text.includes(word));
      });
    }
    product(id) {
      const product = this.products.find((p) => p.id === id);
      if (!product) throw new Error(`there is no product ${id}; search_products lists all`);
      return product;
    }
    get cart() {
      const items = [...this.#cart].map(([productId, quantity]) => {
        const { name, priceCents } = this.product(productId);
        return { productId, name, quantity, lineCents: priceCents * quantity };
      });
      return { items, totalCents: items.reduce((sum, item) => sum + item.lineCents, 0) };
    }
    add(id, quantity = 1) {
      this.product(id);
      this.#cart.set(id, Math.min((this.#cart.get(id) ?? 0) + quantity, MAX_QUANTITY));
      this.#cartChanged();
      return this.cart;
    }
    remove(id) {
      this.#cart.delete(id);
      this.#cartChanged();
      return this.cart;
    }
    checkout() {
      const { totalCents } = this.cart;
      if (this.#cart.size === 0) throw new Error("the cart is empty; add_to_cart first");
      this.#cart.clear();
      this.orders++;
      this.#cartChanged();
      return { orderNumber: this.orders, totalCents };
    }
    async wrap(id, seconds, { signal, progress }) {
      const { name } = this.product(id);
      const steps = Math.max(1, Math.floor(seconds * 1e3 / WRAP_STEP_MS));
      for (let step = 0; step < steps; step++) {
        progress(step, steps, ["Cutting the paper", "Folding", "Tying the ribbon"][Math.floor(3 * step / steps)]);
        await pause(WRAP_STEP_MS, signal);
      }
      progress(steps, steps, "Done");
      return `${name} is wrapped as a gift.`;
    }
    draw(id, canvas) {
      const picture = this.#pictures.get(this.product(id).id);
      const pen = canvas.getContext("2d");
      if (!picture || !pen) throw new Error("this browser cannot draw");
      canvas.width = canvas.height = 64 * PICTURE_SCALE;
      pen.scale(PICTURE_SCALE, PICTURE_SCALE);
      pen.fillStyle = picture.background;
      pen.fillRect(0, 0, 64, 64);
      for (const { rect, disc, color } of picture.art) {
        pen.fillStyle = color;
        if (rect) pen.fillRect(rect[0], rect[1], rect[2], rect[3]);
        if (!disc) continue;
        pen.beginPath();
        pen.arc(disc[0], disc[1], disc[2], 0, 2 * Math.PI);
        pen.fill();
      }
      return picture.background;
    }
    /** The picture as a PNG in base64. */
    png(id) {
      const canvas = document.createElement("canvas");
      this.draw(id, canvas);
      return canvas.toDataURL("image/png").split(",")[1];
    }
    #cartChanged() {
      this.#changed();
      this.dispatchEvent(new Event("cart"));
    }
    #changed() {
      sessionStorage.setItem("shop", JSON.stringify({ orders: this.orders, counts: this.counts, cart: [...this.#cart] }));
      this.dispatchEvent(new Event("change"));
    }
  };
  function pause(ms, signal) {
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", stop);
        resolve(void 0);
      }, ms);
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    });
  }
  function shopTools(shop2) {
    const structured = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value });
    return {
      search_products: ({ query, maxPriceCents }) => structured({ products: shop2.search(query, maxPriceCents) }),
      view_cart: () => structured(shop2.cart),
      add_to_cart: ({ productId, quantity }) => structured(shop2.add(productId, quantity)),
      remove_from_cart: ({ productId }) => structured(shop2.remove(productId)),
      checkout: () => structured(shop2.checkout()),
      wrap_gift: ({ productId, seconds = 3 }, context) => shop2.wrap(productId, seconds, context),
      product_picture: ({ productId }) => ({
        content: [
          { type: "image", data: shop2.png(productId), mimeType: "image/png" },
          { type: "text", text: shop2.product(productId).name }
        ]
      })
    };
  }

  // assets/demo.ts
  var CALLS_SHOWN = 50;
  function byID(id) {
    const found = document.getElementById(id);
    if (!found) throw new Error(`the page has no #${id}`);
    return found;
  }
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }
  var euros = new Intl.NumberFormat("en", { style: "currency", currency: "EUR" });
  var price = (cents) => euros.format(cents / 100);
  function showProducts(shop2) {
    const query = byID("query").value;
    const found = shop2.search(query);
    byID("found").textContent = query === "" ? "" : `${found.length} of ${shop2.products.length} found`;
    byID("products").replaceChildren(
      ...found.map(({ id, name, description, priceCents }) => {
        const canvas = element("canvas", { role: "img", "aria-label": `Picture: ${name}` });
        canvas.style.background = shop2.draw(id, canvas);
        const add = element("button", { type: "button", "aria-label": `Add ${name} to the cart` }, "Add");
        add.addEventListener("click", () => shop2.add(id));
        return element(
          "li",
          { class: "product", "data-product": String(id) },
          canvas,
          element(
            "div",
            { class: "words" },
            element("h3", {}, name),
            element("p", {}, description),
            element("div", { class: "buy" }, element("span", { class: "price" }, price(priceCents)), add)
          )
        );
      })
    );
  }
  function showCart(shop2) {
    const { items, totalCents } = shop2.cart;
    byID("cart").replaceChildren(
      ...items.map(({ productId, name, quantity, lineCents }) => {
        const remove = element("button", { type: "button", "aria-label": `Take ${name} out of the cart` }, "×");
        remove.addEventListener("click", () => shop2.remove(productId));
        const label = quantity > 1 ? `${quantity} × ${name}` : name;
        return element("li", {}, element("span", { class: "name" }, label), element("span", { class: "price" }, price(lineCents)), remove);
      })
    );
    byID("total").textContent = price(totalCents);
    byID("cart-empty").hidden = items.length > 0;
    byID("checkout").disabled = items.length === 0;
    byID("orders").textContent = shop2.orders === 0 ? "" : `Orders placed in this tab: ${shop2.orders}`;
    byID("counts").replaceChildren(
      ...Object.entries(shop2.counts).flatMap(([tool, n]) => [element("dt", {}, element("code", {}, tool)), element("dd", { "data-count": tool }, String(n))])
    );
  }
  function showStatus({ state, by, reason, hub, tabKey, tools, resources, prompts, rejected }) {
    const words = { off: "Not connected", connecting: "Connecting …", open: `Connected to ${hub}${by === "extension" ? ", by the companion extension" : ""}`, waiting: "Away, trying again …", refused: `Refused: ${reason}` };
    byID("status").setAttribute("data-state", state);
    byID("hub-state").textContent = words[state];
    byID("tab-key").textContent = tabKey.slice(0, 6) || "–";
    const refused = rejected.length > 0 ? `, ${rejected.length} refused` : "";
    byID("offered").textContent = `${tools} tools, ${resources} resources, ${prompts} prompt${prompts === 1 ? "" : "s"}${refused}`;
  }
  var CallLog = class {
    #running = /* @__PURE__ */ new Map();
    #list = byID("calls");
    show(step) {
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
    #start({ id, name, args }) {
      byID("calls-empty").hidden = true;
      const end = element("span", { class: "end" }, "running");
      const row = element("li", { class: "new", "data-call": name }, element("div", { class: "head" }, element("span", { class: "name" }, name), end));
      const text = JSON.stringify(args ?? {});
      if (text !== "{}") row.append(element("code", {}, text.slice(0, 300)));
      this.#list.prepend(row);
      while (this.#list.childElementCount > CALLS_SHOWN) this.#list.lastElementChild?.remove();
      this.#running.set(id, { row, end, start: performance.now() });
    }
    #progress(row, { progress = 0, total, message }) {
      let bar = row.querySelector("progress");
      if (!bar) row.append(bar = element("progress", { "aria-label": "Progress" }));
      if (total) {
        bar.max = total;
        bar.value = progress;
      }
      bar.title = message ?? "";
    }
  };
  function offer(shop2, offered2, tabhub2) {
    const run = shopTools(shop2);
    for (const tool of offered2.tools) {
      tabhub2.registerTool({
        ...tool,
        execute: (args, context) => {
          shop2.count(tool.name);
          return run[tool.name](args, context);
        }
      });
    }
    const read = { catalog: () => shop2.products, cart: () => shop2.cart, product: (uri) => shop2.product(Number(uri.split("/").pop())) };
    for (const resource of offered2.resources) {
      const registered = tabhub2.registerResource({ ...resource, read: read[resource.name] });
      if (resource.name === "cart") shop2.addEventListener("cart", () => registered.updated());
    }
    for (const prompt of offered2.prompts) {
      tabhub2.registerPrompt({
        ...prompt,
        get: ({ occasion, budget }) => {
          if (!occasion) throw new Error("choose_gift needs an occasion");
          const limit = budget ? ` It may cost up to ${budget} euros.` : "";
          return `Help me choose a gift from the Corner Shop for this occasion: ${occasion}.${limit} Look with search_products, suggest two or three, say why, and ask before you put anything into the cart.`;
        }
      });
    }
  }
  var offered = JSON.parse(byID("shop").textContent ?? "");
  var shop = new Shop(offered.products);
  var log = new CallLog();
  var tabhub = window.tabhub;
  if (tabhub) {
    tabhub.addEventListener("status", () => showStatus(tabhub.status));
    tabhub.addEventListener("call", (event) => log.show(event.detail));
    offer(shop, offered, tabhub);
    showStatus(tabhub.status);
  }
  shop.addEventListener("change", () => showCart(shop));
  byID("query").addEventListener("input", () => showProducts(shop));
  byID("search").addEventListener("submit", (event) => event.preventDefault());
  byID("checkout").addEventListener("click", () => shop.checkout());
  showProducts(shop);
  showCart(shop);
})();
