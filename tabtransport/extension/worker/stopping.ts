// A worker that the browser has begun to stop goes on for a moment, in which all that it asks of
// the browser fails. What it would make of that is wrong, and the next worker knows better.

/**
 * What a request to the browser gives, or what failed makes of its error. It never settles in a
 * worker that is being stopped.
 */
export function unlessStopping<T, U>(asked: Promise<T>, failed: (error: unknown) => U): Promise<T | U> {
  return asked.catch((error) => (/^Error: No SW\b/.test(String(error)) ? new Promise(() => {}) : failed(error)));
}
