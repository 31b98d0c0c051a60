import { isText, type ValueCheck } from "./members.ts";

/** Returns true for a valid header field name (RFC 9110 §5.1). */
function isFieldName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/.test(name);
}

/**
 * Returns true for a value that a header field can contain (RFC 9110 §5.5): no control characters except tabs, and no
 * characters beyond one byte.
 */
function isFieldValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** Returns the mistake in a header field value. Returns null if there is none. */
export const aFieldValue: ValueCheck = (value) => {
  if (!isText(value)) return "it has to be a text";
  return isFieldValue(value) ? null : "it has characters that no header field can have; encode them";
};

/**
 * The header fields that define the end and the encoding of a response. Only the service writes them, because two
 * contradicting fields allow request smuggling (RFC 9112 §11.2).
 */
const ours = new Set(["content-encoding", "content-length", "content-type", "trailer", "transfer-encoding", "upgrade"]);

/** Returns the mistake in a list of header fields: pairs of a name and a value. Returns null if there is none. */
export const aFieldList: ValueCheck = (value) => {
  const isList =
    Array.isArray(value) &&
    value.every((each: unknown) => Array.isArray(each) && each.length === 2 && each.every(isText));
  if (!isList) return 'it has to be a list of pairs, like [["Location", "/books/7"]]';
  const own = (value as [string, string][]).find(([name]) => ours.has(name.toLowerCase()));
  if (own !== undefined) return `${own[0]} is written by the service; leave it out`;
  const wrong = (value as [string, string][]).find(([name, text]) => !isFieldName(name) || !isFieldValue(text));
  if (wrong === undefined) return null;
  return isFieldName(wrong[0])
    ? `the value of ${wrong[0]} has characters that no header field can have; encode them`
    : `${JSON.stringify(wrong[0])} is not the name of a header field`;
};
