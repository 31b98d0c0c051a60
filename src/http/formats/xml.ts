import type { Format } from "./format.ts";
import { readXML } from "./xml-reader.ts";
import { writeElement } from "./xml-writer.ts";

/** XML: `<user><id>1</id></user>`, and lists as `<users><user>…</user></users>`. DTDs and entities are refused. */
export const xml: Format = {
  mediaType: "application/xml",
  problemMediaType: "application/problem+xml",
  tagSuffix: "-xml",
  write: ({ value, element, items, jsonMembers = [] }) =>
    DECLARATION + writeElement(element, jsonMembers.length === 0 ? value : withJSONText(value, jsonMembers), items),
  writeProblem: (document) => `${DECLARATION}<problem xmlns="urn:ietf:rfc:7807">${writeMembers(document)}</problem>`,
  read: readXML,
};

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** XML has no numbers, no lists and no truth: what may be any of them stands in its element as JSON text, so that it is read back as it was. */
function withJSONText(value: unknown, members: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => withJSONText(each, members));
  const record: Record<string, unknown> = { ...(value as object) };
  for (const name of members)
    if (record[name] !== undefined && record[name] !== null) record[name] = JSON.stringify(record[name]);
  return record;
}

// RFC 9457 appendix B.
function writeMembers(members: object): string {
  return Object.entries(members)
    .map(([name, value]) => writeElement(name, value))
    .join("");
}
