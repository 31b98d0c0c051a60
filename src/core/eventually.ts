/**
 * A value that is available now or later. Code that uses a value that is available now continues synchronously, which
 * is faster.
 */
export type Eventually<T> = T | Promise<T>;

/** Calls `next` with the value: synchronously if the value is available, otherwise when its promise resolves. */
export function after<T, U>(value: Eventually<T>, next: (value: T) => Eventually<U>): Eventually<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
