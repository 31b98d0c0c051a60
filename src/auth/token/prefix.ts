import type { Check } from "../../checking/members.ts";

/** What is wrong with a prefix of tokens; null where nothing is. */
export const aTokenPrefix: Check = (value) =>
  typeof value === "string" && /^[a-z][a-z0-9]{0,15}$/.test(value)
    ? null
    : "it has to be up to 16 lower-case letters and digits, like key";
