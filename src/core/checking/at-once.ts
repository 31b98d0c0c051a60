/** Returns the result of custom code that must be synchronous. Throws a TypeError if it is a promise. */
export function atOnce<T>(given: T, who: string): T {
  if (given instanceof Promise) throw tooLate(given, who);
  return given;
}

/**
 * Makes the TypeError for a promise where a value is needed. Handles the promise's rejection, because an unhandled rejection would end the
 * process.
 */
export function tooLate(given: Promise<unknown>, who: string): TypeError {
  given.catch(() => undefined);
  return new TypeError(`${who} gave a promise; it has to give its value at once`);
}
