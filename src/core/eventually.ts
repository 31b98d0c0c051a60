/** A value that is here now or comes later. What can be answered at once is answered without a trip through the task queue. */
export type Eventually<T> = T | Promise<T>;

/** Goes on with `next` as soon as the value is here: at once where it already is. */
export function after<T, U>(value: Eventually<T>, next: (value: T) => Eventually<U>): Eventually<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
