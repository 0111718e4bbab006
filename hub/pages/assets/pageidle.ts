// Whether the page is idle: it has loaded, and for a while neither has its document changed nor has
// a request of it ended. A page cannot see that a request is under way.

const REST_QUIET_MS = 1_000;
/** In a page that is not shown timers run once a second. */
const REST_HIDDEN_MS = 1_500;
const REST_LOOK_MS = 100;

/** Waits until the page is idle, or for a time. */
export async function pageRests(waitMs: number, signal: AbortSignal) {
  const began = performance.now();
  let last = began;
  let changes = 0;
  const mutations = new MutationObserver((list) => {
    changes += list.length;
    last = performance.now();
  });
  mutations.observe(document, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: ["aria-busy", "disabled", "hidden", "src"], // others change with every animation
  });
  const requests = new PerformanceObserver(() => {
    last = performance.now();
  });
  requests.observe({ type: "resource" });
  try {
    for (;;) {
      const now = performance.now();
      const loading = document.readyState !== "complete";
      if (loading) last = now;
      if (now - last >= (document.hidden ? REST_HIDDEN_MS : REST_QUIET_MS)) return { rested: true };
      if (signal.aborted || now - began >= waitMs) return { rested: false, loading, changes };
      await new Promise((resolve) => setTimeout(resolve, REST_LOOK_MS));
    }
  } finally {
    mutations.disconnect();
    requests.disconnect();
  }
}
