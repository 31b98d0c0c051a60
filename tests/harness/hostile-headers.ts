import { hostileTexts } from "./hostile-text.ts";

/** The headers that the service reads. */
const names = [
  "accept",
  "accept-encoding",
  "authorization",
  "content-type",
  "cookie",
  "forwarded",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "origin",
  "prefer",
  "traceparent",
  "tracestate",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-request-id",
];

const goodTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const length = 15 * 1024;

/** Returns the requests with a header of 15 KiB, with the name and the beginning of the header. */
export function hostileRequests(): readonly { readonly title: string; readonly make: () => Request }[] {
  const texts = hostileTexts().filter((_, at) => at % 10 === 0);
  return names.flatMap((name) =>
    texts.flatMap((hostile) => {
      const value = hostile(length);
      if (!isHeaderValue(value)) return [];
      const headers = { "content-type": "application/json", traceparent: goodTrace, [name]: value };
      const make = (): Request => new Request("http://127.0.0.1:8000/users", { method: "POST", headers, body: "{}" });
      return [{ title: `${name}: ${value.slice(0, 20)}`, make }];
    }),
  );
}

function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text) && text.trim() !== "";
}
