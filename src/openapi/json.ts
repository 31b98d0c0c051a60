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

/** The components that something points at, however far away: the others would only be noise. */
export function usedComponents(components: Readonly<Record<string, JSONObject>>, root: unknown): JSONObject {
  const used = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, each] of Object.entries(value)) {
      if (name === "$ref" && typeof each === "string") follow(each);
      else walk(each);
    }
  };
  const follow = (pointer: string): void => {
    if (used.has(pointer)) return;
    used.add(pointer);
    const [kind = "", name = ""] = pointer.replace("#/components/", "").split("/");
    walk(components[kind]?.[name]);
  };
  walk(root);
  const kept: Record<string, JSONObject> = {};
  for (const [kind, named] of Object.entries(components)) {
    const own = Object.entries(named).filter(([name]) => used.has(`#/components/${kind}/${name}`));
    if (own.length > 0) kept[kind] = Object.fromEntries(own);
  }
  return kept;
}
