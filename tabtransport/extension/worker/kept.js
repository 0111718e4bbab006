// A value in chrome.storage.session, which outlives the worker but not the browser.

/** @template T */
export class Kept {
  #key;
  #read;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {string} key
   * @param {() => T} read what is to be kept now
   */
  constructor(key, read) {
    this.#key = key;
    this.#read = read;
  }

  /** @returns {Promise<T | undefined>} what an earlier worker has kept */
  async load() {
    return /** @type {T | undefined} */ ((await chrome.storage.session.get(this.#key))[this.#key]);
  }

  /** Keeps the value, soon: many changes are one write. */
  save() {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void chrome.storage.session.set({ [this.#key]: this.#read() });
    }, 10);
  }
}
