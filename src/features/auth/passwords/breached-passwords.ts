import { createHash } from "node:crypto";
import { aFunction, isText, optional, wholeFrom, type ValueCheck } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { messageOfThrown } from "../../../core/checking/thrown.ts";
import type { Observer } from "../../../core/observation.ts";

/** The needed part of the network: `fetch`, or a function like it that respects the signal. */
export type FetchRange = (
  url: string,
  init: { readonly redirect: "error"; readonly signal: AbortSignal; readonly headers: Record<string, string> },
) => Promise<Response>;

/** Options of `breachedPasswords()`: the address of a range service, and the limits of a request. */
export interface BreachedPasswordsOptions {
  /** The address of the range service. The first five digits of a digest are appended. */
  readonly url: string;
  readonly observe: Observer;
  readonly fetch?: FetchRange;
  /** The time limit in milliseconds. If the service does not respond by then, the password is accepted. */
  readonly limitMs?: number;
}

/** Returns true if a password is known from a breach. Returns false if the check fails. */
export type IsBreached = (password: string) => Promise<boolean>;

/** The largest accepted response, in bytes. A padded range has about 60 KiB. */
const maxBytes = 512 * 1024;

/**
 * Checks an address to which digits of a digest can be appended. With an address that has a query, for example, the
 * service would find no breached password.
 */
export const aRangeURL: ValueCheck = (value) => {
  const url = isText(value) ? URL.parse(value) : null;
  const isBase = url !== null && /^https?:$/.test(url.protocol) && url.search + url.hash + url.username === "";
  return isBase
    ? null
    : 'it has to be an http or https address without query, like "https://api.pwnedpasswords.com/range"';
};

const checks: ChecksOf<BreachedPasswordsOptions> = {
  url: aRangeURL,
  observe: aFunction,
  fetch: optional(aFunction),
  limitMs: optional(wholeFrom(1)),
};

/**
 * Checks passwords with a service for breached passwords (the range interface of Pwned Passwords) by k-anonymity. The
 * service receives the first five hexadecimal digits of the SHA-1, which hundreds of passwords share. It responds with
 * the possible endings, padded. If the service fails, the password is accepted and the failure is logged.
 */
export function breachedPasswords(options: BreachedPasswordsOptions): IsBreached {
  requireOptions(options, checks, { of: "breachedPasswords" });
  const { url, observe, fetch = globalThis.fetch, limitMs = 1000 } = options;
  const base = url.endsWith("/") ? url : `${url}/`;

  return async (password) => {
    const digest = createHash("sha1").update(password).digest("hex").toUpperCase();
    const stop = new AbortController();
    const late = new Promise<never>((_, reject) => {
      stop.signal.addEventListener("abort", () => reject(new Error(`it took longer than ${limitMs} ms`)));
    });
    const timer = setTimeout(() => stop.abort(), limitMs);
    try {
      const range = askRange(`${base}${digest.slice(0, 5)}`, fetch, stop.signal);
      return isListed(await Promise.race([range, late]), digest.slice(5));
    } catch (error) {
      // The message does not contain the request, because the five digits in it would narrow down the user's password.
      const reason = messageOfThrown(error);
      observe({
        kind: "notice",
        level: "error",
        message: `Breached passwords could not be checked, so a new password was accepted without the check: ${reason}`,
      });
      return false;
    } finally {
      clearTimeout(timer);
      late.catch(() => undefined);
      // Cancels the rest of the request, which is no longer needed.
      stop.abort();
    }
  };
}

async function askRange(url: string, fetch: FetchRange, signal: AbortSignal): Promise<string> {
  const headers = { "Add-Padding": "true", "User-Agent": "latchkey", Accept: "text/plain" };
  const response = await fetch(url, { redirect: "error", signal, headers });
  if (response.status !== 200) throw new Error(`the answer was ${response.status}`);
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > maxBytes) throw new Error(`the answer was longer than ${maxBytes} bytes`);
  }
  if (!/^[0-9A-F]{35}:\d/im.test(text)) throw new Error("the answer was not a list of digests");
  return text;
}

/** True if the range has the ending. An ending with a count of 0 is padding. */
function isListed(range: string, suffix: string): boolean {
  return range.split("\n").some((line) => {
    const [listed = "", count = "0"] = line.trim().split(":");
    return listed.toUpperCase() === suffix && Number(count) > 0;
  });
}
