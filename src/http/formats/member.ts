/** Sets an own member of an object, also if its name is `__proto__`. */
export function setMember<T>(object: Record<string, T>, name: string, value: T): void {
  if (name === "__proto__")
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}
