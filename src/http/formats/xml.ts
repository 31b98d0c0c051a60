import type { Eventually } from "../../core/eventually.ts";
import type { DataBody, Format } from "../request/format.ts";
import { inPieces, writeEach } from "../scheduling/slices.ts";
import { readXML } from "./xml-reader.ts";
import { buildTags, writeElement } from "./xml-writer.ts";

/**
 * Reads and writes XML: `<user><id>1</id></user>`, and lists as `<users><user>…</user></users>`. Refuses DTDs and
 * entities.
 */
export const xml = {
  mediaType: "application/xml",
  problemMediaType: "application/problem+xml",
  tagSuffix: "-xml",
  write: (body) =>
    Array.isArray(body.value) && body.value.length > 0
      ? writeList(body, body.value)
      : DECLARATION + writeElement(body.element, withJSONText(body.value, body), body),
  writeProblem: (document) => `${DECLARATION}<problem xmlns="urn:ietf:rfc:7807">${writeMembers(document)}</problem>`,
  read: (bytes) => inPieces(readXML(bytes)),
} satisfies Format;

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Writes a list in pieces, so that other requests can run between them. */
function writeList(
  { element, items = "i", ...shape }: DataBody,
  list: readonly unknown[],
): Eventually<string | Uint8Array> {
  const names = shape.related === undefined ? {} : { related: shape.related };
  const { start, end } = buildTags(element);
  const write = (each: unknown): string => writeElement(items, withJSONText(each, shape) ?? null, names);
  return inPieces(writeEach(list, write, [DECLARATION + start, "", end]));
}

/**
 * Replaces the values of JSON fields with JSON text. XML has no numbers, lists or booleans, but JSON text can be parsed
 * again without loss.
 */
function withJSONText(value: unknown, shape: Pick<DataBody, "jsonMembers" | "related">): unknown {
  const { jsonMembers = [], related = {} } = shape;
  const others = Object.entries(related);
  if (value === null || (jsonMembers.length === 0 && others.length === 0)) return value;
  if (Array.isArray(value)) return value.map((each) => withJSONText(each, shape));
  const record: Record<string, unknown> = { ...(value as object) };
  for (const name of jsonMembers)
    if (record[name] !== undefined && record[name] !== null) record[name] = jsonText(record[name]);
  for (const [name, inner] of others) if (record[name] !== undefined) record[name] = withJSONText(record[name], inner);
  return record;
}

/** Returns JSON text in which each character that XML cannot write is escaped. */
function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\uFFFE\uFFFF]/g, (each) => `\\u${each.charCodeAt(0).toString(16)}`);
}

// Writes the members of a problem as in RFC 9457 appendix B.
function writeMembers(members: object): string {
  return Object.entries(members)
    .map(([name, value]) => writeElement(name, value))
    .join("");
}
