/** Returns the result of custom code that must be synchronous. Throws a TypeError if it is a promise. */
export function atOnce<T>(result: T, who: string): T {
  if (result instanceof Promise) throw tooLate(result, who);
  return result;
}

/**
 * Creates the TypeError for custom code that returned a promise but must return a value. Ignores a rejection of the
 * promise, because an unhandled rejection would end the process.
 */
export function tooLate(promise: Promise<unknown>, who: string): TypeError {
  promise.catch(() => undefined);
  return new TypeError(`${who} gave a promise; it has to give its value at once`);
}
