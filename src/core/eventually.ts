/** A value that is available now or later. A value that is available now needs no trip through the task queue. */
export type Eventually<T> = T | Promise<T>;

/** Calls `next` when the value is available: immediately if it already is. */
export function after<T, U>(value: Eventually<T>, next: (value: T) => Eventually<U>): Eventually<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
