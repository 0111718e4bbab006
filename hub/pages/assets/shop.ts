// The shop of /demo: its goods, its cart and what its tools do. The shop inside the
// hub's process (package demo) does the same.

type Product = { id: number; name: string; category: string; priceCents: number; description: string };
type Picture = { background: string; art: { rect?: number[]; disc?: number[]; color: string }[] };
type Cart = { items: { productId: number; name: string; quantity: number; lineCents: number }[]; totalCents: number };

const PICTURE_SCALE = 4;
const MAX_QUANTITY = 99;
const WRAP_STEP_MS = 250;

/** Events: "change", and "cart" when that changed. The state lasts as long as the tab, over reloads. */
export class Shop extends EventTarget {
  products: Product[];
  orders = 0;
  /** How often each tool has run. */
  counts: { [tool: string]: number } = {};

  #pictures: Map<number, Picture>;
  /** Quantity by product, in the order in which products came in. */
  #cart = new Map<number, number>();

  constructor(products: (Product & Picture)[]) {
    super();
    this.#pictures = new Map(products.map(({ id, background, art }) => [id, { background, art }]));
    this.products = products.map(({ background, art, ...product }) => product);
    const saved = JSON.parse(sessionStorage.getItem("shop") ?? "{}");
    this.orders = saved.orders ?? 0;
    this.counts = saved.counts ?? {};
    this.#cart = new Map(saved.cart);
  }

  count(tool: string) {
    this.counts[tool] = (this.counts[tool] ?? 0) + 1;
    this.#changed();
  }

  search(query = "", maxPriceCents: number = Infinity) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return this.products.filter(({ name, category, description, priceCents }) => {
      const text = `${name} ${category} ${description}`.toLowerCase();
      return priceCents <= maxPriceCents && words.every((word) => text.includes(word));
    });
  }

  product(id: number) {
    const product = this.products.find((p) => p.id === id);
    if (!product) throw new Error(`there is no product ${id}; search_products lists all`);
    return product;
  }

  get cart(): Cart {
    const items = [...this.#cart].map(([productId, quantity]) => {
      const { name, priceCents } = this.product(productId);
      return { productId, name, quantity, lineCents: priceCents * quantity };
    });
    return { items, totalCents: items.reduce((sum, item) => sum + item.lineCents, 0) };
  }

  add(id: number, quantity = 1) {
    this.product(id);
    this.#cart.set(id, Math.min((this.#cart.get(id) ?? 0) + quantity, MAX_QUANTITY));
    this.#cartChanged();
    return this.cart;
  }

  remove(id: number) {
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

  async wrap(id: number, seconds: number, { signal, progress }: CallContext) {
    const { name } = this.product(id);
    const steps = Math.max(1, Math.floor((seconds * 1000) / WRAP_STEP_MS));
    for (let step = 0; step < steps; step++) {
      progress(step, steps, ["Cutting the paper", "Folding", "Tying the ribbon"][Math.floor((3 * step) / steps)]);
      await pause(WRAP_STEP_MS, signal);
    }
    progress(steps, steps, "Done");
    return `${name} is wrapped as a gift.`;
  }

  draw(id: number, canvas: HTMLCanvasElement) {
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
  png(id: number) {
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
}

function pause(ms: number, signal: AbortSignal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve(undefined);
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

/** What each tool of the shop does. */
export function shopTools(shop: Shop): { [tool: string]: (args: any, context: CallContext) => unknown } {
  const structured = (value: JSONObject) => ({ content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value });
  return {
    search_products: ({ query, maxPriceCents }) => structured({ products: shop.search(query, maxPriceCents) }),
    view_cart: () => structured(shop.cart),
    add_to_cart: ({ productId, quantity }) => structured(shop.add(productId, quantity)),
    remove_from_cart: ({ productId }) => structured(shop.remove(productId)),
    checkout: () => structured(shop.checkout()),
    wrap_gift: ({ productId, seconds = 3 }, context) => shop.wrap(productId, seconds, context),
    product_picture: ({ productId }) => ({
      content: [
        { type: "image", data: shop.png(productId), mimeType: "image/png" },
        { type: "text", text: shop.product(productId).name },
      ],
    }),
  };
}
