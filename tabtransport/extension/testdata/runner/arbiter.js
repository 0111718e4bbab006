// Plays the worker to content/steps.js: it grants the steps that the test lets it grant, and brings a run to the
// next document.

const runs = new Map();

chrome.runtime.onConnect.addListener((port) => {
  const { tab, documentId } = port.sender;
  const post = (message) => port.postMessage(message);
  let at;
  port.onMessage.addListener((message) => {
    if (message.type === "hello") {
      at = [...runs.values()].find(({ begin, documents }) => begin.tabId === tab.id && documents.includes(documentId));
      if (!at || message.runs.includes(at.begin.run.id)) return;
      post({ ...at.begin.run, type: "run", from: at.did + 1, values: at.values });
      return;
    }
    const { begin, log } = at;
    log.push(message);
    switch (message.type) {
      case "grant":
        if (begin.refuse === message.step) post({ type: "refused", id: message.id, step: message.step, code: "STEP_REFUSED", reason: "the person uses the tab" });
        else if (begin.stop === message.step) post({ type: "stop", id: message.id, reason: "it was cancelled" });
        else if (begin.cut === message.step) {
          begin.cut = undefined;
          port.disconnect();
        } else if (begin.hold !== message.step) post({ type: "go", id: message.id, step: message.step });
        if (begin.late === message.step) setTimeout(() => post({ type: "stop", id: message.id, reason: "it was cancelled" }), 300);
        break;
      case "did":
        at.did = message.step;
        at.values = message.values;
        at.reports[message.step] = message.report;
        break;
      case "end":
        post({ type: "stop", id: message.id, reason: "" });
        at.done(message.result);
    }
  });
  port.onDisconnect.addListener(() => void chrome.runtime.lastError);
});

chrome.webNavigation.onDOMContentLoaded.addListener(({ tabId, frameId, documentId }) => {
  const at = [...runs.values()].find(({ begin, log }) => begin.tabId === tabId && log.at(-1)?.type === "did");
  if (!at || frameId !== 0) return;
  bring(at, documentId);
});

async function bring(at, documentId) {
  at.documents.push(documentId);
  if (at.begin.run.origins) at.begin.run.dialogs = await dialogs.hookDialogs(at.begin.tabId, documentId, false);
  return chrome.scripting.executeScript({ target: { tabId: at.begin.tabId, documentIds: [documentId] }, files: ["content/steps.js"] });
}

/** Runs steps in the tab with an address. @returns the result, with all reports, and what was said */
globalThis.logs = () => [...runs.values()].flatMap(({ log }) => log.map(({ type, step }) => `${type} ${step}`)).join();
globalThis.start = async (begin) => {
  const [tab] = (await chrome.tabs.query({})).filter(({ url }) => url === begin.url);
  begin.tabId = tab.id;
  begin.at = performance.now();
  const { documentId } = await chrome.webNavigation.getFrame({ tabId: tab.id, frameId: 0 });
  const at = { begin, log: [], reports: [], did: -1, values: {}, documents: [] };
  runs.set(begin.run.id, at);
  const result = await new Promise((done) => {
    at.done = done;
    void bring(at, documentId);
  });
  runs.delete(begin.run.id);
  begin.over = performance.now() - begin.at;
  return { result, reports: at.reports, log: at.log, ms: begin.over };
};
