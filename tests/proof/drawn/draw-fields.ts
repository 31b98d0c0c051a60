import type { Draw } from "../../harness/draw.ts";

/** A drawn field of a resource. */
export interface DrawnField {
  readonly name: string;
  /** The kind, as in the declaration: `text`. */
  readonly kind: string;
  /** The expression of the declaration: `text({ maxLength: 80 })`. */
  readonly code: string;
  /** True if callers of some roles may not read it. */
  readonly isHidden: boolean;
  /** True if it has a rule. */
  readonly isRuled: boolean;
  readonly isShown: boolean;
  /** True if a record can be created without it. */
  readonly isOpen: boolean;
  /** True if code may set it to a text. */
  readonly isPlainText: boolean;
}

interface DrawnKind {
  readonly kind: string;
  readonly first: string;
  readonly options: string;
  /** A default. Null: none. */
  readonly usual: string | null;
  readonly canBeUnique: boolean;
}

const plain = { first: "", usual: null, canBeUnique: false } as const;
const kinds: readonly DrawnKind[] = [
  { ...plain, kind: "text", options: "maxLength: 100", canBeUnique: true },
  { ...plain, kind: "text", options: "maxLength: 500, multiline: true" },
  { ...plain, kind: "integer", options: "minimum: 0, maximum: 90000000", usual: "7", canBeUnique: true },
  { ...plain, kind: "integer", options: "minimum: 1, maximum: 5", usual: "3" },
  { ...plain, kind: "decimal", options: 'scale: 2, minimum: "0", maximum: "9999999.99"', usual: '"1.50"' },
  { ...plain, kind: "number", options: "minimum: 0, maximum: 9000000", usual: "1.5" },
  { ...plain, kind: "boolean", options: "", usual: "false" },
  { ...plain, kind: "enumeration", first: '["low", "middle", "high"]', options: "", usual: '"low"' },
  { ...plain, kind: "date", options: "" },
  { ...plain, kind: "dateTime", options: "" },
  { ...plain, kind: "email", options: "", canBeUnique: true },
  { ...plain, kind: "url", options: "" },
  { ...plain, kind: "uuid", options: "", canBeUnique: true },
  { ...plain, kind: "json", options: "" },
  { ...plain, kind: "array", first: "text({ maxLength: 40 })", options: "" },
];

/** The names of the fields, in the order in which resources take them. */
const names = ["title", "budget", "due", "state", "remark", "contact"];

/** The operators of filters, by kind. */
const operators: Readonly<Record<string, readonly string[]>> = {
  text: ["eq", "ne", "in", "starts", "contains", "istarts", "icontains"],
  email: ["eq", "starts"],
  url: ["eq"],
  uuid: ["eq", "in"],
  integer: ["eq", "ne", "in", "lt", "lte", "gt", "gte"],
  decimal: ["eq", "lt", "lte", "gt", "gte"],
  number: ["eq", "lt", "gt"],
  boolean: ["eq"],
  enumeration: ["eq", "ne", "in"],
  date: ["eq", "lt", "gte"],
  dateTime: ["eq", "lt", "gte"],
  reference: ["eq", "in"],
};

/** Draws fields: the first one is a required text that every reader sees. `rules` are permissions for fields. */
export function drawFields(draw: Draw, rules: readonly string[]): readonly DrawnField[] {
  const first = buildField({ name: names[0]!, kind: kinds[0]!, options: [], open: false });
  const count = 2 + draw.below(4);
  const more = names.slice(1, 1 + count).map((name) => drawField(draw, name, rules));
  return [first, ...more];
}

function drawField(draw: Draw, name: string, rules: readonly string[]): DrawnField {
  const kind = draw.pick(kinds);
  const rule = draw.pick(rules);
  const optional = ["optional: true"];
  const empty = kind.usual !== null && draw.below(2) === 0 ? [`default: ${kind.usual}`] : optional;
  switch (draw.below(10)) {
    case 0:
      return buildField({ name, kind, options: [...empty, `read: ${rule}`], open: true });
    case 1:
      return buildField({ name, kind, options: [...empty, `write: ${rule}`], open: true });
    case 2:
    case 3:
      return buildField({ name, kind, options: [...empty, `read: ${rule}`, `write: ${rule}`], open: true });
    case 4:
      return buildField({ name, kind, options: [...empty, `read: ${rule}`, `write: ${draw.pick(rules)}`], open: true });
    case 5: {
      if (!kind.canBeUnique) return buildField({ name, kind, options: empty, open: true });
      const ruled = draw.below(2) === 0 ? [`read: ${rule}`, `write: ${rule}`] : [];
      return buildField({ name, kind, options: ["optional: true", "unique: true", ...ruled], open: true });
    }
    case 6:
      if (kind.usual === null)
        return buildField({ name, kind, options: ["optional: true", "writeOnly: true"], open: true });
      return buildField({ name, kind, options: [`default: ${kind.usual}`, "readOnly: true"], open: true });
    case 7:
      return buildField({ name, kind, options: [], open: false });
    default:
      return buildField({ name, kind, options: empty, open: true });
  }
}

interface Parts {
  readonly name: string;
  readonly kind: DrawnKind;
  readonly options: readonly string[];
  readonly open: boolean;
}

function buildField({ name, kind, options, open }: Parts): DrawnField {
  const all = [...(kind.options === "" ? [] : [kind.options]), ...options].join(", ");
  const args = [...(kind.first === "" ? [] : [kind.first]), ...(all === "" ? [] : [`{ ${all} }`])];
  const isWritten = !options.some((each) => /^(readOnly|writeOnly|write|unique)/.test(each));
  return {
    name,
    kind: kind.kind,
    code: `${kind.kind}(${args.join(", ")})`,
    isHidden: options.some((each) => each.startsWith("read:")),
    isRuled: options.some((each) => /^(read|write):/.test(each)),
    isShown: !options.includes("writeOnly: true"),
    isOpen: open,
    isPlainText: kind.kind === "text" && isWritten && !options.some((each) => each.startsWith("read:")),
  };
}

/** A drawn field that refers to another resource. */
export type Reference = Pick<DrawnField, "name" | "code">;

/** Draws the lines `filters`, `sorts` and `search` of a resource. */
export function drawLists(
  draw: Draw,
  fields: readonly DrawnField[],
  references: readonly Reference[],
): readonly string[] {
  const shown = fields.filter(({ isShown, kind }) => isShown && operators[kind] !== undefined);
  const filters = [...shown, ...references.map((each) => ({ ...each, kind: "reference" }))]
    .filter(() => draw.below(3) > 0)
    .map(({ name, kind, code }) => {
      const known = operators[kind]!.filter(() => draw.below(3) > 0);
      const all = [...(known.length === 0 ? ["eq"] : known), ...(code.includes("optional") ? ["null"] : [])];
      return `${name}: [${all.map((each) => `"${each}"`).join(", ")}]`;
    });
  const sorts = shown.filter(({ kind }) => kind !== "url" && draw.below(2) === 0).map(({ name }) => `"${name}"`);
  const search = shown.filter(({ kind }) => kind === "text").map(({ name }) => `"${name}"`);
  return [
    ...(filters.length === 0 ? [] : [`filters: { ${filters.join(", ")} }`]),
    ...(sorts.length === 0 ? [] : [`sorts: [${sorts.join(", ")}]`]),
    ...(search.length === 0 || draw.below(2) === 0 ? [] : [`search: [${search.join(", ")}]`]),
  ];
}
