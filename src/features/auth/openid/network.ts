import { connectionFault, readBytes } from "../requests/outside-response.ts";

/** Makes the requests to identity providers: `fetch`, or a compatible function that respects the signal. */
export type ProviderFetch = (url: string, init: RequestInit) => Promise<Response>;

/** A request of `openid-client`. The type is our own, because the package may not be installed. */
interface ClientRequest {
  readonly body?: unknown;
  readonly headers: Record<string, string>;
  readonly method: string;
  readonly signal?: AbortSignal | undefined;
}

/** The largest accepted response. No real document or token of a provider is larger. */
const MAX_BYTES = 256 * 1024;
const LIMIT_MS = 5000;

/** A response of an identity provider that is too large, or a request that failed. */
export class ProviderNetworkFault extends Error {
  override readonly name = "ProviderNetworkFault";
}

/** Limits the requests to identity providers: five seconds and 256 KiB for each, and no redirect is followed. */
export function limited(fetch: ProviderFetch): (url: string, init: ClientRequest) => Promise<Response> {
  return async (url, init) => {
    const limit = AbortSignal.timeout(LIMIT_MS);
    const signal = init.signal === undefined ? limit : AbortSignal.any([init.signal, limit]);
    try {
      const response = await fetch(url, { ...init, body: formatBody(init.body), redirect: "manual", signal });
      const { status, headers } = response;
      const body = await readBytes(response, MAX_BYTES, (reason) => {
        throw new ProviderNetworkFault(reason);
      });
      // `new Response` refuses a body with these statuses. It also refuses status 0, which an opaque redirect has.
      if (status < 200 || [204, 205, 304].includes(status))
        throw new ProviderNetworkFault(`it answered with status ${status}`);
      return new Response(body, { status, headers });
    } catch (error) {
      if (error instanceof ProviderNetworkFault) throw error;
      if (limit.aborted)
        throw new ProviderNetworkFault(`it took longer than ${LIMIT_MS / 1000} seconds`, { cause: error });
      throw new ProviderNetworkFault(`the connection failed: ${connectionFault(error)}`, { cause: error });
    }
  };
}

/** Returns the body of a request. The client sends forms and nothing else. */
function formatBody(body: unknown): string | null {
  if (body === null || body === undefined) return null;
  if (typeof body === "string" || body instanceof URLSearchParams) return String(body);
  throw new TypeError("openid-client sent a body that is not a form.");
}
