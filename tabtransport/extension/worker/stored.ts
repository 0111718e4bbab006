// A value in chrome.storage.session, which outlives the worker but not the browser.

export class Stored<T> {
  #key;
  #read;
  #delay;
  #written = "";
  /** Settles when that has been written. */
  #writing: Promise<boolean> = Promise.resolve(true);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param read the value of the moment
   * @param delay changes within this time, in ms, are one write
   */
  constructor(key: string, read: () => T, delay = 5) {
    this.#key = key;
    this.#read = read;
    this.#delay = delay;
  }

  /** @returns what an earlier worker has written */
  async load(): Promise<T | undefined> {
    return (await chrome.storage.session.get(this.#key))[this.#key] as T | undefined;
  }

  /** Writes the value, soon, if it has changed. */
  save() {
    this.#timer ??= setTimeout(() => void this.write(), this.#delay);
  }

  /**
   * Writes the value at once if it has changed.
   * @returns whether the next worker has it
   */
  async write(): Promise<boolean> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const value = this.#read();
    const text = JSON.stringify(value);
    if (text !== this.#written) {
      this.#written = text;
      this.#writing = chrome.storage.session.set({ [this.#key]: value }).then(
        () => true,
        () => false,
      );
    }
    return this.#writing;
  }
}
