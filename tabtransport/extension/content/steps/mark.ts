// The mark on a page in which a person is recorded: it says so, and ends it. The page's scripts cannot look into
// it, and a click that they make does nothing.

export interface Mark {
  /** Whether an event is on it. */
  has(event: Event): boolean;
  remove(): void;
}

export function drawMark(stopped: () => void): Mark {
  const host = document.createElement("div");
  host.style.cssText =
    "all: initial !important; position: fixed !important; inset: auto auto 12px 12px !important; z-index: 2147483647 !important; display: block !important; max-width: calc(100vw - 24px) !important;";
  const root = host.attachShadow({ mode: "closed" });
  const look = new CSSStyleSheet(); // a page's policy may forbid any other way
  look.replaceSync(`
    div {
      display: flex; gap: 10px; align-items: center; padding: 6px 6px 6px 12px; border: 1px solid #ffffff80; border-radius: 10px;
      background: #b3261e; color: #fff; font: 13px/1.4 system-ui, sans-serif; box-shadow: 0 2px 8px #0006;
    }
    div::before { content: ""; flex: none; width: 9px; height: 9px; border-radius: 50%; background: #fff; }
    button { padding: 3px 10px; border: 1px solid #fff; border-radius: 7px; background: #fff; color: #8c1d18; font: inherit; cursor: pointer; }
    button:focus-visible { outline: 2px solid #fff; outline-offset: 2px; }
    @media print { div { display: none; } }
  `);
  root.adoptedStyleSheets = [look];
  const box = document.createElement("div");
  const words = document.createElement("span");
  words.textContent = "tabhub writes down what you do here";
  const stop = document.createElement("button");
  stop.type = "button";
  stop.textContent = "Stop";
  stop.addEventListener("click", ({ isTrusted }) => isTrusted && stopped());
  box.setAttribute("role", "status");
  box.append(words, stop);
  root.append(box);
  // Not before the body, which the browser would put after it.
  const place = () => {
    if (!host.isConnected && (document.body || document.readyState !== "loading")) document.documentElement?.append(host);
  };
  place();
  document.addEventListener("DOMContentLoaded", place, { once: true });
  // A page that replaces all that it shows does not remove it.
  const changes = new MutationObserver(place);
  changes.observe(document, { childList: true, subtree: true });
  return {
    has: (event) => event.composedPath().includes(host),
    remove() {
      changes.disconnect();
      document.removeEventListener("DOMContentLoaded", place);
      host.remove();
    },
  };
}
