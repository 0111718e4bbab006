// A value in chrome.storage.session, which outlives the worker but not the browser.

/** @template T */
export class Stored {
  #key;
  #read;
  #delay;
  #written = "";
  /** Settles when that has been written. @type {Promise<void> | undefined} */
  #writing;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {string} key
   * @param {() => T} read the value of the moment
   * @param {number} [delay] changes within this time, in ms, are one write
   */
  constructor(key, read, delay = 5) {
    this.#key = key;
    this.#read = read;
    this.#delay = delay;
  }

  /** @returns {Promise<T | undefined>} what an earlier worker has written */
  async load() {
    return /** @type {T | undefined} */ ((await chrome.storage.session.get(this.#key))[this.#key]);
  }

  /** Writes the value, soon, if it has changed. */
  save() {
    this.#timer ??= setTimeout(() => void this.write(), this.#delay);
  }

  /** Writes the value at once if it has changed, and resolves when the next worker has it, or cannot. */
  async write() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const value = this.#read();
    const text = JSON.stringify(value);
    if (text !== this.#written) {
      this.#written = text;
      this.#writing = chrome.storage.session.set({ [this.#key]: value }).catch(() => {});
    }
    await this.#writing;
  }
}
