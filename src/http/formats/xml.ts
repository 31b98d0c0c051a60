import type { Format } from "./format.ts";
import { readXML } from "./xml-reader.ts";
import { writeElement } from "./xml-writer.ts";

/** XML: `<user><id>1</id></user>`, and lists as `<users><user>…</user></users>`. DTDs and entities are refused. */
export const xml: Format = {
  mediaType: "application/xml",
  problemMediaType: "application/problem+xml",
  tagSuffix: "-xml",
  write: ({ value, element, items }) => DECLARATION + writeElement(element, value, items),
  writeProblem: (document) => `${DECLARATION}<problem xmlns="urn:ietf:rfc:7807">${writeMembers(document)}</problem>`,
  read: readXML,
};

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

// RFC 9457 appendix B.
function writeMembers(members: object): string {
  return Object.entries(members)
    .map(([name, value]) => writeElement(name, value))
    .join("");
}
