/** A part of the document. */
export type JSONObject = Readonly<Record<string, unknown>>;

/** Returns a reference to a component of the document. */
export function ref(kind: "schemas" | "parameters" | "headers" | "responses", name: string): { readonly $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

/**
 * The members of a schema that contain schemas with custom names (`named`), and the members that contain values
 * (`valued`).
 */
const named: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs"]);
const valued: ReadonlySet<string> = new Set(["default", "const", "enum", "example", "examples"]);

/** Removes the `xml` members from the schemas, for services without XML. */
export function withoutXML<T>(part: T, isNamed = false): T {
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map((each: unknown) => withoutXML(each)) as T;
  const members = Object.entries(part).filter(([name]) => isNamed || name !== "xml");
  const cleanedMembers = members.map(([name, each]: [string, unknown]) => {
    const isValue = !isNamed && valued.has(name);
    return [name, isValue ? each : withoutXML(each, !isNamed && named.has(name))] as const;
  });
  return Object.fromEntries(cleanedMembers) as T;
}
