import { aFunction, anObject, optional, type Check } from "../../checking/members.ts";
import { aSecret } from "../../crypto/secret.ts";

/** What is wrong with a prefix of tokens; null where nothing is. */
export const aTokenPrefix: Check = (value) =>
  typeof value === "string" && /^[a-z][a-z0-9]{0,15}$/.test(value)
    ? null
    : "it has to be up to 16 lower-case letters and digits, like key";

/** How the options of both kinds of tokens are checked: where they are kept, what they are derived from, and what they begin with. */
export const tokenChecks = {
  store: anObject,
  secret: aSecret,
  observe: aFunction,
  prefix: optional(aTokenPrefix),
} as const;
