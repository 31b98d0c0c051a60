import { isTypeValid, parse } from "content-type";

/** What a `Content-Type` says of a body. */
export interface MediaType {
  /** In lower case, without parameters: `application/json`. */
  readonly type: string;
  /** In lower case, `utf8` as `utf-8`; null where none is named. */
  readonly charset: string | null;
}

/** Reads a `Content-Type`; null where it is none. */
export function parseMediaType(header: string): MediaType | null {
  if (header === "application/json") return JSON_TYPE;
  const { type, parameters } = parse(header);
  if (!isTypeValid(type)) return null;
  const charset = parameters["charset"]?.toLowerCase() ?? null;
  return { type, charset: charset === "utf8" ? "utf-8" : charset };
}

const JSON_TYPE: MediaType = { type: "application/json", charset: null };
