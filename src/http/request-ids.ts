import { randomBytes } from "node:crypto";

/** Ids that are unique between processes and cost next to nothing: a prefix drawn once, and a count. */
export function requestIds(): () => string {
  const prefix = randomBytes(9).toString("base64url");
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}
