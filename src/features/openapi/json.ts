/** A piece of the document. */
export type JSONObject = Readonly<Record<string, unknown>>;

/** Points at a component of the document. */
export function ref(kind: "schemas" | "parameters" | "headers" | "responses", name: string): { readonly $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

/** Members of a schema that have schemas by names of one's own, and those that have values. */
const named: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs"]);
const valued: ReadonlySet<string> = new Set(["default", "const", "enum", "example", "examples"]);

/** The same without what its schemas say of XML, for those who speak none. */
export function withoutXML<T>(part: T, isNamed = false): T {
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map((each: unknown) => withoutXML(each)) as T;
  const members = Object.entries(part).filter(([name]) => isNamed || name !== "xml");
  const kept = members.map(([name, each]: [string, unknown]) => {
    const isValue = !isNamed && valued.has(name);
    return [name, isValue ? each : withoutXML(each, !isNamed && named.has(name))] as const;
  });
  return Object.fromEntries(kept) as T;
}
