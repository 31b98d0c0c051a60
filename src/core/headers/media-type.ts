import { isTypeValid, parse } from "content-type";

/** The content of a `Content-Type` header field. */
export interface MediaType {
  /** In lower case, without parameters: `application/json`. */
  readonly type: string;
  /** The charset in lower case. `utf8` becomes `utf-8`. Null if there is none. */
  readonly charset: string | null;
}

/** Parses a `Content-Type`. Returns null if it is invalid. */
export function parseMediaType(header: string): MediaType | null {
  if (header === "application/json") return JSON_TYPE;
  const { type, parameters } = parse(header);
  if (!isTypeValid(type)) return null;
  const charset = parameters["charset"]?.toLowerCase() ?? null;
  return { type, charset: charset === "utf8" ? "utf-8" : charset };
}

const JSON_TYPE: MediaType = { type: "application/json", charset: null };
