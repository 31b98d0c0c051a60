/** Gives an object a member of its own, whatever its name: `__proto__` is a name like any other. */
export function setMember<T>(object: Record<string, T>, name: string, value: T): void {
  if (name === "__proto__")
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}

/** Whether it is an object of JSON: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
