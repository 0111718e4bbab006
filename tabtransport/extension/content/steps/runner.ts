// The port over which the worker has steps run in this document.

import { watchPasswords } from "./secret.ts";
import { Run } from "./run.ts";

export class Runner {
  document = document;
  #port: chrome.runtime.Port | undefined;
  #runs = new Map<string, Run>();
  #opened = 0;
  #retry = 100;

  constructor() {
    watchPasswords(document);
    // What this document has begun it does not go on with when it comes back.
    addEventListener("pagehide", () => {
      for (const run of this.#runs.values()) run.leave();
      this.#runs.clear();
      this.#disconnect();
    });
    this.connect();
  }

  /** Opens the port, unless it is open. */
  connect() {
    if (this.#port || !chrome.runtime?.id) return;
    let port;
    try {
      port = chrome.runtime.connect({ name: "run" });
    } catch {
      return; // the extension was updated or removed
    }
    this.#port = port;
    this.#opened = Date.now();
    port.onMessage.addListener((message: WorkerToRunner) => this.#received(message));
    port.onDisconnect.addListener(() => {
      void chrome.runtime?.lastError;
      if (this.#port !== port) return;
      this.#port = undefined;
      // The worker has stopped: what runs here wakes it; slower if it keeps failing.
      this.#retry = Date.now() - this.#opened > 1000 ? 0 : Math.min(this.#retry * 2 + 100, 5000);
      if (this.#runs.size) setTimeout(() => this.connect(), this.#retry);
    });
    port.postMessage({ type: "hello", runs: [...this.#runs.keys()] } satisfies RunnerToWorker);
    for (const run of this.#runs.values()) run.again();
  }

  #disconnect() {
    const port = this.#port;
    this.#port = undefined;
    port?.disconnect();
  }

  #post(message: RunnerToWorker) {
    try {
      this.#port?.postMessage(message);
    } catch {
      // The port has just been closed: it is said again over the next one.
    }
  }

  #received(message: WorkerToRunner) {
    const run = this.#runs.get(message.id);
    switch (message.type) {
      case "run":
        // One that has ended here goes on if what it did was to lead away, and did not.
        if (run && !run.ended) return;
        this.#runs.set(message.id, new Run(message, (out) => this.#post(out)));
        break;
      case "go":
        run?.go(message.step);
        break;
      case "refused":
        run?.refused(message.step, message.code, message.reason);
        break;
      case "input":
        run?.input(message.step, message.error);
        break;
      case "stop":
        if (run?.ended) this.#runs.delete(message.id);
        else run?.stop(message.reason);
    }
  }
}
