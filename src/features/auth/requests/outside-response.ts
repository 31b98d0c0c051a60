// Reads the responses of other services: identity providers and issuers of tokens.

/**
 * Returns the bytes of a response. If there are more than `maxBytes`, calls `refuse` with the reason. `refuse` throws.
 */
export async function readBytes(
  { body }: Response,
  maxBytes: number,
  refuse: (reason: string) => never,
): Promise<Buffer<ArrayBuffer>> {
  const stream: AsyncIterable<Uint8Array> | readonly [] = body ?? [];
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) refuse(`the answer is longer than ${maxBytes / 1024} KiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Returns why a connection failed: the error code of the system (`ECONNREFUSED`), which `fetch` puts into the cause.
 */
export function connectionFault(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error) return "code" in cause ? String(cause.code) : cause.message;
  return String(cause);
}
