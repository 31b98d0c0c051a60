const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A UUID as it is written (RFC 9562 §4): lower case, with hyphens, of any version. Null for anything else. */
export function parseUUID(text: string): string | null {
  return text.length === 36 && FORM.test(text) ? text : null;
}

/**
 * Makes UUIDs of version 7 (RFC 9562 §5.7), so that what is made later stands behind what was there, as in an index. Those of one maker rise
 * within a millisecond too, by a counter in `rand_a` (§6.2, method 1), and when the clock goes back. `random` gives that many bytes of
 * chance, 62 bits of which are in each; `now` is in milliseconds since the epoch.
 */
export function uuidMaker(random: (bytes: number) => Uint8Array): (now: number) => string {
  let last = 0;
  let counter = 0;
  return (now) => {
    const chance = random(10);
    // Of twelve bits the first is left free, so that there is room to count.
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
