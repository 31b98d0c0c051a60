/** What somebody's own code has given where nobody waits. Throws a TypeError where it is a promise. */
export function atOnce<T>(given: T, who: string): T {
  if (given instanceof Promise) throw tooLate(given, who);
  return given;
}

/** A promise where a value is needed is a fault of its author's, and told as one: a rejection that nobody hears would end the process. */
export function tooLate(given: Promise<unknown>, who: string): TypeError {
  given.catch(() => undefined);
  return new TypeError(`${who} gave a promise; it has to give its value at once`);
}
