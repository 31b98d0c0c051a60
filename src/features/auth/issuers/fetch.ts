import { connectionFault, readBytes } from "../requests/outside-response.ts";
import { parseKeySet } from "../tokens/signing-keys.ts";

/** The network function: `fetch`, or a compatible function that respects the signal. */
export type FetchKeys = (
  url: string,
  init: { readonly redirect: "manual"; readonly signal: AbortSignal; readonly headers: Record<string, string> },
) => Promise<Response>;

/** The largest accepted response. No real key set is larger. */
const maxBytes = 256 * 1024;
const maxKeys = 100;
const limitMs = 5000;

/** Thrown if a key set is not accepted. The message gives the operator the reason. */
export class KeySetFault extends Error {
  override readonly name = "KeySetFault";
}

/**
 * Returns the text of a JWK Set and its entries, which are not checked yet. Throws `KeySetFault` if the set cannot be
 * fetched or parsed.
 */
export async function fetchKeySet(
  url: string,
  fetch: FetchKeys,
): Promise<{ readonly text: string; readonly entries: readonly unknown[] }> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), limitMs);
  try {
    const text = await readText(await ask(url, fetch, stop.signal));
    return { text, entries: readEntries(text) };
  } catch (error) {
    if (error instanceof KeySetFault) throw error;
    if (stop.signal.aborted) throw new KeySetFault(`it took longer than ${limitMs / 1000} seconds`, { cause: error });
    throw new KeySetFault(`the connection failed: ${connectionFault(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
    // Stops the rest of the request, because its result is not used.
    stop.abort();
  }
}

async function ask(url: string, fetch: FetchKeys, signal: AbortSignal): Promise<Response> {
  const headers = { accept: "application/jwk-set+json, application/json" };
  const response = await fetch(url, { redirect: "manual", signal, headers });
  // Refuses a redirect too. Keys may come only from the address that the operator declared, not from an address in a
  // response.
  if (response.status !== 200) throw new KeySetFault(`it answered with status ${response.status}`);
  return response;
}

async function readText(response: Response): Promise<string> {
  const bytes = await readBytes(response, maxBytes, (reason) => {
    throw new KeySetFault(reason);
  });
  return bytes.toString("utf8");
}

function readEntries(text: string): readonly unknown[] {
  const keys = parseKeySet(text);
  if (keys === null) throw new KeySetFault("the answer is not a JWK Set");
  if (keys.length > maxKeys) throw new KeySetFault(`the answer has more than ${maxKeys} keys`);
  return keys;
}
