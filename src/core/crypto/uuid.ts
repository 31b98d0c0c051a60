const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Parses a UUID of any version in lower case with hyphens (RFC 9562 §4). Returns null for any other text. */
export function parseUUID(text: string): string | null {
  return text.length === 36 && FORM.test(text) ? text : null;
}

/**
 * Returns a function that makes UUIDs of version 7 (RFC 9562 §5.7). Newer UUIDs sort after older ones, also in an
 * index. The UUIDs of one function also increase within a millisecond, with a counter in `rand_a` (§6.2, method 1), and
 * after the clock was set back. `random` returns the given number of random bytes. 62 of these random bits are in the
 * UUID, and 11 bits choose the start of the counter. `now` is in milliseconds since the epoch.
 */
export function uuidMaker(random: (bytes: number) => Uint8Array): (now: number) => string {
  let last = 0;
  let counter = 0;
  return (now) => {
    const chance = random(10);
    // The counter has twelve bits. Its first bit is 0 at the start, so that it can count up at least 2048 times.
    const start = ((chance[8]! << 8) | chance[9]!) & 0x7ff;
    if (now > last) [last, counter] = [Math.floor(now), start];
    else if (counter < 0xfff) counter++;
    else [last, counter] = [last + 1, start];
    const bytes = Buffer.alloc(16);
    bytes.writeUIntBE(last, 0, 6);
    bytes.writeUInt16BE(0x7000 | counter, 6);
    bytes.set(chance.subarray(0, 8), 8);
    bytes[8] = 0x80 | (bytes[8]! & 0x3f);
    const hex = bytes.toString("hex");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
}
