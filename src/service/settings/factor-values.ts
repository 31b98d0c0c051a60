import { isIP } from "node:net";
import { right, wrong, type Parse } from "./values.ts";

const labels = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.(?!$)|$))+$/;

/** The host that passkeys are bound to (WebAuthn: RP id). */
export const relyingPartyId: Parse<string> = (text) => {
  if (isIP(text) !== 0) return wrong("is an address, and passkeys are bound to a host name. Name the host.");
  return text === "localhost" || (labels.test(text) && text.includes("."))
    ? right(text)
    : wrong("is not a host name in lower case. Write one like example.com.");
};

/** Parses the level of a login that a proxy or an issuer has checked: 2 if it checked a second factor, otherwise 1. */
export const levelName: Parse<1 | 2> = (text) =>
  text === "1" || text === "2" ? right(text === "2" ? 2 : 1) : wrong("is neither 1 nor 2. Write one of them.");
